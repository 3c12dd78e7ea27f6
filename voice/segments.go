package voice

import (
	"iter"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A clause is the unit for the phonemizer.
type clause struct {
	text      string // without line breaks and without the mark
	mark      rune   // one of . ? ! , : ; or 0 for none
	raw       bool   // text is phonemes
	joined    bool   // no space before it
	breakable bool   // a segment may end after it
	phrase    bool   // a segment does end after it
	lineEnd   bool   // it ends a line, and so a sentence
}

// characters returns the number of characters, the unit of all limits.
func (c clause) characters() int { return utf8.RuneCountInString(c.text) }

// ends reports whether the clause is the last of its sentence.
func (c clause) ends() bool { return c.lineEnd || c.mark == '.' || c.mark == '?' || c.mark == '!' }

// pause returns the silence after the clause, if a segment ends there; 0 where only the voice makes one.
func (c clause) pause() time.Duration {
	switch {
	case c.lineEnd && c.mark == ':':
		return ListPause
	case c.lineEnd:
		return ParagraphPause
	case c.ends():
		return Pause
	case c.mark == ';':
		return ClausePause
	default:
		return 0
	}
}

// clauses is a message split into clauses. The last one ends a sentence.
type clauses []clause

// marks maps closing punctuation to the marks that voices know.
var marks = map[rune]rune{ //nolint:gochecknoglobals // a lookup table
	'.': '.', '?': '?', '!': '!', ',': ',', ':': ':', ';': ';',
	'。': '.', '．': '.', '।': '.', '؟': '?', '？': '?', '！': '!',
	'，': ',', '、': ',', '،': ',', '：': ':', '；': ';', '؛': ';',
}

const closers = `)]}"'»›”’`

// rawBlock matches phonemes in the text.
var rawBlock = regexp.MustCompile(`\[\[.*?\]\]`)

// newClauses splits text, whose lines are as those of [speakable.Lines], into clauses. Blocks of [[raw phonemes]]
// become clauses that do not end a sentence; a message without a closing mark gets a full stop.
func newClauses(text string) clauses {
	var s clauses
	text = strings.ReplaceAll(text, ",\t", "; ") // a dash is as long as a semicolon
	for line := range strings.Lines(strings.ToValidUTF8(text, "")) {
		s.addLine(strings.Join(strings.Fields(line), space))
		if len(s) > 0 {
			s[len(s)-1].endLine()
		}
	}
	if len(s) > 0 && s[len(s)-1].mark == ':' {
		s[len(s)-1].mark = '.' // nothing follows
	}
	return s
}

// endLine makes the clause the last one of a line.
func (c *clause) endLine() {
	c.lineEnd = true
	if c.mark == 0 || c.mark == ',' || c.mark == ';' {
		c.mark = '.'
	}
}

// addLine adds the clauses of a line.
func (s *clauses) addLine(text string) {
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
}

// from returns the clauses from a sentence on, or from the last one if there are fewer, and the number of the
// first sentence that is left.
func (s clauses) from(sentence int) (rest clauses, first int) {
	for i := 0; first < sentence && i < len(s)-1; i++ {
		if s[i].ends() {
			first++
			rest = s[i+1:]
		}
	}
	if first == 0 {
		rest = s
	}
	return rest, first
}

// addRaw adds phonemes unchanged, after the text before.
func (s *clauses) addRaw(phonemes, before string) {
	phonemes = strings.TrimSpace(phonemes)
	if phonemes != "" {
		*s = append(*s, clause{text: phonemes, raw: true, joined: !strings.HasSuffix(before, space)})
	}
}

// addText adds the clauses of text without raw blocks.
func (s *clauses) addText(text string) {
	rs := []rune(text)
	from := 0
	for i := 0; i < len(rs); i++ {
		if !closesClause(rs, i) {
			continue
		}
		s.add(string(rs[from:i]), marks[rs[i]])
		for i+1 < len(rs) && (marks[rs[i+1]] != 0 || strings.ContainsRune(closers, rs[i+1])) {
			i++ // the first of several marks counts
		}
		from = i + 1
	}
	s.add(string(rs[from:]), 0)
}

// closesClause reports whether the rune at i closes a clause: a mark before a space, a closing bracket or the
// end. Marks of scripts without spaces always do. A full stop does not if it is one of several, or follows a
// single letter before a lower-case one, as in "p.m. today".
func closesClause(rs []rune, i int) bool {
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

// abbreviates reports whether the full stop at i marks an abbreviation.
func abbreviates(rs []rune, i int) bool {
	if i == 0 || rs[i-1] == '.' {
		return i > 0
	}
	single := unicode.IsLetter(rs[i-1]) && (i == 1 || !unicode.IsLetter(rs[i-2]))
	return single && i+2 < len(rs) && unicode.IsLower(rs[i+2])
}

// Sizes in characters. The first segment is the first clause, so that speech starts early; while a segment is
// played, there is time to synthesize a longer one.
const (
	minAlone      = 8   // a short word sounds bad alone, at the beginning or the end
	minSegment    = 20  // others are not cut before this
	secondSegment = 72  // about twelve words
	maxSegment    = 200 // limits the memory of a run
	maxClause     = 160 // longer clauses are cut between words
	maxPhrase     = 32  // of slow speech: four to six words
)

// add adds a clause with its mark; a mark without text is added to the clause before. A clause longer than
// maxClause is cut between words.
func (s *clauses) add(text string, mark rune) {
	n := len(*s)
	glued := n > 0 && (*s)[n-1].raw && !strings.HasPrefix(text, space)
	text = strings.TrimSpace(text)
	if text == "" {
		if n > 0 && (*s)[n-1].mark == 0 {
			(*s)[n-1].mark = mark
		}
		return
	}
	for offset(text, maxClause) < len(text) {
		at := cutBefore(text, secondSegment)
		*s = append(*s, clause{text: strings.TrimSpace(text[:at]), breakable: true, joined: glued})
		text, glued = strings.TrimSpace(text[at:]), false
	}
	*s = append(*s, clause{text: text, mark: mark, breakable: mark != 0, joined: glued})
}

// phrases returns the clauses cut between words into parts of about equal length, at most [maxPhrase], each
// of which becomes a segment.
func (s clauses) phrases() clauses {
	var all clauses
	for _, c := range s {
		for parts := (c.characters() + maxPhrase - 1) / maxPhrase; !c.raw && parts > 1; parts-- {
			at := cutBefore(c.text, c.characters()/parts+maxPhrase/8)
			first := c
			first.text, first.mark, first.phrase = c.text[:at], 0, true
			all = append(all, first)
			c.text, c.joined = strings.TrimSpace(c.text[at:]), false
		}
		if c.text != "" {
			c.phrase = c.breakable
			all = append(all, c)
		}
	}
	return all
}

// cutBefore returns the offset of the last space in the first n characters of text, or of the end of those
// characters if there is none.
func cutBefore(text string, n int) int {
	end := offset(text, n)
	if at := strings.LastIndex(text[:end], space); at > 0 {
		return at
	}
	return end
}

// offset returns the byte offset of character n of text, or the length of text if it is shorter.
func offset(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// A segment is the unit for the model: a sentence or a part of one.
type segment struct {
	clauses  []clause
	pause    time.Duration // before it; 0 unless it starts a sentence other than the first, or follows a semicolon
	sentence int           // that it belongs to, from 0
}

// segments yields the segments in order.
func (s clauses) segments() iter.Seq[segment] {
	return func(yield func(segment) bool) {
		pause, least, budget, sentence := time.Duration(0), minAlone, 0, 0
		for len(s) > 0 {
			n, size := s.next(least, budget)
			if !yield(segment{clauses: s[:n], pause: pause, sentence: sentence}) {
				return
			}
			if pause = s[n-1].pause(); s[n-1].ends() {
				sentence++
			}
			s = s[n:]
			least, budget = minSegment, min(max(secondSegment, 2*size), maxSegment)
		}
	}
}

// next returns the number of clauses in the next segment, and its size: those of one sentence that fit the
// budget, or more if they have less than the least size.
func (s clauses) next(least, budget int) (n, size int) {
	for i, c := range s {
		semicolon := i > 0 && s[i-1].mark == ';' && size >= minAlone && s.breakable(i)
		if i > 0 && (s[i-1].phrase || semicolon || size >= least && size+c.characters() > budget && s.breakable(i)) {
			return i, size
		}
		size += c.characters()
		if c.ends() {
			return i + 1, size
		}
	}
	return len(s), size
}

// breakable reports whether a segment may end before clause i, which is not the first.
func (s clauses) breakable(i int) bool {
	return s[i-1].breakable && (!s[i].ends() || s[i].characters() >= minAlone)
}
