package voice

import (
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A clause is what the phonemizer is asked for at once.
type clause struct {
	text   string // without line breaks and without the mark
	mark   rune   // one of . ? ! , : ; or 0 for none
	raw    bool   // text is phonemes already
	glued  bool   // no space before it
	breath bool   // speech may be cut after it
}

// size is how long a clause is, in characters: the measure of all cutting.
func (c clause) size() int { return utf8.RuneCountInString(c.text) }

// ends says whether the clause is the last of its sentence.
func (c clause) ends() bool { return c.mark == '.' || c.mark == '?' || c.mark == '!' }

// A script is a message cut into clauses. The last one ends a sentence.
type script []clause

// marks says which mark the voices know for each that closes a clause.
var marks = map[rune]rune{ //nolint:gochecknoglobals // a lookup table
	'.': '.', '?': '?', '!': '!', ',': ',', ':': ':', ';': ';',
	'。': '.', '．': '.', '।': '.', '؟': '?', '？': '?', '！': '!',
	'，': ',', '、': ',', '،': ',', '：': ':', '；': ';', '؛': ';',
}

const closers = `)]}"'»›”’`

// rawBlock is phonemes given in the text.
var rawBlock = regexp.MustCompile(`\[\[.*?\]\]`)

// newScript cuts text into clauses. Blocks of [[raw phonemes]] become clauses
// that never end a sentence by themselves; a full stop is added to a message
// that has no mark at its end.
func newScript(text string) script {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), space)
	var s script
	for text != "" {
		block := rawBlock.FindStringIndex(text)
		if block == nil {
			s.addText(text)
			break
		}
		before, raw, after := text[:block[0]], text[block[0]+2:block[1]-2], text[block[1]:]
		s.addText(before)
		s.addRaw(raw, before)
		text = after
	}
	if len(s) > 0 {
		if last := &s[len(s)-1]; !last.ends() {
			last.mark = '.'
		}
	}
	return s
}

// addRaw adds phonemes as they stand, after the text before.
func (s *script) addRaw(phonemes, before string) {
	phonemes = strings.TrimSpace(phonemes)
	if phonemes != "" {
		*s = append(*s, clause{text: phonemes, raw: true, glued: !strings.HasSuffix(before, space)})
	}
}

// addText adds the clauses of text, which holds no raw block.
func (s *script) addText(text string) {
	rs := []rune(text)
	from := 0
	for i := 0; i < len(rs); i++ {
		if !closes(rs, i) {
			continue
		}
		s.add(string(rs[from:i]), marks[rs[i]])
		for i+1 < len(rs) && (marks[rs[i+1]] != 0 || strings.ContainsRune(closers, rs[i+1])) {
			i++ // of several marks the first one counts
		}
		from = i + 1
	}
	s.add(string(rs[from:]), 0)
}

// closes says whether the rune at i closes a clause: a mark before a space, a
// closing bracket or the end; marks of scripts without spaces always do. A
// full stop does not when it is one of several, nor after a single letter
// before a small one, as in "p.m. today".
func closes(rs []rune, i int) bool {
	r := rs[i]
	switch {
	case marks[r] == 0:
		return false
	case r > unicode.MaxASCII || i+1 == len(rs):
		return r != '.' || i == 0 || rs[i-1] != '.'
	}
	next := rs[i+1]
	if (r == '?' || r == '!') && marks[next] != 0 {
		return true
	}
	if next != ' ' && !strings.ContainsRune(closers, next) {
		return false
	}
	return r != '.' || !abbreviates(rs, i)
}

// abbreviates says whether the full stop at i stands for letters left out.
func abbreviates(rs []rune, i int) bool {
	if i == 0 || rs[i-1] == '.' {
		return i > 0
	}
	single := unicode.IsLetter(rs[i-1]) && (i == 1 || !unicode.IsLetter(rs[i-2]))
	return single && i+2 < len(rs) && unicode.IsLower(rs[i+2])
}

// Sizes in characters. A piece that is being played buys the time to make a
// longer one, so the first is short and the later ones grow.
const (
	shortestPiece = 20  // speech is not cut before this
	firstPiece    = 48  // the first is cut at its first mark beyond this
	secondPiece   = 72  // about twelve words
	longestPiece  = 200 // bounds the memory of one run
	longestClause = 160 // a clause beyond it is cut between words
)

// add adds a clause with its mark; text without any is left to the clause
// before. A clause beyond longestClause is cut between words.
func (s *script) add(text string, mark rune) {
	n := len(*s)
	glued := n > 0 && (*s)[n-1].raw && !strings.HasPrefix(text, space)
	text = strings.TrimSpace(text)
	if text == "" {
		if n > 0 && (*s)[n-1].mark == 0 {
			(*s)[n-1].mark = mark
		}
		return
	}
	for offset(text, longestClause) < len(text) {
		at := cutBefore(text, secondPiece)
		*s = append(*s, clause{text: strings.TrimSpace(text[:at]), breath: true, glued: glued})
		text, glued = strings.TrimSpace(text[at:]), false
	}
	*s = append(*s, clause{text: text, mark: mark, breath: mark != 0, glued: glued})
}

// cutBefore returns the offset of the last space within the first n
// characters of text, or of the character after them when there is none.
func cutBefore(text string, n int) int {
	end := offset(text, n)
	if at := strings.LastIndex(text[:end], space); at > 0 {
		return at
	}
	return end
}

// offset returns the offset of the character that n others precede, or the
// length of text when it has no more than n.
func offset(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// A piece is what the model is run with at once: a sentence, or a part of one.
type piece struct {
	clauses []clause
	pause   bool // it begins a sentence, and is not the first
}

// pieces yields the script in order.
func (s script) pieces() iter.Seq[piece] {
	return func(yield func(piece) bool) {
		pause, budget := false, firstPiece
		for len(s) > 0 {
			n, size := s.next(budget)
			if !yield(piece{clauses: s[:n], pause: pause}) {
				return
			}
			pause = s[n-1].ends()
			s = s[n:]
			budget = min(max(secondPiece, 2*size), longestPiece)
		}
	}
}

// next returns how many clauses make the next piece, and their size: those of
// one sentence, as many as fit the budget.
func (s script) next(budget int) (n, size int) {
	for i, c := range s {
		if size >= shortestPiece && s[i-1].breath && size+c.size() > budget {
			return i, size
		}
		size += c.size()
		if c.ends() {
			return i + 1, size
		}
	}
	return len(s), size
}
