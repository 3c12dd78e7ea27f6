package chance

import (
	"fmt"

	"pressbox/game"
)

// Pitches are the pitches of a plate appearance in Retrosheet's letters: B ball, C called strike, S swinging
// strike, F foul, X in play, H hit batter, V intentional ball, P pitch-out, L foul bunt; between pitches 1–3 a
// pick-off throw, > a runner going, and a period after each play that interrupts. It is a value; letters beyond 40
// are dropped.
type Pitches struct {
	letters [40]byte
	n       uint8
}

func (p Pitches) String() string { return string(p.letters[:p.n]) }

// MarshalText returns the letters.
func (p Pitches) MarshalText() ([]byte, error) { return p.letters[:p.n], nil }

// UnmarshalText parses the letters.
func (p *Pitches) UnmarshalText(text []byte) error {
	if len(text) > len(p.letters) {
		return fmt.Errorf("%d pitch letters, expected at most %d", len(text), len(p.letters))
	}
	var read Pitches
	read.n = uint8(copy(read.letters[:], text)) //nolint:gosec // at most 40
	*p = read
	return nil
}

// Count returns the balls and strikes after the pitches.
func (p *Pitches) Count() game.Count {
	var c game.Count
	for _, l := range p.letters[:p.n] {
		c = c.After(l)
	}
	return c
}

// Thrown returns the number of pitches.
func (p *Pitches) Thrown() int {
	n := 0
	for _, l := range p.letters[:p.n] {
		if l >= 'A' {
			n++
		}
	}
	return n
}

func (p *Pitches) add(letter byte) {
	if int(p.n) < len(p.letters) {
		p.letters[p.n] = letter
		p.n++
	}
}

// insertLast adds a letter before the last one.
func (p *Pitches) insertLast(letter byte) {
	last := p.letters[p.n-1]
	p.letters[p.n-1] = letter
	p.add(last)
}

// Endings of a plate appearance, as far as the pitches show them.
const (
	endsInStrikeout = iota
	endsInWalk
	endsInHitByPitch
	endsInPlay
	endings
)

// Results of a pitch, in the order of pitchResults.
const (
	ball = iota
	called
	swinging
	foul
	inPlay
)

// pitchResults returns P(result | count) by balls and strikes. 2,873,859 pitches of 2015–17 and 2019.
func pitchResults() [4][3][5]float64 {
	return [4][3][5]float64{
		{{.391, .317, .068, .114, .109}, {.412, .109, .118, .184, .174}, {.449, .038, .135, .199, .176}},
		{{.342, .233, .094, .166, .164}, {.347, .111, .123, .211, .206}, {.378, .041, .142, .227, .209}},
		{{.308, .251, .083, .176, .180}, {.290, .119, .119, .236, .234}, {.298, .048, .137, .263, .251}},
		{{.326, .573, .014, .042, .045}, {.268, .163, .089, .235, .244}, {.218, .052, .120, .304, .305}},
	}
}

// countChain is the Markov chain of counts, conditioned on the ending of the plate appearance.
type countChain struct {
	reach         [endings][4][3]float64    // chance of an ending from a count; see endsInHitByPitch
	steps         [endings][4][3][6]float64 // weights of ball … inPlay, and of a hit batter
	takeBallShare [4][3]float64             // chance that a taken pitch is a ball
}

func newCountChain() countChain {
	var c countChain
	results := pitchResults()
	for b := 3; b >= 0; b-- {
		for s := 2; s >= 0; s-- {
			r := results[b][s]
			c.takeBallShare[b][s] = r[ball] + swingBallShare*(r[swinging]+r[foul]+r[inPlay])
			for e := range endings {
				c.condition(e, b, s, r)
			}
		}
	}
	return c
}

// swingBallShare is the share of swings at pitches outside the zone: batters swing at 30 % outside and 67 %
// inside, and 48 % are inside (estimate, from published plate-discipline figures of those seasons).
const swingBallShare = .33

// condition computes one count from the counts that follow it.
func (c *countChain) condition(e, b, s int, r [5]float64) {
	w := &c.steps[e][b][s]
	w[ball] = r[ball] * c.reachFrom(e, b+1, s)
	w[called] = r[called] * c.reachFrom(e, b, s+1)
	w[swinging] = r[swinging] * c.reachFrom(e, b, s+1)
	if e == endsInPlay {
		w[inPlay] = r[inPlay]
	}
	if e == endsInHitByPitch {
		w[5] = r[ball]
	}
	sum := w[ball] + w[called] + w[swinging] + w[inPlay] + w[5]
	if s == 2 { // a foul keeps the count
		c.reach[e][b][s] = sum / (1 - r[foul])
		w[foul] = r[foul] * c.reach[e][b][s]
		return
	}
	w[foul] = r[foul] * c.reach[e][b][s+1]
	c.reach[e][b][s] = sum + w[foul]
}

// reachFrom returns the chance of an ending from a count, or from the end of the plate appearance.
func (c *countChain) reachFrom(e, b, s int) float64 {
	switch {
	case b == 4:
		return indicator(e == endsInWalk)
	case s == 3:
		return indicator(e == endsInStrikeout)
	default:
		return c.reach[e][b][s]
	}
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// relativeChance returns the chance of an ending from a count relative to that from 0-0.
func (c *countChain) relativeChance(e int, at game.Count) float64 {
	return c.reach[e][at.Balls][at.Strikes] / c.reach[e][0][0]
}

// drawPitches draws pitches up to the ending and returns the count before the last one.
func (c *countChain) drawPitches(p *Pitches, e int, d *Dice) game.Count {
	at := p.Count()
	for {
		letter := "BCSFXH"[d.pick(c.steps[e][at.Balls][at.Strikes][:])]
		p.add(letter)
		next := at.After(letter)
		if letter == 'X' || letter == 'H' || next.Balls == 4 || next.Strikes == 3 {
			return at
		}
		at = next
	}
}
