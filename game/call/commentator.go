// Package call puts the events of a game into words: one line for the screen, in the scorer's language, and one
// for the speaker, in whole words.
//
// Its one law: it says only what the event contains. It names a fielder if the play credits one, a direction if
// the scorer noted one, a run if it counts. The same seed and revision always give the same words.
//
// All phrases are in english.txt, which documents its format; [ReadPhrasebook] reads a translation. The package
// decides which facts to report and in which order, the phrasebook how to phrase each.
package call

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/game"
)

// A Line is an event in words. Either text may be empty.
type Line struct {
	Screen string `json:"screen"`
	Speak  string `json:"speak"`
}

// A Commentator puts the events of one game into words. It never changes and may be shared.
type Commentator struct {
	phrasebook *Phrasebook
	seed       string
	clubs      [2]game.Club
	short      map[game.PlayerID]string
	full       map[game.PlayerID]string
}

// New returns the commentator of a game between two clubs, visitors first. The seed selects among phrases and can be
// guessed from them: use the game's id, never the seed of its dice.
func New(book *Phrasebook, clubs [2]game.Club, seed string) *Commentator {
	c := &Commentator{
		phrasebook: book, seed: seed, clubs: clubs, short: shortNames(clubs), full: map[game.PlayerID]string{},
	}
	for _, club := range clubs {
		for _, p := range club.Players {
			c.full[p.ID] = p.Name
		}
	}
	return c
}

// values are the values of a text's placeholders by name. An empty value counts as missing.
type values map[string]string

// medium distinguishes texts for the screen from texts for the speaker.
type medium int

const (
	screen medium = iota
	speak
)

// A lineBuilder builds a line, clause by clause.
type lineBuilder struct {
	*Commentator
	rev     uint64
	shared  values // of all clauses
	clauses [2][]string
}

func (c *Commentator) newLine(rev uint64) *lineBuilder {
	return &lineBuilder{Commentator: c, rev: rev, shared: values{}}
}

// add adds a clause for a key in each medium for which the phrasebook has one.
func (b *lineBuilder) add(key string, more values) {
	g := maps.Clone(b.shared)
	maps.Copy(g, more)
	for f := screen; f <= speak; f++ {
		if text := b.phrase(f, key, g); text != "" {
			b.clauses[f] = append(b.clauses[f], text)
		}
	}
}

// phrase returns a text for a key with its placeholders filled, "" if there is none.
func (b *lineBuilder) phrase(m medium, key string, v values) string {
	texts := b.phrasebook.texts(m, key)
	if len(texts) == 0 {
		return ""
	}
	first := b.pickIndex(len(texts), m, key)
	for i := range texts {
		if filled, ok := fill(texts[(first+i)%len(texts)], v); ok {
			return filled
		}
	}
	return ""
}

// pickIndex returns a number below n that depends only on seed, revision, medium and key.
func (b *lineBuilder) pickIndex(n int, m medium, key string) int {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s %s", m, key, b.seed)      // never fails
	return rand.New(rand.NewPCG(h.Sum64(), b.rev)).IntN(n) //nolint:gosec // selects phrases only
}

// line joins the clauses: with semicolons for the screen, as sentences for the speaker.
func (b *lineBuilder) line() Line {
	var l Line
	l.Screen = sentence(strings.Join(b.clauses[screen], "; "))
	spoken := make([]string, len(b.clauses[speak]))
	for i, clause := range b.clauses[speak] {
		spoken[i] = sentence(clause)
	}
	l.Speak = strings.Join(spoken, " ")
	return l
}

// sentence capitalizes a clause and adds a period.
func sentence(clause string) string {
	if clause == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(clause)
	clause = string(unicode.ToUpper(first)) + clause[size:]
	if strings.ContainsRune(".!?", rune(clause[len(clause)-1])) {
		return clause
	}
	return clause + "."
}

// Name returns a player's surname, or the full name if two players share the surname.
func (c *Commentator) Name(id game.PlayerID) string {
	if name, ok := c.short[id]; ok {
		return name
	}
	return string(id)
}

// fullName returns a player's full name, for the first appearance.
func (c *Commentator) fullName(id game.PlayerID) string {
	if name, ok := c.full[id]; ok {
		return name
	}
	return string(id)
}

// shortNames returns the name of each player in running text, see [Commentator.Name].
func shortNames(clubs [2]game.Club) map[game.PlayerID]string {
	bearers := map[string]int{}
	names := map[game.PlayerID]string{}
	for _, club := range clubs {
		for _, p := range club.Players {
			names[p.ID] = surname(p.Name)
			bearers[names[p.ID]]++
		}
	}
	for _, club := range clubs {
		for _, p := range club.Players {
			if bearers[names[p.ID]] > 1 || names[p.ID] == "" {
				names[p.ID] = p.Name
			}
		}
	}
	return names
}

// surname returns the last word of a name with its particles and without a suffix: "De La Cruz" of "Elly De La Cruz",
// "Tatis" of "Fernando Tatis Jr.".
func surname(name string) string {
	words := strings.Fields(name)
	for len(words) > 1 && strings.Contains(" jr. jr sr. sr ii iii iv ", " "+strings.ToLower(words[len(words)-1])+" ") {
		words = words[:len(words)-1]
	}
	first := len(words) - 1
	for first > 1 &&
		strings.Contains(" da das de del der den di do dos du el la las le los san st. ten van von ",
			" "+strings.ToLower(words[first-1])+" ") {
		first--
	}
	if first < 1 {
		return strings.Join(words, " ")
	}
	return strings.TrimSuffix(strings.Join(words[first:], " "), ",")
}
