package speakable

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordSets returns the sets of words that decide between two readings.
func wordSets() map[string]map[string]bool {
	rows := map[string]string{
		// words that often start a sentence, after a point that may only abbreviate
		"starters": "the a an this that these those there then here he she it we you they i my our your his her its their if when while where what who why how " +
			"in on at to for from with after before and but or so as by please no yes not is are do don't be all today tomorrow tonight now next also doors bring call come",
		// words before digits that are spelled
		"codes": "call dial text pin code passcode password extension ext zip otp",
		// words before the tens of a life or a century
		"owners": "the his her their my your our its early mid late",
		// things named after a price
		"notes": "bill bills note notes coin coins ticket tickets voucher vouchers",
		// words that may follow a length, unless it is part of a name
		"extents": "of long wide tall deep high thick and or by in on at from to is are was were per away apart below above x",
		// denominators of a unit, in addition to units
		"periods": "second minute hour day week month year night person head day item piece game month unit h s min d wk mo yr",
		// names of rulers and popes, whose Roman number is an ordinal
		"rulers": "henry edward george james charles william richard elizabeth mary louis philip francis frederick napoleon nicholas alexander ivan peter catherine " +
			"john paul pius benedict gregory leo innocent clement urban ferdinand carlos alfonso umberto albert christian gustav harald olav haakon baudouin leopold otto ramses ptolemy",
		// words before a Roman number, including one of a single letter
		"parts": "war chapter part act scene volume book bowl phase section article appendix type stage class mark round episode title level grade group division unit",
		// names in which "St." means Saint
		"saintly": "mount mt port lake fort ft east west north south bishop river san",
		"days":    "mon tue tues wed thu thurs fri sat sun",
		// letters that espeak-ng reads as a word
		"letters": "era ops obp al iq it us id",
	}
	sets := make(map[string]map[string]bool, len(rows))
	for name, row := range rows {
		sets[name] = map[string]bool{}
		for word := range strings.FieldsSeq(row) {
			sets[name][word] = true
		}
	}
	return sets
}

var (
	lettered  = regexp.MustCompile(`^(?:(?:Ph|\p{L})\.){2,8}\p{L}?`)
	versions  = regexp.MustCompile(`^(?:v(\d{1,5}(?:\.\d{1,5}){0,4})|V(\d{1,5}(?:\.\d{1,5}){1,4}))`)
	ampersand = regexp.MustCompile(`^([A-Z]{1,3})&([A-Z]{1,3})`)
	stroked   = regexp.MustCompile(`^(?i)(?:w/o|w/|n/a|b/c|c/o)`)
	bareRate  = regexp.MustCompile(`^(km|m|mi|ft|kB|MB|Mb)/(h|s)`)
)

// readWord reads a word at the reader's position, with what belongs to it.
func (r *reader) readWord() {
	word := token(r.src[r.at:])
	begins := r.word == ""
	next := r.clip(len(word))
	switch {
	case r.monthDate(word), r.marked(next), r.release(word), r.abbreviated(word, next, begins):
	case allDigits(word):
		r.emit(r.whole(word), len(word))
	default:
		r.emit(r.sayWord(word, next), len(word))
	}
	r.word, r.begins = word, begins
	if r.last() == '.' {
		r.word = ""
	}
}

// marked reads a word directly followed by a mark.
func (r *reader) marked(next string) bool {
	if next == "" || !strings.ContainsRune("./:@-_&+", rune(next[0])) {
		return false
	}
	view := r.clip(0)
	for _, reading := range []func(r *reader, view string) (spoken string, n int){
		(*reader).address, (*reader).initials, (*reader).joined, (*reader).stroke, (*reader).rate,
	} {
		if spoken, n := reading(r, view); n > 0 {
			r.emit(spoken, n)
			return true
		}
	}
	return false
}

// initials expands letters with points: e.g. and i.e. in full; others get
// points between the letters only, which espeak-ng spells.
func (r *reader) initials(view string) (spoken string, n int) {
	m := lettered.FindString(view)
	if m == "" || !r.ends(m) {
		return "", 0
	}
	spoken = strings.TrimSuffix(m, ".")
	switch strings.ToLower(spoken) {
	case "e.g":
		spoken = "for example"
	case "i.e":
		spoken = "that is"
	case "ph.d":
		spoken = "P.H.D"
	}
	if strings.HasSuffix(m, ".") && r.endsSentence(len(m), true) {
		spoken += "."
	}
	return spoken, len(m)
}

// joined expands letters around an "and": R&B.
func (r *reader) joined(view string) (spoken string, n int) {
	m := ampersand.FindStringSubmatch(view)
	if m == nil || !r.ends(m[0]) {
		return "", 0
	}
	return spelled(m[1]) + " and " + spelled(m[2]), len(m[0])
}

