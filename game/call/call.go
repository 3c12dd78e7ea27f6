// Package call says what happened: each event of a game as a line for the screen, in scorer's language, and one for the
// speaker, in whole words.
//
// Its one law: it says nothing that the event does not hold. A fielder is named when the play credits him, a direction
// when the scorer noted one, a run when it counted. The same seed and revision always give the same words.
//
// All text is in english.txt, which says how it is written; [ReadPhrasebook] takes a translation. The package decides which
// facts are told and in which order, the book how each may be put.
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

// A Line is one event in words. Either part may be empty, when there is nothing to say in that form.
type Line struct {
	Screen string `json:"screen"`
	Speak  string `json:"speak"`
}

// A Commentator calls one game. It never changes and may be shared.
type Commentator struct {
	book  *Phrasebook
	seed  string
	clubs [2]game.Club
	short map[game.PlayerID]string
	full  map[game.PlayerID]string
}

// New returns the caller of a game between two clubs, visitors first. The seed varies the words and can be guessed from
// them: give it the game's id, never the seed of its dice.
func New(book *Phrasebook, clubs [2]game.Club, seed string) *Commentator {
	c := &Commentator{book: book, seed: seed, clubs: clubs, short: shortNames(clubs), full: map[game.PlayerID]string{}}
	for _, club := range clubs {
		for _, p := range club.Players {
			c.full[p.ID] = p.Name
		}
	}
	return c
}

// Gaps are what fills the gaps of a text, by name. An empty one counts as missing.
type gaps map[string]string

// A form is one of the two ways to say a fact.
type form int

const (
	screen form = iota
	speak
)

// A draft is a line being written, clause by clause.
type draft struct {
	*Commentator
	rev     uint64
	gaps    gaps // for every clause
	clauses [2][]string
}

func (c *Commentator) draft(rev uint64) *draft {
	return &draft{Commentator: c, rev: rev, gaps: gaps{}}
}

// add says one fact in both forms, as far as the book has words for it.
func (d *draft) add(key string, more gaps) {
	g := maps.Clone(d.gaps)
	maps.Copy(g, more)
	for f := screen; f <= speak; f++ {
		if text := d.choose(f, key, g); text != "" {
			d.clauses[f] = append(d.clauses[f], text)
		}
	}
}

// choose fills one of the texts that say a fact with these gaps; "" if there is none.
func (d *draft) choose(f form, key string, g gaps) string {
	texts := d.book.texts(f, key)
	if len(texts) == 0 {
		return ""
	}
	first := d.draw(len(texts), f, key)
	for i := range texts {
		if filled, ok := fill(texts[(first+i)%len(texts)], g); ok {
			return filled
		}
	}
	return ""
}

// draw returns a number below n that depends on the seed, the revision, the form and the fact alone.
func (d *draft) draw(n int, f form, key string) int {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s %s", f, key, d.seed)      // a hash takes everything
	return rand.New(rand.NewPCG(h.Sum64(), d.rev)).IntN(n) //nolint:gosec // words, not dice
}

// line joins the clauses: with semicolons for the screen, as sentences for the speaker.
func (d *draft) line() Line {
	var l Line
	l.Screen = sentence(strings.Join(d.clauses[screen], "; "))
	said := make([]string, len(d.clauses[speak]))
	for i, clause := range d.clauses[speak] {
		said[i] = sentence(clause)
	}
	l.Speak = strings.Join(said, " ")
	return l
}

// sentence gives a clause its capital and its full stop.
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

// Name returns how a player is called in running text: by his surname, or in full where two share one.
func (c *Commentator) Name(id game.PlayerID) string {
	if name, ok := c.short[id]; ok {
		return name
	}
	return string(id)
}

// fullName returns a player's whole name, for his first appearance.
func (c *Commentator) fullName(id game.PlayerID) string {
	if name, ok := c.full[id]; ok {
		return name
	}
	return string(id)
}

// shortNames returns the surname of everybody, the whole name of those who share one.
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

// surname returns the last word of a name with the small words before it: "De La Cruz" of "Elly De La Cruz", "Tatis" of
// "Fernando Tatis Jr.".
func surname(name string) string {
	words := strings.Fields(name)
	for len(words) > 1 && strings.Contains(" jr. jr sr. sr ii iii iv ", " "+strings.ToLower(words[len(words)-1])+" ") {
		words = words[:len(words)-1]
	}
	first := len(words) - 1
	for first > 1 && strings.Contains(" da das de del der den di do dos du el la las le los san st. ten van von ", " "+strings.ToLower(words[first-1])+" ") {
		first--
	}
	if first < 1 {
		return strings.Join(words, " ")
	}
	return strings.TrimSuffix(strings.Join(words[first:], " "), ",")
}
