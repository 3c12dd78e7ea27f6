package chance

import (
	"fmt"

	"pressbox/game"
)

// Pitches are those of one plate appearance in Retrosheet's letters: B ball, C called, S swinging, F foul, X in play,
// H hit batter, V wide by intention, P pitch-out, L bunted foul, and between pitches 1–3 a pick-off throw, > a runner
// going, and a full stop after each play that interrupts. It is a value; what goes beyond 40 is dropped.
type Pitches struct {
	letters [40]byte
	n       uint8
}

// String returns the letters.
func (p Pitches) String() string { return string(p.letters[:p.n]) }

// MarshalText writes the letters.
func (p Pitches) MarshalText() ([]byte, error) { return p.letters[:p.n], nil }

// UnmarshalText reads the letters.
func (p *Pitches) UnmarshalText(text []byte) error {
	if len(text) > len(p.letters) {
		return fmt.Errorf("%d pitches to one batter", len(text))
	}
	var read Pitches
	read.n = uint8(copy(read.letters[:], text)) //nolint:gosec // at most 40
	*p = read
	return nil
}

// Count returns balls and strikes after the pitches.
func (p *Pitches) Count() game.Count {
	var c game.Count
	for _, l := range p.letters[:p.n] {
		c = c.After(l)
	}
	return c
}

// Thrown returns how many pitches there were.
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

// What ends a plate appearance, as far as the pitches tell.
const (
	endsK = iota
	endsWalk
	endsHit // by the pitch
	endsBall
	endings
)

// Results of one pitch, in the order of pitchResults.
const (
	ball = iota
	called
	swinging
	foul
	inPlay
)

// pitchResults is P(result | count), by balls and strikes: ball, called, swinging, foul, in play. 2,873,859 pitches of
// 2015–17 and 2019.
func pitchResults() [4][3][5]float64 {
	return [4][3][5]float64{
		{{.391, .317, .068, .114, .109}, {.412, .109, .118, .184, .174}, {.449, .038, .135, .199, .176}},
		{{.342, .233, .094, .166, .164}, {.347, .111, .123, .211, .206}, {.378, .041, .142, .227, .209}},
		{{.308, .251, .083, .176, .180}, {.290, .119, .119, .236, .234}, {.298, .048, .137, .263, .251}},
		{{.326, .573, .014, .042, .045}, {.268, .163, .089, .235, .244}, {.218, .052, .120, .304, .305}},
	}
}

// counts is the chain of counts conditioned on how it ends: exactly what a pitcher's pitches look like to those who know
// the outcome.
type counts struct {
	reach [endings][4][3]float64    // chance to end so from a count; for endsHit in balls, of which a share hits
	steps [endings][4][3][6]float64 // weights of ball … inPlay, and last of the ball that hits
	take  [4][3]float64             // chance that a pitch is a ball when the batter lets it go
}

func newCounts() counts {
	var c counts
	results := pitchResults()
	for b := 3; b >= 0; b-- {
		for s := 2; s >= 0; s-- {
			r := results[b][s]
			c.take[b][s] = r[ball] + wideSwings*(r[swinging]+r[foul]+r[inPlay])
			for e := range endings {
				c.condition(e, b, s, r)
			}
		}
	}
	return c
}

// wideSwings is the share of swings at pitches outside the zone: batters swing at 30 % outside and 67 % inside, and 48 %
// are inside (estimate, from published plate-discipline figures of those seasons).
const wideSwings = .33

// condition fills one cell from those that can follow it.
func (c *counts) condition(e, b, s int, r [5]float64) {
	w := &c.steps[e][b][s]
	w[ball] = r[ball] * c.from(e, b+1, s)
	w[called] = r[called] * c.from(e, b, s+1)
	w[swinging] = r[swinging] * c.from(e, b, s+1)
	if e == endsBall {
		w[inPlay] = r[inPlay]
	}
	if e == endsHit {
		w[5] = r[ball]
	}
	sum := w[ball] + w[called] + w[swinging] + w[inPlay] + w[5]
	if s == 2 { // a foul changes nothing
		c.reach[e][b][s] = sum / (1 - r[foul])
		w[foul] = r[foul] * c.reach[e][b][s]
		return
	}
	w[foul] = r[foul] * c.reach[e][b][s+1]
	c.reach[e][b][s] = sum + w[foul]
}

// from returns the chance of an ending from a count, which may be the end itself.
func (c *counts) from(e, b, s int) float64 {
	switch {
	case b == 4:
		return share(e == endsWalk)
	case s == 3:
		return share(e == endsK)
	default:
		return c.reach[e][b][s]
	}
}

func share(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// odds returns how much likelier an ending is from a count than it was at the start.
func (c *counts) odds(e int, at game.Count) float64 {
	return c.reach[e][at.Balls][at.Strikes] / c.reach[e][0][0]
}

// throw draws pitches until the plate appearance ends as it did, and returns the count before the last.
func (c *counts) throw(p *Pitches, e int, d *Dice) game.Count {
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
