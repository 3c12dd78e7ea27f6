package recognize

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sign recognizes a sign that is spoken.
func (s *tokenizer) sign(c rune) bool {
	size := utf8.RuneLen(c)
	before := s.previous()
	after, _ := utf8.DecodeRuneInString(s.src[s.at+size:])
	switch c {
	case '-', '–', '−', '—':
		return s.dash(c, size, before, after)
	case '<', '>', '=', '~', '^', '*', '/', '\'':
		return s.operator(c, before, after)
	case '#', '@':
		return s.handle(c, before, after)
	case '(':
		if isLetter(before) && strings.HasPrefix(s.src[s.at:], "(s)") {
			s.flush()
			s.tokens = append(s.tokens, Text("s"))
			s.at += len("(s)")
			s.copied = s.at
			return true
		}
	case '"':
		if s.arc() {
			return s.take(Sign{"arc seconds"}, 1)
		}
		if _, ok := s.last.(Size); ok && !s.quote && s.glued() {
			return s.takeInner(Word{s.signs["inch"]}, 1)
		}
	case '.':
		return isLetter(after) && before == ' ' && s.take(Sign{"."}, 1) // .NET
	case '!':
		return s.exclamation(before, after)
	case '$':
		if isLetter(after) || s.prompt(before, after) {
			return s.take(Sign{"$ name"}, 1)
		}
	}
	if n := s.run(c); n > 1 && unicode.Is(unicode.Sc, c) {
		return s.take(Sign{string(c)}, n*size)
	}
	_, named := s.signs[string(c)]
	if named && !unicode.Is(unicode.So, c) {
		return s.take(Sign{string(c)}, size)
	}
	return c >= 0x80 && s.picture(c) || named && s.take(Sign{string(c)}, size)
}

// exclamation recognizes 5! = 120 and a != b.
func (s *tokenizer) exclamation(before, after rune) bool {
	if after == '=' {
		return s.take(Sign{"≠"}, len("!="))
	}
	return IsDigit(before) && strings.ContainsRune("=+*/×÷", First(s.next(1)+" ")) && s.take(Sign{"n!"}, 1)
}

// prompt reports whether a dollar sign is the prompt of a shell.
func (s *tokenizer) prompt(before, after rune) bool {
	next := s.nextWord(1)
	return after == ' ' && unicode.IsSpace(before) && unicode.IsLower(First(next)) && !s.Is(Extent, next)
}

// run returns the number of signs c at the position.
func (s *tokenizer) run(c rune) int {
	rest := s.rest(0)
	return (len(rest) - len(strings.TrimLeft(rest, string(c)))) / utf8.RuneLen(c)
}

// dash recognizes a minus, and the "to" of a range or a score. Other dashes stay.
func (s *tokenizer) dash(c rune, size int, before, after rune) bool {
	gap := strings.TrimLeft(s.rest(size), " ")
	number := gap != "" && (startsWithDigit(strings.TrimPrefix(gap, ".")) || strings.ContainsRune("$£€½¼¾", First(gap)))
	spoken := strings.TrimRight(s.src[max(0, s.at-4):s.at], " ")
	last, _ := utf8.DecodeLastRuneInString(spoken)
	if _, version := s.last.(Version); version && IsWord(before) && IsDigit(after) {
		return s.take(Sign{""}, size) // 6.1.0-18-amd64
	}
	operand := s.preceded(Moment) || unicode.IsNumber(last) && !s.letters() ||
		strings.ContainsRune("%°$£€", last) || s.measured(last)
	spaced := before == ' ' && after == ' '
	switch {
	case strings.HasPrefix(s.src[s.at:], "->"):
		return s.take(Sign{"→"}, len("->"))
	case s.ranged(c, before, after, size):
		return s.take(Sign{"to"}, size)
	case !number:
		return c == '−' && s.take(Sign{"−"}, size)
	case c == '−', operand && s.equation(gap, spaced), s.before(0) == "T" && isLetter(before): // T-5
		return s.take(Sign{"−"}, size)
	case operand && spaced && !s.alike(gap):
		return false
	case operand && (spaced || before != ' '):
		return s.take(Sign{"to"}, size)
	case IsWord(before) && (isLetter(before) || s.letters()), before == '*':
		return s.take(Sign{""}, size)
	case after != ' ' || s.at == 0 || last == '\n' || last == ':':
		return s.take(Sign{"−"}, size)
	}
	return false
}

