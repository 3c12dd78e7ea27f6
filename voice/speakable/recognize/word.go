package recognize

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	lettered = regexp.MustCompile(`^(?:(?:Ph|\p{L})\.){2,8}\p{L}?`)
	versions = regexp.MustCompile(
		`^(?:v(\d{1,5}(?:\.\d{1,5}){0,4})|V(\d{1,5}(?:\.\d{1,5}){1,4}))(?:-(alpha|beta|rc|pre|dev)\.?(\d*))?`,
	)
	ampersand  = regexp.MustCompile(`^([A-Z]{1,3})&([A-Z]{1,3})`)
	glued      = regexp.MustCompile(`^(\p{L}{1,12})-?(\d{1,4}[.,]\d{1,4})\b`)
	codedMoney = regexp.MustCompile(`^(USD|EUR|GBP|CAD|AUD|JPY|CHF|NZD|INR) ?` + amount)
	fourDigits = regexp.MustCompile(`^[12]\d{3}\b`)
	bareRate   = regexp.MustCompile(`^(km|m|mi|ft|kB|MB|Mb)/(h|s)\b`)
	zone       = regexp.MustCompile(`^(UTC|GMT)([+−-])(\d{1,2})(?::?(\d\d))?\b`)
	grade      = regexp.MustCompile(`^([ABO]|AB|[CD])([−-])(?:[ .,!?;:)]|$)`)
)

// wordRules returns the recognizers of what starts with a letter, in the order in which they are tried.
func wordRules() []func(s *tokenizer, word string) bool {
	return []func(s *tokenizer, word string) bool{
		(*tokenizer).monthDate, (*tokenizer).signed, (*tokenizer).address, (*tokenizer).initials, (*tokenizer).joined,
		(*tokenizer).rate, (*tokenizer).release,
		(*tokenizer).codedAmount, (*tokenizer).gluedNumber, (*tokenizer).identified, (*tokenizer).unitWord,
		(*tokenizer).abbreviated, (*tokenizer).calendarWord,
		(*tokenizer).homograph, (*tokenizer).capitals, (*tokenizer).powered, (*tokenizer).between, (*tokenizer).roman,
		(*tokenizer).initial, (*tokenizer).plate, (*tokenizer).unlisted,
	}
}

// word reads a word at the position, with what belongs to it.
func (s *tokenizer) word() {
	word := Head(s.src[s.at:])
	for _, recognize := range s.tables.words {
		if recognize(s, word) {
			return
		}
	}
	s.skip(len(word))
}

// signed recognizes UTC-5 and the minus of a grade or blood type.
func (s *tokenizer) signed(word string) bool {
	if len(word) > 3 || !capital(word) {
		return false
	}
	if m := zone.FindStringSubmatch(s.rest(0)); m != nil && s.ends(m[0]) {
		s.take(Letters{m[1]}, len(m[1]))
		if m[2] != "+" {
			m[2] = m[2][:0] + "−"
		}
		s.take(Sign{m[2]}, len(s.rest(0))-len(strings.TrimLeft(s.rest(0), "+-−")))
		return s.take(Number{Whole: m[3]}, len(m[3]))
	}
	if m := grade.FindStringSubmatch(s.rest(0)); m != nil && (s.before(0) != "" || s.at == 0) {
		s.take(Letters{m[1]}, len(m[1]))
		return s.take(Sign{"−"}, len(m[2]))
	}
	return false
}

// initials recognizes letters with periods: U.S., e.g.
func (s *tokenizer) initials(word string) bool {
	if s.at+len(word) >= len(s.src) || s.src[s.at+len(word)] != '.' || utf8.RuneCountInString(word) > 2 {
		return false
	}
	if s.spaced() {
		return true
	}
	m := lettered.FindString(s.rest(0))
	if m == "" || !s.ends(m) {
		return false
	}
	spoken := strings.TrimSuffix(m, ".")
	if long := s.abbreviations[strings.ToLower(spoken)]; len(long) > 0 {
		spoken = long[0].long
	}
	s.flush()
	s.tokens = append(s.tokens, Word{spoken})
	period := strings.HasSuffix(m, ".") && s.endsSentence(len(m), true)
	s.at += len(m)
	s.copied = s.at
	s.remember(m)
	if period {
		s.tokens = append(s.tokens, Text("."))
		s.words = [memory]string{}
	}
	return true
}

