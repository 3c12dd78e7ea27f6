package speakable

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

var (
	webAddress = regexp.MustCompile(`(?i)\b(?:https?|ftp|wss?|rtsp)://[^\s<>"\x{E000}]+|\bwww\.[^\s<>"\x{E000}]+`)
	mailOrHost = regexp.MustCompile(`^(?i)(?:mailto:)?[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+|^(?i)(?:(?:https?|ftp|wss?|rtsp)://[^\s<>"\x{E000}]+|www\.[^\s<>"\x{E000}]+|localhost:\d+[^\s<>"\x{E000}]*|(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|mil|int|io|dev|app|co|info|biz|tv|fm|me|ai|us|uk|ca|au|nz|ie|eu|de|fr|nl|ch|at|it|es|se|no|fi|dk|pl|jp|lan|local|home|arpa|test|example)(?::\d+|/[^\s<>"\x{E000}]*)?)`)
	scheme     = regexp.MustCompile(`(?i)^(?:[a-z]+://(?:[^/@\s]*@)?|mailto:)?(?:www\.)?`)
)

// addresses shortens web addresses to what is spoken, for languages in which
// espeak-ng knows the names of their signs.
func addresses(s string) string {
	if !strings.Contains(s, "://") && !strings.Contains(s, "www.") {
		return s
	}
	return webAddress.ReplaceAllStringFunc(s, func(a string) string {
		return readable(a) + a[len(trimMarks(a)):]
	})
}

// readable returns an address without its scheme, "www.", query and fragment.
func readable(a string) string {
	a = trimMarks(a)
	a = a[len(scheme.FindString(a)):]
	if cut := strings.IndexAny(a, "?#"); cut > 0 {
		a = a[:cut]
	}
	return strings.TrimRight(a, "/")
}

// trimMarks removes the punctuation after an address.
func trimMarks(a string) string {
	a = strings.TrimRight(a, ".,;:!?'*_`|")
	if strings.HasSuffix(a, ")") && !strings.Contains(a, "(") {
		a = strings.TrimRight(a, ").,;:!?'")
	}
	return a
}

// address reads an address. A name is one if it ends like a domain name; a
// capital after a point without a space starts a sentence.
func (r *reader) address(string) (spoken string, n int) {
	rest, ok := r.rest()
	if !ok {
		return "", 0
	}
	m := mailOrHost.FindString(rest)
	if m == "" {
		return "", 0
	}
	m = trimMarks(m)
	if len(m) < len(rest) && isWord(first(rest[len(m):])) {
		return "", 0
	}
	if _, tld, ok := strings.Cut(m, "."); ok && !strings.ContainsAny(m, "@/:") && capital(tld) && strings.ToUpper(tld) != tld {
		return "", 0
	}
	return r.sayAddress(m), len(m)
}

// A chunk is the text between two spaces, with the number of searches for an
// address in it. The number is limited so that the work stays linear.
type chunk struct{ end, tries int }

const chunkTries = 4

// rest returns the rest of the chunk at the reader's position, and false after
// too many searches.
func (r *reader) rest() (string, bool) {
	if r.at >= r.chunk.end {
		end := strings.IndexAny(r.src[r.at:], " \n"+hidden)
		if end < 0 {
			end = len(r.src) - r.at
		}
		r.chunk = chunk{end: r.at + end}
	}
	r.chunk.tries++
	return r.src[r.at:r.chunk.end], r.chunk.tries <= chunkTries
}

// sayAddress returns an address in words: "example dot com slash door".
func (r *reader) sayAddress(a string) string {
	a = readable(a)
	if plain, err := url.PathUnescape(a); err == nil && strings.IndexFunc(plain, unicode.IsControl) < 0 {
		a = strings.ReplaceAll(tidy(plain), hidden, "")
	}
	var spoken []string
	for a != "" {
		part := token(a)
		a = a[len(part):]
		switch part {
		case ".":
			part = "dot"
		case "/":
			part = "slash"
		case "@":
			part = "at"
		case ":":
			part = "colon"
		case "-":
			part = "dash"
		case "_":
			part = "underscore"
		case "+":
			part = "plus"
		case "~":
			part = "tilde"
		default:
			part = r.sayName(part)
		}
		spoken = append(spoken, part)
	}
	return strings.Join(spoken, " ")
}

// sayName returns a part of an address in words; three or more digits are
// spelled.
func (r *reader) sayName(part string) string {
	if !isWord(first(part)) {
		return " "
	}
	var b strings.Builder
	for part != "" {
		digit := isDigit(rune(part[0]))
		n := strings.IndexFunc(part, func(c rune) bool { return isDigit(c) != digit })
		if n < 0 {
			n = len(part)
		}
		run := part[:n]
		switch {
		case digit && n > 2:
			run = r.spell(run)
		case digit:
			run = r.whole(run)
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(run)
		part = part[n:]
	}
	return b.String()
}