// alike reports whether what stands before a spaced dash and what follows are of one kind, so that the dash is a range
// or a score: 5 – 7 kg, Mets 3 – 2, but not Bus 42 – 5 min late.
func (s *tokenizer) alike(gap string) bool {
	next, rest := s.first(gap)
	left, right := kindOf(s.last), kindOf(next)
	if s.last == nil && s.preceded(Moment) {
		left = "time"
	}
	if right == "number" && s.Is(ClockAfter, Head(strings.TrimLeft(rest, " "))) { // 15 Uhr
		right = "time"
	}
	labeled := s.Is(Seat, s.before(1)) || s.bound()
	switch {
	case left == "" || right == "":
		return false
	case left == right:
		return left != "number" || !labeled && yearly(s.last) == yearly(next) && (grouped(next) || !grouped(s.last))
	case left == "number":
		hour := integral(s.last) && !s.negative() && len(s.before(0)) <= 2
		return !labeled && !yearly(s.last) && !grouped(s.last) && right != "date" && right != "ordinal" &&
			(hour || right != "time" && right != "fraction")
	case right == "number":
		return !yearly(next) && !grouped(next) && (integral(next) || left == "money") &&
			!isLetter(First(strings.TrimLeft(rest, " ")))
	}
	return false
}

// bound reports whether the last token is itself the end of a range or score, or has a sign before it: 3-2, #12.
func (s *tokenizer) bound() bool {
	if len(s.tokens) < 2 {
		return false
	}
	sign, ok := s.tokens[len(s.tokens)-2].(Sign)
	return ok && (sign.Sign == "to" || sign.Sign == "#")
}

// negative reports whether the last token has a minus before it.
func (s *tokenizer) negative() bool {
	return len(s.tokens) > 1 && s.tokens[len(s.tokens)-2] == Sign{"−"}
}

// beforeDash returns the part of a text before its last dash if that stands between spaces, else "".
func beforeDash(text string) string {
	at := strings.LastIndexAny(text, "-–")
	if at < 0 || text[at-1] != ' ' {
		return ""
	}
	return strings.TrimRight(text[:at], " ")
}

// continues reports whether the dash after the next n bytes is followed by a token of one of these kinds, and by no
// smaller number than low.
func (s *tokenizer) continues(n, low int, kinds ...string) bool {
	next, _ := s.first(strings.TrimLeft(s.rest(n), " -–"))
	if number, ok := next.(Number); ok && Atoi(number.Whole) < low {
		return false
	}
	return slices.Contains(kinds, kindOf(next))
}

// first returns the token with which a text begins, nil for a word, and what follows it.
func (s *tokenizer) first(text string) (t Token, rest string) {
	if text == "" {
		return nil, text
	}
	ahead := &tokenizer{Locale: s.Locale, tables: s.tables, src: text}
	ahead.step()
	if len(ahead.tokens) == 0 {
		return nil, text
	}
	return ahead.tokens[0], text[ahead.at:]
}

// kindOf returns the kind of a token that may be the end of a range, "" for others.
func kindOf(t Token) string {
	switch t := t.(type) {
	case Number:
		return "number"
	case Fraction:
		return "fraction"
	case Clock:
		return "time"
	case Date:
		return "date"
	case Money:
		return "money"
	case Quantity:
		return "quantity " + t.Unit.Symbol
	case Duration:
		return "duration"
	case Ordinal:
		return "ordinal"
	case Weekday:
		return "day"
	}
	return ""
}

// grouped reports whether a token is a number of thousands.
func grouped(t Token) bool {
	n, ok := t.(Number)
	return ok && n.Grouped
}

// integral reports whether a token is a number without a fraction.
func integral(t Token) bool {
	n, ok := t.(Number)
	return ok && n.Fraction == ""
}

// yearly reports whether a token may be a year.
func yearly(t Token) bool {
	n, ok := t.(Number)
	return ok && len(n.Whole) == 4 && !n.Grouped && (n.Whole[:2] == "19" || n.Whole[:2] == "20")
}

// letters reports whether the word directly before starts with a letter: i7.
func (s *tokenizer) letters() bool {
	return s.glued() && isLetter(First(s.before(0))) && s.last == nil
}

