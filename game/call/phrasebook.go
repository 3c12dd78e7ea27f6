package call

import (
	"bufio"
	_ "embed" // english.txt
	"fmt"
	"io"
	"strconv"
	"strings"
)

//go:embed english.txt
var english string

// A Phrasebook holds the phrases of a language: the texts for each key, and lists of words. It never changes and may be
// shared.
type Phrasebook struct {
	entries map[string]*phrases
	lists   map[string][]string
}

// phrases are the texts for one key.
type phrases struct {
	texts   [2][]string // by medium
	extends bool        // the texts of the parent key
}

// English returns the embedded English phrasebook.
func English() *Phrasebook {
	b, err := ReadPhrasebook(strings.NewReader(english))
	if err != nil {
		panic("english.txt: " + err.Error()) // embedded and tested
	}
	return b
}

// ReadPhrasebook reads a phrasebook in the format of english.txt. Its error names the line.
func ReadPhrasebook(r io.Reader) (*Phrasebook, error) {
	b := &Phrasebook{entries: map[string]*phrases{}, lists: map[string][]string{}}
	lines := bufio.NewScanner(r)
	key := ""
	for n := 1; lines.Scan(); n++ {
		var err error
		if key, err = b.readLine(lines.Text(), key); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read phrasebook: %w", err)
	}
	return b, nil
}

// readLine parses one line and returns the key that the following lines belong to.
func (b *Phrasebook) readLine(line, key string) (string, error) {
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
	if !ok || b.entries[name] != nil {
		return "", fmt.Errorf("%q is neither a list nor a new key", text)
	}
	b.entries[name] = &phrases{extends: adds}
	return name, nil
}

func (b *Phrasebook) readText(line, key string) error {
	if key == "" {
		return fmt.Errorf("%q belongs to no key", line)
	}
	which, text, _ := strings.Cut(line, " ")
	f := &b.entries[key].texts
	switch which {
	case "both":
		f[screen], f[speak] = append(f[screen], text), append(f[speak], text)
	case "screen":
		f[screen] = append(f[screen], text)
	case "speak":
		f[speak] = append(f[speak], text)
	default:
		return fmt.Errorf("%q: expected both, screen or speak", which)
	}
	if strings.Count(text, "{") != strings.Count(text, "}") || strings.Count(text, "[") != strings.Count(text, "]") {
		return fmt.Errorf("%q has an unclosed bracket", text)
	}
	return nil
}

// texts returns the texts for a key, or for its nearest parent.
func (b *Phrasebook) texts(m medium, key string) []string {
	var all []string
	for {
		if e := b.entries[key]; e != nil {
			all = append(all, e.texts[m]...)
			if !e.extends {
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

// word returns word i of a list, "" if there is none.
func (b *Phrasebook) word(list string, i int) string {
	if words := b.lists[list]; i >= 0 && i < len(words) {
		return words[i]
	}
	return ""
}

// number returns a number in words, in digits if the phrasebook has no word for it.
func (b *Phrasebook) number(n int) string {
	if w := b.word("numbers", n); w != "" {
		return w
	}
	return strconv.Itoa(n)
}

// ordinal returns "third" for 3, digits if the phrasebook has no word for it.
func (b *Phrasebook) ordinal(n int) string {
	if w := b.word("ordinals", n); w != "" {
		return w
	}
	return strconv.Itoa(n)
}

// plural returns "no runs", "one run", "two runs" from a list of forms.
func (b *Phrasebook) plural(list string, n int) string {
	return strings.ReplaceAll(b.word(list, min(n, len(b.lists[list])-1)), "{n}", b.number(n))
}

// runs returns the runs of a side in a score: "nothing", "one", "two".
func (b *Phrasebook) runs(n int) string {
	if n == 0 {
		return b.word("nothing", 0)
	}
	return b.number(n)
}

// direction returns the direction of a Retrosheet zone, by its longest prefix with a word, "" if there is none.
func (b *Phrasebook) direction(zone string) string {
	for ; zone != ""; zone = zone[:len(zone)-1] {
		if w := b.word("to."+zone, 0); w != "" {
			return w
		}
	}
	return ""
}

// joinNames joins names: "Hale", "Hale and Ono", "Hale, Ono and Ruiz".
func (b *Phrasebook) joinNames(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " " + b.word("and", 0) + " " + names[last]
}

// fill fills the placeholders of a text, and reports false if one outside brackets has no value.
func fill(text string, v values) (string, bool) {
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
		name := text[i+1 : end]
		text = text[end+1:]
		if closing == ']' {
			part, _ := fill(name, v)
			out.WriteString(part)
			continue
		}
		if v[name] == "" {
			return "", false
		}
		out.WriteString(v[name])
	}
	return out.String(), true
}
