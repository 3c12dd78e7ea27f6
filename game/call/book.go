package call

import (
	"bufio"
	_ "embed" // english.txt
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

//go:embed english.txt
var english string

// A Phrasebook is a language: the texts for each fact, and lists of words. It never changes and may be shared.
type Phrasebook struct {
	facts map[string]*fact
	lists map[string][]string
}

// A fact is what may be said for one thing.
type fact struct {
	texts [2][]string // by form
	adds  bool        // to the texts of the fact that it is a kind of
}

// English returns the book that comes with the package.
func English() *Phrasebook {
	b, err := ReadPhrasebook(strings.NewReader(english))
	if err != nil {
		panic("english.txt: " + err.Error()) // it is compiled in, and tested
	}
	return b
}

// ReadPhrasebook reads a book in the form of english.txt. The error names the line.
func ReadPhrasebook(r io.Reader) (*Phrasebook, error) {
	b := &Phrasebook{facts: map[string]*fact{}, lists: map[string][]string{}}
	lines := bufio.NewScanner(r)
	key := ""
	for n := 1; lines.Scan(); n++ {
		var err error
		if key, err = b.read(lines.Text(), key); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read a book: %w", err)
	}
	return b, nil
}

// read takes one line, and returns the key of the fact that the lines below it belong to.
func (b *Phrasebook) read(line, key string) (string, error) {
	text := strings.TrimSpace(line)
	switch {
	case text == "" || text[0] == '#':
		return key, nil
	case line[0] == ' ' || line[0] == '\t':
		return key, b.readText(text, key)
	}
	if name, words, ok := strings.Cut(text, " = "); ok {
		b.lists[name] = strings.Split(words, " | ")
		return "", nil
	}
	name, ok := strings.CutSuffix(text, ":")
	name, adds := strings.CutSuffix(name, " +")
	if !ok || b.facts[name] != nil {
		return "", fmt.Errorf("%q is neither a list nor a new fact", text)
	}
	b.facts[name] = &fact{adds: adds}
	return name, nil
}

func (b *Phrasebook) readText(line, key string) error {
	if key == "" {
		return fmt.Errorf("%q belongs to no fact", line)
	}
	which, text, _ := strings.Cut(line, " ")
	f := &b.facts[key].texts
	switch which {
	case "both":
		f[screen], f[speak] = append(f[screen], text), append(f[speak], text)
	case "screen":
		f[screen] = append(f[screen], text)
	case "speak":
		f[speak] = append(f[speak], text)
	default:
		return fmt.Errorf("%q is neither both, screen nor speak", which)
	}
	if strings.Count(text, "{") != strings.Count(text, "}") || strings.Count(text, "[") != strings.Count(text, "]") {
		return fmt.Errorf("%q does not close a gap", text)
	}
	return nil
}

// texts returns what may be said for a fact, or for the fact that it is a kind of.
func (b *Phrasebook) texts(f form, key string) []string {
	var all []string
	for {
		if is := b.facts[key]; is != nil {
			all = append(all, is.texts[f]...)
			if !is.adds {
				return all
			}
		}
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return all
		}
		key = key[:i]
	}
}

// word returns word i of a list, "" if it has none.
func (b *Phrasebook) word(list string, i int) string {
	if words := b.lists[list]; i >= 0 && i < len(words) {
		return words[i]
	}
	return ""
}

// number returns a number in words, in digits where the book has no word.
func (b *Phrasebook) number(n int) string {
	if w := b.word("numbers", n); w != "" {
		return w
	}
	return strconv.Itoa(n)
}

// ordinal returns "third" for 3; in digits where the book has no word.
func (b *Phrasebook) ordinal(n int) string {
	if w := b.word("ordinals", n); w != "" {
		return w
	}
	return strconv.Itoa(n)
}

// counted returns "no runs", "one run", "two runs".
func (b *Phrasebook) counted(list string, n int) string {
	return strings.ReplaceAll(b.word(list, min(n, len(b.lists[list])-1)), "{n}", b.number(n))
}

// runs returns a side's runs as they are said in a score: "nothing", "one", "two".
func (b *Phrasebook) runs(n int) string {
	if n == 0 {
		return b.word("nothing", 0)
	}
	return b.number(n)
}

// to returns where a ball went by Retrosheet's zone, by the longest beginning that has a word; "" if none has.
func (b *Phrasebook) to(zone string) string {
	for ; zone != ""; zone = zone[:len(zone)-1] {
		if w := b.word("to."+zone, 0); w != "" {
			return w
		}
	}
	return ""
}

// list joins names: "Hale", "Hale and Ono", "Hale, Ono and Ruiz".
func (b *Phrasebook) list(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " " + b.word("and", 0) + " " + names[last]
}

// fill puts a text together; false if a gap outside of brackets is missing.
func fill(text string, g gaps) (string, bool) {
	var out strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "[{")
		if i < 0 {
			out.WriteString(text)
			break
		}
		out.WriteString(text[:i])
		closing := byte('}')
		if text[i] == '[' {
			closing = ']'
		}
		end := strings.IndexByte(text, closing)
		if end < i {
			return "", false
		}
		inside := text[i+1 : end]
		text = text[end+1:]
		if closing == ']' {
			part, _ := fill(inside, g)
			out.WriteString(part)
			continue
		}
		if g[inside] == "" {
			return "", false
		}
		out.WriteString(g[inside])
	}
	return out.String(), true
}

// Phrases returns everything the book can make the speaker say, each text once with all its parts and each word of each
// list once, for a test that a voice can read it. Names are missing: they are the clubs' own.
func (b *Phrasebook) Phrases() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(b.facts)) {
		for _, text := range b.facts[name].texts[speak] {
			all = append(all, sentence(b.sample(text)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.lists)) {
		for _, w := range b.lists[name] {
			all = append(all, sentence(strings.ReplaceAll(w, "{n}", b.number(2))))
		}
	}
	return all
}

// sample fills every gap of a text with a word that may stand there.
func (b *Phrasebook) sample(text string) string {
	g := gaps{
		"to": b.to("78"), "base": b.word("bases", 2), "position": b.word("positions", 6), "at": b.word("places", 6), "from": b.word("places", 4),
		"half": b.word("halves", 1), "inning": b.ordinal(7), "place": b.ordinal(5), "hi": b.number(5), "lo": b.runs(0),
		"runs": b.counted("runs", 2), "hits": b.counted("hits", 3), "errors": b.counted("errors", 1), "left": b.counted("left", 0),
		"outs": b.counted("outs", 2), "bases": b.word("on.5", 0), "countwords": b.number(2) + " " + b.word("and", 0) + " " + b.number(1),
		"inningswords": b.number(10), "scorewords": b.word("nothing", 0),
	}
	for text := text; ; {
		_, rest, ok := strings.Cut(text, "{")
		if !ok {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		text = after
		if g[name] == "" {
			g[name] = "Martin"
		}
	}
	filled, _ := fill(text, g)
	return filled
}
