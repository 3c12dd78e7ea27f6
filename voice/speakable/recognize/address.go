package recognize

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	mailOrHost = regexp.MustCompile(
		`^(?i)(?:mailto:)?[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+|` +
			`^(?i)(?:(?:https?|ftp|wss?|rtsp|smb|nfs|ssh|mqtt)://[^\s<>"\x{E000}]+|www\.[^\s<>"\x{E000}]+|` +
			`localhost:\d+[^\s<>"\x{E000}]*|(?:[a-z0-9_-]+\.)+([a-z]{2,12})(?::\d+|/[^\s<>"\x{E000}]*)*)`,
	)
	scheme    = regexp.MustCompile(`(?i)^(?:[a-z]+://(?:[^/@\s]*@)?|mailto:)?(?:www\.)?`)
	hostPort  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*:(\d{2,5})\b`)
	localPath = regexp.MustCompile(`^/[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*/?`)
	topicPath = regexp.MustCompile(`^[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+){2,}`)
	drivePath = regexp.MustCompile(`^[A-Z]:\\[^\s<>"\x{E000}]*`)
	ip6       = regexp.MustCompile(`^[0-9A-Fa-f]{1,4}(?::{1,2}[0-9A-Fa-f]{1,4}){1,7}\b`)
)

// addressRules returns the rules of addresses that start with a digit.
func addressRules() []rule {
	return []rule{
		{
			".", starts(`\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|/\d{1,2})?\b`),
			whole(func(_ *tokenizer, m []string) Token { return Address{m[0]} }),
		},
	}
}

// readable returns an address without its scheme, "www.", query and fragment.
func readable(a string) string {
	a = TrimMarks(a)
	a = a[len(scheme.FindString(a)):]
	if cut := strings.IndexAny(a, "?#"); cut > 0 {
		a = a[:cut]
	}
	if plain, err := url.PathUnescape(a); err == nil &&
		strings.IndexFunc(plain, func(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Co, c) }) < 0 &&
		plain != "" {
		a = strings.ToValidUTF8(plain, "")
	}
	return strings.TrimRight(a, "/")
}

// Readable returns an address without its scheme, "www.", query and fragment.
func Readable(a string) string {
	a = TrimMarks(a)
	a = a[len(scheme.FindString(a)):]
	if cut := strings.IndexAny(a, "?#"); cut > 0 {
		a = a[:cut]
	}
	return strings.TrimRight(a, "/")
}

// TrimMarks removes the punctuation after an address.
func TrimMarks(a string) string {
	a = strings.TrimRight(a, ".,;:!?'*_`|")
	if strings.HasSuffix(a, ")") && !strings.Contains(a, "(") {
		a = strings.TrimRight(a, ").,;:!?'")
	}
	return a
}

// address recognizes a web or mail address, a host with its port, or a topic.
func (s *tokenizer) address(word string) bool {
	after := s.rest(len(word))
	if after == "" || !strings.ContainsRune("./:@-_+%", rune(after[0])) {
		return false
	}
	rest, ok := s.chunkRest()
	if !ok {
		return false
	}
	a := s.addressIn(rest, word)
	if a == "" || len(a) < len(rest) && IsWord(First(rest[len(a):])) {
		return false
	}
	text := readable(a)
	return strings.ContainsFunc(text, IsWord) && s.take(Address{text}, len(a))
}

// addressIn returns the address at the start of text, which starts with word.
func (s *tokenizer) addressIn(text, word string) string {
	if m := hostPort.FindString(text); m != "" && s.port(m, word) {
		return m
	}
	if m := ip6.FindString(text); strings.Contains(m, "::") {
		return m
	}
	m := mailOrHost.FindStringSubmatch(text)
	if m == nil {
		if t := topicPath.FindString(text); t != "" && strings.ToLower(t) == t {
			return t
		}
		return TrimMarks(drivePath.FindString(text))
	}
	a := TrimMarks(m[0])
	if m[1] != "" && !strings.Contains(a, "@") && !s.host(a) {
		return ""
	}
	return a
}

// host reports whether an address without a scheme ends like a host or a file. A capital after a period
// without a space starts a sentence.
func (s *tokenizer) host(a string) bool {
	if cut := strings.IndexAny(a, "/:"); cut > 0 {
		a = a[:cut]
	}
	end := a[strings.LastIndexByte(a, '.')+1:]
	return s.Is(TopLevel, end) && (!capital(end) || strings.ToUpper(a) == a)
}

// port reports whether m is a host with a port and not a label with a number.
func (s *tokenizer) port(m, word string) bool {
	digits := m[strings.LastIndexByte(m, ':')+1:]
	return len(digits) >= 4 && (strings.ToLower(word) == word || strings.ContainsFunc(word, IsDigit)) &&
		!s.Is(Seat, word)
}

// path recognizes a path at the position, which starts with a slash.
func (s *tokenizer) path() bool {
	rest, ok := s.chunkRest()
	if !ok {
		return false
	}
	m := TrimMarks(localPath.FindString(rest))
	if len(m) < 2 || !s.ends(m) {
		return false
	}
	return s.take(Address{m}, len(m))
}

// A chunk is the text between two spaces, with the number of searches for an address in it. The number is
// limited so that the work stays linear.
type chunk struct{ end, tries int }

const chunkTries = 4

// chunkRest returns the rest of the chunk at the position, and false after too many searches.
func (s *tokenizer) chunkRest() (string, bool) {
	if s.at >= s.chunk.end {
		end := strings.IndexAny(s.src[s.at:], " \n\uE000")
		if end < 0 {
			end = len(s.src) - s.at
		}
		s.chunk = chunk{end: s.at + end}
	}
	s.chunk.tries++
	return s.src[s.at:s.chunk.end], s.chunk.tries <= chunkTries
}

// SayAddress says an address part by part. sign returns the name of a sign, "" for none; word says a word.
func SayAddress(a string, sign func(rune) string, word func(string) string) string {
	var spoken []string
	for a != "" {
		part := Head(a)
		a = a[len(part):]
		c, _ := utf8.DecodeRuneInString(part)
		if name := sign(c); name != "" {
			spoken = append(spoken, name)
		} else if IsWord(c) {
			spoken = append(spoken, word(part))
		}
	}
	return strings.Join(spoken, " ")
}

// SayRuns says a word run by run: say says one of digits, or of other characters.
func SayRuns(word string, say func(run string, digits bool) string) string {
	var spoken []string
	for word != "" {
		digits := IsDigit(rune(word[0]))
		n := strings.IndexFunc(word, func(c rune) bool { return IsDigit(c) != digits })
		if n < 0 {
			n = len(word)
		}
		spoken, word = append(spoken, say(word[:n], digits)), word[n:]
	}
	return strings.Join(spoken, " ")
}