// joined recognizes letters around an "and" (R&B), and abbreviations with a slash (w/o).
func (s *tokenizer) joined(word string) bool {
	if m := ampersand.FindStringSubmatch(s.rest(0)); m != nil && s.ends(m[0]) {
		s.take(Letters{m[1]}, len(m[1]))
		s.take(Sign{"&"}, 1)
		return s.take(Letters{m[2]}, len(m[2]))
	}
	after := s.rest(len(word))
	if len(word) > 3 || after == "" || after[0] != '/' || s.previous() == '/' {
		return false
	}
	for _, n := range []int{len(word) + 1 + len(Head(after[1:])), len(word) + 1} {
		if n = min(n, len(word)+len(after)); n <= 0 {
			continue
		}
		written := s.src[s.at : s.at+n]
		long := s.abbreviations[strings.ToLower(written)]
		if len(long) > 0 &&
			(strings.ToLower(word) == word || strings.ToUpper(written) == written && len(written) > 2) &&
			(s.ends(written) || strings.HasSuffix(written, "/")) {
			return s.take(Word{long[0].long}, n)
		}
	}
	return false
}

// rate recognizes a rate without a number: km/h.
func (s *tokenizer) rate(string) bool {
	m := bareRate.FindStringSubmatch(s.rest(0))
	if m == nil || !s.ends(m[0]) {
		return false
	}
	_, many, _ := s.Unit(m[1])
	per, _, _ := s.Unit(m[2])
	return s.take(Rate{many, per}, len(m[0]))
}

// release recognizes v2 and v1.2.3.
func (s *tokenizer) release(word string) bool {
	if word[0] != 'v' && word[0] != 'V' || len(word) < 2 {
		return false
	}
	m := versions.FindStringSubmatch(s.rest(0))
	if m == nil || !s.ends(m[0]) {
		return false
	}
	parts := strings.Split(m[1]+m[2], ".")
	if m[3] != "" {
		parts = append(parts, m[3], m[4])
	}
	return s.take(Version{Parts: parts, Named: true}, len(m[0]))
}

// codedAmount recognizes CHF 12.50.
func (s *tokenizer) codedAmount(word string) bool {
	if len(word) < 3 || !capital(word) {
		return false
	}
	m := codedMoney.FindStringSubmatch(s.rest(0))
	if m == nil || !s.ends(m[0]) {
		return false
	}
	n, ok := s.number(m[2], true)
	if m[1] == "USD" {
		m[1] = "US"
	}
	return ok && s.take(Money{Currency: m[1], Amount: n}, len(m[0]))
}

// gluedNumber recognizes PM2.5, pH7.4 and GPT-4.1.
func (s *tokenizer) gluedNumber(word string) bool {
	if !strings.ContainsAny(word, "0123456789") && !s.followed(len(word), "-") {
		return false
	}
	m := glued.FindStringSubmatch(s.rest(0))
	if m == nil || !s.ends(m[0]) || strings.Contains(m[2], ",") && !s.DecimalComma ||
		s.followed(len(m[0]), ".") && startsWithDigit(s.rest(len(m[0])+1)) {
		return false
	}
	return s.take(Identifier{Runs: []string{m[1], m[2]}}, len(m[0]))
}

// abbreviated recognizes an abbreviation.
func (s *tokenizer) abbreviated(word string) bool {
	after := s.rest(len(word))
	period := strings.HasPrefix(after, ".") && !strings.HasPrefix(after, "..")
	n := len(word)
	if period {
		n++
	}
	forms, start := s.abbreviations[word], false
	if len(forms) == 0 && period && capital(word) && s.before(0) == "" { // Approx. five
		forms, start = s.abbreviations[strings.ToLower(word)], true
	}
	for _, a := range forms {
		if !s.meets(a, word, period, n) {
			continue
		}
		if start {
			a.long = upperFirst(a.long)
		}
		if a.inner {
			return s.takeInner(Word{a.long}, n)
		}
		return s.take(Word{a.long}, n)
	}
	return s.shortened(word)
}

