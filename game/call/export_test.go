package call

import (
	"maps"
	"slices"
	"strings"
)

// Phrases returns all texts for the speaker with their optional parts and all words of the lists.
// Names are replaced by a sample.
func (b *Phrasebook) Phrases() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(b.entries)) {
		for _, text := range b.entries[name].texts[speak] {
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

// sample fills the placeholders of a text with possible values.
func (b *Phrasebook) sample(text string) string {
	v := values{
		"to": b.direction("78"), "base": b.word("bases", 2), "position": b.word("positions", 6),
		"at": b.word("places", 6), "from": b.word("places", 4), "half": b.word("halves", 1), "inning": b.ordinal(7),
		"place": b.ordinal(5), "hi": b.number(5), "lo": b.runs(0), "runs": b.plural("runs", 2),
		"hits": b.plural("hits", 3), "errors": b.plural("errors", 1), "left": b.plural("left", 0),
		"inningswords": b.number(10), "scorewords": b.word("nothing", 0),
	}
	for text := text; ; {
		_, rest, ok := strings.Cut(text, "{")
		if !ok {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		text = after
		if v[name] == "" {
			v[name] = "Martin"
		}
	}
	filled, _ := fill(text, v)
	return filled
}
