package speakable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func symbolTable() map[rune]string {
	return map[rune]string{
		'%': "percent", '&': "and", '+': "plus", '=': "equals", '°': "degrees", '×': "times", '÷': "divided by", '±': "plus or minus",
		'≈': "about", '≠': "is not", '≤': "at most", '≥': "at least", '−': "minus", '→': "to", '⇒': "to", '➜': "to", '➡': "to", '➔': "to", '↔': "and",
		'²': "squared", '³': "cubed", '√': "square root of", '∞': "infinity", '§': "section", '¶': "paragraph", '@': "at", '‰': "per mille",
		'©': "copyright", '®': "registered", '™': "trademark", '★': "star", '☆': "star", '✓': "check", '✗': "cross", '$': "dollars",
		'<': "less than", '>': "greater than", '#': "number", '✅': "check", '❤': "heart", '♥': "heart",
	}
}

// symbol reads a sign that is spoken.
func (r *reader) symbol(c rune) bool {
	size := utf8.RuneLen(c)
	before, after := r.around(size)
	tight := isWord(before) || strings.ContainsRune("%°\"'.)$£€¢", before)
	switch c {
	case '-', '–', '−', '—':
		return r.dash(c, size, before, after)
	case '<', '>', '=', '~', '^', '*', '/', '\'':
		return r.operator(c, before, after, tight)
	case '#', '@':
		return r.handle(c, before, after)
	case '(':
		if isLetter(before) && strings.HasPrefix(r.src[r.at:], "(s)") {
			r.out.WriteByte('s')
			r.at += len("(s)")
			return true
		}
	}
	if spoken, ok := r.symbols[c]; ok {
		r.emit(spoken, size)
		return true
	}
	return c >= 0x80 && r.emoji()
}

// around returns the runes before and after the next size bytes.
func (r *reader) around(size int) (before, after rune) {
	before, _ = utf8.DecodeLastRuneInString(r.src[:r.at])
	after, _ = utf8.DecodeRuneInString(r.src[r.at+size:])
	return before, after
}

// dash reads a minus, the "to" of a range or a score, and a difference.
// [punctuate] handles other dashes.
func (r *reader) dash(c rune, size int, before, after rune) bool {
	gap := strings.TrimLeft(r.clip(size), " ")
	number := gap != "" && (startsWithDigit(gap) || strings.ContainsRune("$£€½¼¾", first(gap)))
	spoken := strings.TrimRight(r.src[max(0, r.at-4):r.at], " ")
	last, _ := utf8.DecodeLastRuneInString(spoken)
	operand := unicode.IsNumber(last) || strings.ContainsRune("%°$£€", last) || r.counted(last)
	spaced := before == ' ' && after == ' '
	switch {
	case strings.HasPrefix(r.src[r.at:], "->"):
		r.emit("to", len("->"))
	case !number:
		if c != '−' {
			return false
		}
		r.emit("minus", size)
	case c == '−', operand && r.equation(gap, spaced):
		r.emit("minus", size)
	case operand && (spaced || before != ' '):
		r.emit(" to", size)
	case isLetter(before):
		r.emit(" ", size)
	case after != ' ' || r.out.Len() == 0 || last == '\n':
		r.emit("minus", size)
	default:
		return false
	}
	return true
}

// counted reports whether a word that ends with last is part of a quantity:
// 9am-5pm, 5 km-10 km.
func (r *reader) counted(last rune) bool {
	tail := r.src[max(0, r.at-10):r.at]
	at := strings.LastIndexFunc(tail, unicode.IsNumber)
	if at < 0 || !isLetter(last) && last != '.' {
		return false
	}
	_, size := utf8.DecodeRuneInString(tail[at:])
	word := strings.Trim(tail[at+size:], " .")
	_, unit := r.units[word]
	return unit || strings.EqualFold(word, "am") || strings.EqualFold(word, "pm") || strings.EqualFold(word, "a.m") || strings.EqualFold(word, "p.m")
}

// equation reports whether a sum with its result follows.
func (r *reader) equation(s string, spaced bool) bool {
	rest := strings.TrimLeft(s, "0123456789.,")
	sum := strings.HasPrefix(rest, " - ") || strings.HasPrefix(rest, " + ")
	return strings.HasPrefix(strings.TrimLeft(rest, " "), "=") || spaced && sum
}

// operator reads a sign that is spoken only between or before operands.
func (r *reader) operator(c, before, after rune, tight bool) bool {
	view := r.clip(0)
	next := first(strings.TrimLeft(r.clip(1), " ="))
	operand := isWord(next) || strings.ContainsRune("$£€-.−", next)
	for _, two := range []struct{ sign, spoken string }{
		{"<=", "at most"}, {">=", "at least"}, {"==", "equals"}, {"=>", "to"}, {"<-", "from"},
	} {
		if strings.HasPrefix(view, two.sign) && !strings.HasPrefix(view, "===") {
			r.emit(two.spoken, 2)
			return true
		}
	}
	switch {
	case c == '~' && isDigit(after):
		r.emit("about", 1)
	case c == '*' && operand && (isDigit(before) && isDigit(after) || before == ' ' && after == ' ' && r.word != ""):
		r.emit("times", 1)
	case c == '^' && operand && (tight || before == ' '):
		r.emit("to the", 1)
	case c == '/':
		return r.slash(before, after)
	case c == '\'' || c == '~' || c == '^' || c == '*':
		return false
	default:
		r.emit(r.symbols[c], 1)
	}
	return true
}

// slash reads a slash: "per" after a number or an amount, silent between two
// words, and named at the start of a path.
func (r *reader) slash(before, after rune) bool {
	word := token(r.clip(1))
	switch {
	case before == ' ' && after == ' ' && startsWithDigit(r.next(1)) && startsWithDigit(r.word):
		r.emit("divided by", 1)
	case isWord(after) && (unicode.IsNumber(before) || strings.ContainsRune("$£€%", before)) && (r.is("periods", word) || r.units[word].one != ""):
		per, _ := r.per("", word, "")
		r.emit("per", 1)
		if !r.is("periods", word) || r.units[word].one != "" {
			r.emit(" "+per, len(word))
		}
	case isWord(before) || isWord(after) && before == ')':
		r.emit(" ", 1)
	case isWord(after):
		r.emit("slash", 1)
	default:
		r.emit(" ", 1)
	}
	return true
}

// handle reads #1, #tag, C# and @name.
func (r *reader) handle(c, before, after rune) bool {
	name := strings.TrimRight(nameAt(r.clip(1)), "_-")
	switch {
	case c == '#' && (before == 'C' || before == 'F') && !isWord(after):
		r.emit("sharp", 1)
	case c == '#' && name != "" && !startsWithDigit(name):
		r.emit("hashtag "+r.camel(name), 1+len(name))
	case c == '@' && name != "" && isLetter(first(name)):
		r.emit("at "+r.camel(name), 1+len(name))
	default:
		r.emit(r.symbols[c], 1)
	}
	return true
}

// nameAt returns the name at the start of s, as used in mentions and tags.
func nameAt(s string) string {
	n := strings.IndexFunc(s, func(c rune) bool { return !isWord(c) && c != '_' })
	if n < 0 {
		n = len(s)
	}
	return s[:n]
}