// ranged reports whether a dash is the "to" between two days, months or letters: Mon-Fri, Jan–Mar, A-D.
func (s *tokenizer) ranged(c, before, after rune, size int) bool {
	if c != '−' && before == ' ' && after == ' ' && s.dates(s.next(size)) {
		return true
	}
	if c == '−' || !isLetter(after) {
		return false
	}
	if s.Is(Moment, s.nextWord(size)) && (IsDigit(before) || s.measured(before)) {
		return true
	}
	switch s.last.(type) {
	case Weekday, Month:
		word := s.nextWord(size)
		return s.short(word) && capital(word)
	case Clock, Date:
		return s.short(s.nextWord(size))
	case Label:
		return len(Head(s.rest(size))) == 1
	}
	before0, word := s.before(0), Head(s.rest(size))
	if before0 == "M" && word == "F" { // Monday to Friday
		return true
	}
	if len(before0) == 1 && len(word) == 1 && isLetter(before) && unicode.IsUpper(before) == unicode.IsUpper(after) &&
		before < after && s.before(1) != "" {
		return true
	}
	_, day := s.weekdays[strings.ToLower(before0)]
	return (day || s.months[strings.ToLower(before0)] > 0) && s.short(word) && capital(word) && before != ' '
}

// dates reports whether a date or weekday stands before and another one, text, after a dash.
func (s *tokenizer) dates(text string) bool {
	month := Head(text)
	_, day := s.weekdays[strings.ToLower(month)]
	number := startsWithDigit(strings.TrimLeft(text[len(month):], ". "))
	return is[Weekday](s.last) && day && capital(month) ||
		is[Date](s.last) && s.months[strings.ToLower(month)] > 0 && number
}

// measured reports whether a word that ends with last is part of a quantity or a time.
func (s *tokenizer) measured(last rune) bool {
	if !isLetter(last) && last != '.' {
		return false
	}
	switch s.last.(type) {
	case Quantity, Clock, Duration, Date, Money, Ordinal, Label, Number, Size:
		return true
	}
	return false
}

// equation reports whether a sum with its result follows, or a question for it.
func (s *tokenizer) equation(text string, spaced bool) bool {
	rest := strings.TrimLeft(text, "0123456789.,")
	sum := strings.HasPrefix(rest, " - ") || strings.HasPrefix(rest, " + ")
	question := strings.HasPrefix(rest, "?") && s.Is(Copula, s.before(1))
	return strings.HasPrefix(strings.TrimLeft(rest, " "), "=") || spaced && sum || question
}

// operator recognizes a sign that is spoken only between or before operands.
func (s *tokenizer) operator(c, before, after rune) bool {
	if s.bracket(before) {
		return s.take(Sign{""}, 1)
	}
	if s.comparison(before) {
		return true
	}
	next := First(strings.TrimLeft(s.rest(1), " =*"))
	operand := IsWord(next) || strings.ContainsRune("$£€-.−\"", next) && next != 0
	switch c {
	case '=':
		return before != '=' && after != '=' && s.take(Sign{"="}, 1)
	case '~':
		return s.tilde(after)
	case '*':
		return s.star(before, after, operand)
	case '^':
		tight := IsWord(before) || strings.ContainsRune("%°\"'.)$£€¢ ", before)
		return operand && tight && s.take(Sign{"^"}, 1)
	case '/':
		return s.slash(before, after)
	case '\'':
		return s.arc() && s.take(Sign{"arc minutes"}, 1)
	}
	return s.take(Sign{string(c)}, 1)
}

var bracketed = regexp.MustCompile(`^<(?:\p{Lu}[^<>\n]*[\p{L}\d.!?)]|\p{L}+)>(?:[\s.,:;!?)]|$)`)

// bracket reports whether the sign is a bracket around words: <Front door>.
func (s *tokenizer) bracket(before rune) bool {
	if m := bracketed.FindString(s.rest(0)); m != "" && !IsWord(before) {
		s.angle = s.at + strings.LastIndexByte(m, '>')
		return true
	}
	return s.at > 0 && s.at == s.angle
}

// arc reports whether the sign is that of minutes or seconds behind degrees: 48° 12' 30".
func (s *tokenizer) arc() bool {
	return s.glued() && allDigits(s.before(0)) &&
		(strings.HasSuffix(s.before(1), "°") || s.before(1) == "'" && strings.HasSuffix(s.before(3), "°"))
}

// comparison recognizes a sign of two characters.
func (s *tokenizer) comparison(before rune) bool {
	view := s.rest(0)
	if len(view) < 2 || strings.HasPrefix(view, "===") || before == '=' {
		return false
	}
	sign := ""
	switch view[:2] {
	case "<=":
		sign = "≤"
	case ">=":
		sign = "≥"
	case "==":
		sign = "="
	case "=>":
		sign = "→"
	case "<-":
		sign = "←"
	case "**":
		if IsDigit(before) && startsWithDigit(view[2:]) {
			sign = "^"
		}
	}
	return sign != "" && s.take(Sign{sign}, 2)
}

