package speakable

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/voice/speakable/recognize"
)

// gapRunes are the silent characters between words; every other character is part of a word.
const gapRunes = " \n\"'()[]{}.,;:!?-*_`|~\\–—…•·¿¡‹›"

// punctuate normalizes the characters between words for the clause splitter: to nothing, one space, or one
// mark and a space, or a line break as in [Lines]. The result ends with a sentence mark.
func punctuate(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 1)
	letter := false
	before := rune(-1) // the last rune of the word before the gap; −1 at the start
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool { return !inGap(r) })
		if n < 0 {
			n = len(s)
		}
		after := rune(-1)
		if n < len(s) {
			after, _ = utf8.DecodeRuneInString(s[n:])
		}
		b.WriteString(gap{before, after, s[:n], letter}.text())
		s = s[n:]
		if n = strings.IndexFunc(s, inGap); n < 0 {
			n = len(s)
		}
		b.WriteString(s[:n])
		var size int
		before, size = utf8.DecodeLastRuneInString(s[:n])
		letter = size == n
		s = s[n:]
	}
	if before != -1 && b.Len() > 0 && !strings.ContainsAny(b.String()[b.Len()-1:], ".!?") {
		b.WriteByte('.')
	}
	return b.String()
}

func inGap(r rune) bool { return strings.ContainsRune(gapRunes, r) }

// A gap is the text between two words, or at an end of the text.
type gap struct {
	before, after rune // neighbors; −1 means none
	is            string
	letter        bool // the word before is a single letter
}

// text returns the replacement of the gap.
func (g gap) text() string {
	switch {
	case g.is == "":
		return ""
	case g.before == -1:
		return g.sign()
	case g.after == -1:
		return g.sentenceMark()
	case !strings.ContainsAny(g.is, " \n"):
		return g.inside()
	}
	mark := g.mark()
	text := ""
	if g.is[0] == '\'' && (g.before == 's' || g.before == 'z') && mark == "" {
		text = "'"
	}
	return text + mark + g.separator(mark) + g.sign()
}

var dash = regexp.MustCompile(`[–—]|--| - `)

// separator returns what follows the mark of a gap: a line break at the end of a paragraph, and at that of a line that
// ends with a colon, a tab after a comma that is a dash, otherwise a space.
func (g gap) separator(mark string) string {
	lines := strings.Count(g.is, "\n")
	if lines >= 2 || lines == 1 && mark == ":" {
		return "\n"
	}
	if mark == "," && dash.MatchString(g.is) {
		return "\t"
	}
	return " "
}

// sign returns the end of the gap that belongs to the word after it: a minus, a point, an apostrophe.
func (g gap) sign() string {
	rest := strings.TrimLeft(g.is, " \n\"([{*_`")
	rest = rest[max(0, strings.LastIndexAny(rest, " \n")+1):]
	switch {
	case recognize.IsDigit(g.after) && (rest == "-" || rest == "." || rest == "-."):
		return rest
	case unicode.IsLetter(g.after) && rest == "'":
		return rest
	}
	return ""
}

// inside returns a gap without spaces: part of one word (3.14, 10:30, don't, twenty-six), or a mark with a
// missing space.
func (g gap) inside() string {
	digits := unicode.IsNumber(g.before) && unicode.IsNumber(g.after)
	switch g.is {
	case "'", "-", ".", "‿":
		if g.is == "." && !g.letter && unicode.IsLower(g.before) && unicode.IsUpper(g.after) {
			return ". "
		}
		return g.is
	case ",", ":", ";", "!", "?":
		if digits || g.is == ":" && recognize.IsDigit(g.after) {
			return g.is
		}
		return g.is + " "
	case "–":
		return "-"
	case `"`, "*", "**", "`", "***":
		if digits {
			return g.is[:1]
		}
		return ""
	case "_", "~", "(", ")", "[", "]", "\\", "·":
		return " "
	}
	if mark := g.mark(); mark != "" {
		return mark + " "
	}
	return " "
}

// sentenceMark returns the mark at the end of the text.
func (g gap) sentenceMark() string {
	if mark := g.mark(); mark == "?" || mark == "!" {
		return mark
	}
	return "."
}

// mark returns the strongest mark of the gap: a sentence mark as written, then the end of a line, then other
// marks.
func (g gap) mark() string {
	if g.is == " " {
		return ""
	}
	is := smiley.ReplaceAllString(g.is, "")
	last := strings.LastIndexAny(is, ".,;:")
	switch {
	case strings.Contains(is, "?"):
		return "?"
	case strings.Contains(is, "!"):
		return "!"
	case strings.Contains(is, "…") || strings.Contains(is, ".."):
		if unicode.IsLower(g.after) && !strings.Contains(is, "\n") {
			return ","
		}
		return "."
	case last >= 0:
		return is[last : last+1]
	case strings.Contains(is, "\n"):
		return "."
	case strings.ContainsAny(is, "()[]{}|•·‹›") || dash.MatchString(is):
		return ","
	}
	return ""
}

var smiley = regexp.MustCompile(` [:;]-?[()]`)