// meets reports whether an abbreviation's conditions are met.
func (s *tokenizer) meets(a abbreviation, word string, period bool, n int) bool {
	after := s.next(n)
	previous := s.previous()
	switch {
	case a.period && !period, previous == '/' && !a.period && !a.name, previous == '_',
		s.followed(len(word), "_"):
		return false
	case a.number && !startsWithDigit(after) && !strings.HasPrefix(after, "#"), a.afterNumber && !s.afterNumber():
		return false
	case a.next != "" && s.nextWord(n) != a.next:
		return false
	case a.year && !fourDigits.MatchString(after):
		return false
	case a.place && !s.placed(word):
		return false
	case a.number && strings.EqualFold(word, "no") && s.refused(capital(word)):
		return false
	case a.name && !capital(after) && !s.Is(Joiner, s.nextWord(n)) && !strings.HasPrefix(after, "/") &&
		!strings.HasPrefix(after, "&"):
		return false
	case a.named:
		name := s.before(0)
		named := capital(name) && (!s.begins || startsWithDigit(s.before(1)) || !a.name && a.long != "Street")
		street := named || startsWithDigit(name)
		_, house := s.abbreviations[Head(after)]
		return street &&
			(!capital(after) || house || s.Is(Starter, Head(after)) || !period && strings.Contains("&", after[:1]))
	}
	return true
}

// placed reports whether a comma and the name of a city stand before a code: Austin, TX. A code that is a word
// needs a name that does not start the sentence.
func (s *tokenizer) placed(code string) bool {
	return strings.HasSuffix(s.src[:s.at], ", ") && capital(s.before(0)) && !s.loud &&
		(!s.begins || !s.Is(Lower, code) && !s.Is(Interjection, code))
}

// afterNumber reports whether the word before is a number.
func (s *tokenizer) afterNumber() bool {
	switch s.last.(type) {
	case Number, Fraction, Pair:
		return true
	}
	return startsWithDigit(s.before(0))
}

// refused reports whether "no.", or with a capital "No.", is the word and not "number": "we are No. 1" is
// none, "the answer is No." is.
func (s *tokenizer) refused(capital bool) bool {
	if s.before(0) != "" {
		return s.preceded(Refusal) && (!capital || !s.preceded(Filler) || s.Is(Refusal, s.before(1)))
	}
	return strings.ContainsAny(s.src[max(0, s.at-3):s.at], "?!.")
}

// calendarWord recognizes short forms of weekdays and months.
func (s *tokenizer) calendarWord(word string) bool {
	n := len(word)
	if s.followed(n, ".") {
		n++
	}
	return s.weekdayShort(word, n) || s.monthShort(word, n)
}

// homograph recognizes a word with two pronunciations by its neighbors.
func (s *tokenizer) homograph(word string) bool {
	after := s.nextWord(len(word))
	for _, h := range s.homographs[strings.ToLower(word)] {
		if h.verb && !s.urges(after) || h.name && !capital(word) {
			continue
		}
		if h.matches(s.before(0), after, s.before(1)) ||
			startsWithDigit(after) && h.matches(s.before(0), "0", s.before(1)) {
			say, length := h.say, len(word)
			if capital(word) && s.before(0) == "" {
				say = upperFirst(say)
			}
			if n := s.ownership(length); h.name && n > 0 {
				say, length = owned(say), length+n
			}
			return s.take(Word{say}, length)
		}
	}
	return false
}

// ownership returns the length of the ending, such as 's, that a word of n bytes has; 0: it has none.
func (s *tokenizer) ownership(n int) int {
	for _, ending := range []string{"'s", "’s", "'S", "’S"} {
		if s.followed(n, ending) {
			return len(ending)
		}
	}
	return 0
}

// owned returns the phonemes of a name with the ending of what it owns.
func owned(block string) string {
	phonemes, ending := strings.TrimSuffix(block, "]]"), "z"
	last, _ := utf8.DecodeLastRuneInString(phonemes)
	switch {
	case strings.ContainsRune("szʃʒ", last):
		ending = "ᵻz"
	case strings.ContainsRune("ptkfθ", last):
		ending = "s"
	}
	return phonemes + ending + "]]"
}

// urges reports whether a word at the position is an imperative, by its neighbors.
func (s *tokenizer) urges(after string) bool {
	return (s.before(0) == "" || s.preceded(Urge)) && s.Is(Objective, after)
}

// upperFirst returns a text with a capital.
func upperFirst(text string) string {
	c, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(c)) + text[n:]
}

// matches reports whether a homograph has this pronunciation between two words; earlier is the word before
// these.
func (h homograph) matches(before, after, earlier string) bool {
	in := func(list []string, word string) bool {
		if word == "" {
			word = "^"
		}
		for _, w := range list {
			if strings.EqualFold(w, word) {
				return true
			}
		}
		return false
	}
	return (len(h.before) == 0 || in(h.before, before) || in(h.before, earlier+"_"+before)) &&
		(len(h.after) == 0 || in(h.after, after)) && !in(h.not, before)
}