// tilde recognizes ~10 and ~/notes.
func (s *tokenizer) tilde(after rune) bool {
	switch {
	case IsDigit(after), strings.ContainsRune("$£€", after):
		return s.take(Sign{"~"}, 1)
	case after == '/':
		return s.take(Sign{"~ home"}, 1)
	}
	return false
}

// star recognizes the star of a product and of *69; others are emphasis.
func (s *tokenizer) star(before, after rune, operand bool) bool {
	switch rest := s.rest(1); {
	case startsWithDigit(rest) && !IsWord(before) && before != '*' && !strings.Contains(rest, "*"):
		return s.take(Sign{"* key"}, 1)
	case operand && (s.product(before, after) || before == ' ' && after == ' ' && s.words[0] != ""):
		return s.take(Sign{"×"}, 1)
	}
	return false
}

// product reports whether a star stands between two digits or single letters.
func (s *tokenizer) product(before, after rune) bool {
	letter := isLetter(before) && isLetter(after) && len(s.before(0)) == 1 && len(Head(s.rest(1))) == 1
	return IsDigit(before) && IsDigit(after) || letter && !strings.Contains(s.rest(2), "*")
}

// slash recognizes a slash: "per" after a number, silent between two words, and named at the start of a path.
func (s *tokenizer) slash(before, after rune) bool {
	word := Head(s.rest(1))
	base := strings.TrimRight(word, "²³")
	_, _, unit := s.Unit(base)
	if (is[Clock](s.last) || is[Number](s.last)) && before == ' ' && (s.Is(Period, word) || unit) {
		return s.take(Per{base, power(word[len(base):])}, 1+len(word)) // 5:30 /km
	}
	if isLetter(after) && !IsWord(before) && before != '.' && before != ')' && s.path() {
		return true
	}
	switch {
	case before == ' ' && after == ' ' && s.divides():
		return s.take(Sign{"÷"}, 1)
	case IsWord(after) && (unicode.IsNumber(before) || is[Times](s.last) || strings.ContainsRune("$£€%", before)) &&
		(s.Is(Period, word) || unit):
		return s.take(Per{base, power(word[len(base):])}, 1+len(word))
	case IsWord(before) || before == '.' || IsWord(after) && before == ')':
		return s.take(Sign{""}, 1)
	case IsWord(after):
		return s.take(Sign{"/"}, 1)
	}
	return s.take(Sign{""}, 1)
}

// divides reports whether a spaced slash stands between two numbers, of which none is a label or a year.
func (s *tokenizer) divides() bool {
	next, rest := s.first(s.next(1))
	labeled := s.Is(Seat, s.before(1)) || s.bound() || capital(s.before(1))
	return is[Number](s.last) && is[Number](next) && !labeled && !yearly(s.last) && !yearly(next) &&
		!isLetter(First(strings.TrimLeft(rest, " ")))
}

// handle recognizes #1, #tag, C#, @name and the pound key.
func (s *tokenizer) handle(c, before, after rune) bool {
	name := strings.TrimRight(nameAt(s.rest(1)), "_-")
	switch {
	case c == '#' && (before == 'C' || before == 'F') && !IsWord(after):
		return s.take(Sign{"♯"}, 1)
	case c == '#' && s.preceded(Numbering) && before == ' ':
		return s.take(Sign{""}, 1)
	case c == '#' && !IsWord(after):
		return s.take(Sign{"# key"}, 1)
	case c == '#' && name != "" && !startsWithDigit(name):
		return s.take(Tag{name}, 1+len(name))
	case c == '#' && s.hash(name):
		return true
	case c == '@' && name != "" && isLetter(First(name)):
		return s.take(Mention{name}, 1+len(name))
	}
	return s.take(Sign{string(c)}, 1)
}

// hash takes the number of four or more digits after a #, as in order #5512.
func (s *tokenizer) hash(name string) bool {
	if !allDigits(name) || len(name) < 4 {
		return false
	}
	s.take(Sign{"#"}, 1)
	return s.take(Digits{Groups: fours(name)}, len(name))
}

// nameAt returns the name at the start of text, as used in mentions and tags.
func nameAt(text string) string {
	n := strings.IndexFunc(text, func(c rune) bool { return !IsWord(c) && c != '_' })
	if n < 0 {
		n = len(text)
	}
	return text[:n]
}