// stroke expands abbreviations with a stroke: w/o.
func (r *reader) stroke(view string) (spoken string, n int) {
	m := stroked.FindString(view)
	if m == "" || !r.ends(m) {
		return "", 0
	}
	switch strings.ToLower(m) {
	case "w/":
		spoken = "with "
	case "w/o":
		spoken = "without"
	case "b/c":
		spoken = "because"
	case "c/o":
		spoken = "care of"
	default:
		spoken = "not applicable"
	}
	return spoken, len(m)
}

// rate expands a rate without a number: km/h.
func (r *reader) rate(view string) (spoken string, n int) {
	m := bareRate.FindStringSubmatch(view)
	if m == nil || !r.ends(m[0]) {
		return "", 0
	}
	return r.units[m[1]].many + " per " + r.units[m[2]].one, len(m[0])
}

// spelled inserts points between letters, so that espeak-ng spells them.
func spelled(letters string) string {
	return strings.Join(strings.Split(letters, ""), ".")
}

// release expands v2 and v1.2.3.
func (r *reader) release(word string) bool {
	if word[0] != 'v' && word[0] != 'V' || len(word) < 2 {
		return false
	}
	m := versions.FindStringSubmatch(r.clip(0))
	if m == nil || !r.ends(m[0]) {
		return false
	}
	r.emit("version "+r.version(m[1]+m[2]), len(m[0]))
	return true
}

// sayWord returns the expansion of a word that depends only on the word before.
func (r *reader) sayWord(word, next string) string {
	if base := strings.TrimRight(word, "²³"); base != word && base != "" {
		return r.power(base, word[len(base):])
	}
	switch {
	case word == "x" && startsWithDigit(r.word) && startsWithDigit(strings.TrimLeft(next, " ")):
		return "by"
	case word == "WWI" || word == "WWII":
		return "World War " + r.cardinal(len(word)-len("WW"))
	case capital(word) && len(word) > 1 && r.is("letters", word) && strings.ToUpper(word) == word && r.calm(next):
		return spelled(word)
	case !capital(word):
		return word
	}
	n := roman(word)
	switch {
	case n == 0 || len(word) == 1 && r.word == "":
		return word
	case r.is("rulers", r.word) && (len(word) > 1 || !strings.HasPrefix(next, " ")):
		return "the " + r.ordinal(n)
	case r.is("parts", r.word) && capital(r.word), len(word) > 1 && capital(r.word) && strings.Trim(word, "IVX") == "", word == "II", word == "III":
		return r.cardinal(n)
	case len(word) > 1 && r.calm(next):
		return spelled(word) // an IV; espeak-ng says "roman four"
	}
	return word
}

// power expands x² and m².
func (r *reader) power(base, power string) string {
	if u, ok := r.unit(base, power); ok {
		return u.many
	}
	var b strings.Builder
	b.WriteString(base)
	for _, c := range power {
		b.WriteString(" " + r.symbols[c])
	}
	return b.String()
}

// calm reports whether the words around are not all in capitals.
func (r *reader) calm(next string) bool {
	after := strings.TrimLeft(next, " ")
	if after == "" || !isLetter(first(after)) {
		return r.word == "" || strings.ToUpper(r.word) != r.word || !isLetter(first(r.word))
	}
	w := token(after)
	return len(w) < 2 || strings.ToUpper(w) != w
}

// roman returns the value of a Roman number up to 89, 0 for none.
func roman(s string) int {
	if len(s) > 8 || strings.Trim(s, "IVXL") != "" {
		return 0
	}
	values := map[byte]int{'I': 1, 'V': 5, 'X': 10, 'L': 50}
	n := 0
	for i := range len(s) {
		v := values[s[i]]
		if i+1 < len(s) && v < values[s[i+1]] {
			v = -v
		}
		n += v
	}
	if n <= 0 || toRoman(n) != s {
		return 0
	}
	return n
}

// toRoman returns n, 1–89, as a Roman number.
func toRoman(n int) string {
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

func allDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// camel splits a name such as OpenDay2026 into its words.
func (r *reader) camel(name string) string {
	var b strings.Builder
	before := ' '
	for i, c := range name {
		after, _ := utf8.DecodeRuneInString(name[i+utf8.RuneLen(c):])
		switch {
		case c == '_' || c == '-':
			c = ' '
		case unicode.IsUpper(c) && (unicode.IsLower(before) || isDigit(before) || unicode.IsUpper(before) && unicode.IsLower(after)),
			isDigit(c) && unicode.IsLetter(before), unicode.IsLetter(c) && isDigit(before) && unicode.IsUpper(c):
			b.WriteByte(' ')
		}
		b.WriteRune(c)
		before = c
	}
	words := strings.Fields(b.String())
	for i, word := range words {
		if allDigits(word) {
			words[i] = r.shortNumber(word)
		}
	}
	return strings.Join(words, " ")
}