// capitals recognizes function words and acronyms in capitals.
func (s *tokenizer) capitals(word string) bool {
	if len(word) < 2 || strings.ToUpper(word) != word || !unicode.IsLetter(First(word)) {
		return len(word) == 1 && s.letter(word)
	}
	lower, spelled := s.Is(Lower, word), s.Is(Spelled, word)
	switch {
	case s.Is(Shouted, word), lower && (s.loud || !s.calm(len(word))):
		return s.take(Word{strings.ToLower(word)}, len(word))
	case s.Is(Calm, word) && s.loud:
		return s.take(Word{strings.ToLower(word)}, len(word))
	case s.Is(Calm, word) && !s.calm(len(word)):
	case spelled && s.loud, spelled && !lower, spelled && s.calm(len(word)):
		return s.take(Letters{word}, len(word))
	}
	return false
}

// vowels of Latin letters, in capitals.
const vowels = "AEIOUYÀÁÂÃÄÅÆÈÉÊËÌÍÎÏÒÓÔÕÖØÙÚÛÜÝ"

// unlisted recognizes a word in capitals that no table has. It is spelled if it has no vowel, or at most three letters
// among words in small ones, else read as a word: espeak-ng would decide by the capitals around it.
func (s *tokenizer) unlisted(word string) bool {
	if len(word) < 2 || strings.ToUpper(word) != word || strings.ContainsFunc(word, isNoLatinCapital) {
		return false
	}
	short := utf8.RuneCountInString(word) <= 3 && !s.loud && s.calm(len(word)) && !s.Is(Lower, word)
	if short || !strings.ContainsAny(word, vowels) {
		return s.take(Letters{word}, len(word))
	}
	return s.take(Word{strings.ToLower(word)}, len(word))
}

func isNoLatinCapital(c rune) bool { return !unicode.Is(unicode.Latin, c) || !unicode.IsUpper(c) }

// letter recognizes a lone A that is the letter: after a word such as "room", or in a range of letters.
func (s *tokenizer) letter(word string) bool {
	if word == "a" {
		c := First(s.next(1))
		return c != 0 && (strings.ContainsRune("*=≠<>+²³^", c) || strings.HasPrefix(s.next(1), "!=")) &&
			s.take(Letters{"A"}, 1)
	}
	if word != "A" {
		return false
	}
	after := strings.TrimLeft(s.rest(1), " ")
	next := s.nextWord(1)
	if s.before(0) != "" &&
		(after == "" || next == "" && !strings.ContainsRune("\"'([$#.", First(after)) || s.Is(Joiner, next)) ||
		s.followed(1, "+") || len(next) == 1 && capital(next) && next != "I" {
		return s.take(Letters{word}, 1)
	}
	label := s.preceded(Seat) || s.previous() == '[' || s.previous() == '&' ||
		s.followed(1, "-") && len(s.rest(1)) > 1 && len(Head(s.rest(2))) == 1 ||
		s.followed(1, "]")
	return label && s.take(Letters{word}, 1)
}

// calm reports whether the words around are not all in capitals.
func (s *tokenizer) calm(n int) bool {
	after := s.nextWord(n)
	if after == "" || !isLetter(First(after)) {
		before := s.before(0)
		return before == "" || strings.ToUpper(before) != before || !isLetter(First(before))
	}
	return len(after) < 2 || strings.ToUpper(after) != after
}

// powered recognizes m² and x².
func (s *tokenizer) powered(word string) bool {
	base := strings.TrimRight(word, "²³")
	if base == word || base == "" {
		return false
	}
	p := power(word[len(base):])
	if _, _, ok := s.Unit(base); !ok || p == 0 || len(base) == 1 && !lengths(base) {
		s.take(Text(base), len(base))
		for _, c := range word[len(base):] {
			s.take(Sign{string(c)}, utf8.RuneLen(c))
		}
		return true
	}
	return s.take(Unit{Symbol: base, Power: p}, len(word))
}

// unitWord recognizes a unit after a size, a pair or a time: 2x4 ft.
func (s *tokenizer) unitWord(word string) bool {
	switch s.last.(type) {
	case Size, Pair, Clock:
	default:
		return false
	}
	if _, _, ok := s.Unit(word); !ok || len(word) < 2 && (word != "m" || !is[Size](s.last)) || s.previous() != ' ' {
		return false
	}
	if per := perWord.FindString(s.rest(len(word))); per != "" {
		if _, _, ok := s.Unit(per[1:]); ok {
			return s.take(Unit{Symbol: word, Per: per[1:]}, len(word)+len(per))
		}
	}
	return s.take(Unit{Symbol: word}, len(word))
}

// between recognizes the x of 2 x 4, and the letter of a direction.
func (s *tokenizer) between(word string) bool {
	switch {
	case word == "x" && startsWithDigit(s.before(0)) && startsWithDigit(s.next(1)):
		return s.take(Sign{"x"}, 1)
	case word == "x" && startsWithDigit(s.before(0)) && isLetter(First(s.next(1))):
		return s.take(Sign{"×"}, 1)
	case word[0] == 'x' && len(word) > 1 && allDigits(word[1:]) && is[Digits](s.last):
		return s.take(Digits{Groups: []string{word[1:]}, Extension: true}, len(word))
	case len(word) > 2, s.Is(Compound, s.nextWord(len(word))):
		return false
	}
	name, ok := s.signs["direction "+word]
	if !ok {
		return false
	}
	n := len(word)
	if s.followed(n, ".") {
		n++
	}
	after := s.nextWord(n)
	q, angle := s.last.(Quantity)
	road := s.Is(Highway, s.before(1)) || s.Is(Highway, strings.TrimRight(s.before(0), "0123456789- "))
	switch {
	case is[Number](s.last) && (road || capital(after) && len(after) > 1 || s.named(n)), angle && q.Unit.Symbol == "°",
		s.before(0) == "'", s.before(0) == `"`, road,
		len(word) == 2 && s.Is(Side, after):
		if n > len(word) && s.endsSentence(n, false) && after == "" {
			n = len(word)
		}
		return s.takeInner(Word{name}, n)
	}
	return false
}

// initial drops the period of a name's initial: "John F. Kennedy".
func (s *tokenizer) initial(word string) bool {
	if len(word) != 1 || !unicode.IsUpper(rune(word[0])) || !s.followed(1, ". ") ||
		word == "I" && s.before(0) == "" {
		return false
	}
	after := s.next(2)
	if !capital(after) || s.Is(Starter, Head(after)) || s.before(0) != "" && !capital(s.before(0)) {
		return false
	}
	return s.takeInner(Word{word}, 2)
}

// plate recognizes a word of letters and digits that no one can pronounce: a number plate, a serial number.
func (s *tokenizer) plate(word string) bool {
	if len(word) < 5 || !strings.ContainsFunc(word, IsDigit) || strings.ContainsFunc(word, unicode.IsLower) ||
		strings.ContainsFunc(word, func(c rune) bool { return c >= 0x80 }) {
		return false
	}
	if len(runs(word)) < 3 {
		return false
	}
	return s.take(Identifier{Runs: runs(word)}, len(word))
}

// roman recognizes Roman numbers of rulers, chapters and names.
func (s *tokenizer) roman(word string) bool {
	n := romanValue(word)
	before := s.before(0)
	switch {
	case n == 0 || len(word) == 1 && before == "":
		return false
	case s.Is(Ruler, before) && (len(word) > 1 || !s.followed(len(word), " ")):
		if s.PeriodOrdinal && s.followed(len(word), ".") {
			return s.take(Ordinal{N: n, Article: true}, len(word)+1)
		}
		return s.take(Ordinal{N: n, Article: true}, len(word))
	case s.Is(Chapter, before) && capital(before),
		len(word) > 1 && capital(before) && !s.Is(Determiner, before) && !s.loud && strings.ToUpper(before) != before,
		(word == "II" || word == "III") && !s.loud:
		return s.take(Number{Whole: strconv.Itoa(n), Grouped: true}, len(word))
	case len(word) > 1 && s.calm(len(word)):
		return s.take(Letters{word}, len(word)) // an IV; espeak-ng says "roman four"
	}
	return false
}

// romanValue returns the value of a Roman number up to 89, 0 for none.
func romanValue(w string) int {
	if len(w) > 8 || strings.Trim(w, "IVXL") != "" {
		return 0
	}
	value := func(c byte) int { return [...]int{1, 5, 10, 50}[strings.IndexByte("IVXL", c)] }
	n := 0
	for i := range len(w) {
		v := value(w[i])
		if i+1 < len(w) && v < value(w[i+1]) {
			v = -v
		}
		n += v
	}
	if n <= 0 || roman(n) != w {
		return 0
	}
	return n
}

// roman returns n, 1–89, as a Roman number.
func roman(n int) string {
	var b strings.Builder
	for _, step := range []struct {
		value int
		sign  string
	}{{50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= step.value; n -= step.value {
			b.WriteString(step.sign)
		}
	}
	return b.String()
}
