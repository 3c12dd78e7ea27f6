package chance

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Seed is where all chance of a game comes from. Its hash is shown before the first pitch and the seed after the last, so
// that anyone can see that it was not chosen to suit, and run the game again.
type Seed [32]byte

// Commitment returns the SHA-256 of the seed's 32 bytes.
func (s Seed) Commitment() [32]byte { return sha256.Sum256(s[:]) }

// Dice is the stream of numbers of one turn: ChaCha8 as specified at https://c2sp.org/chacha8rand, which Go's math/rand/v2
// keeps for ever. Its key for turn n is the SHA-256 of the seed followed by n as eight bytes, big-endian; a turn's numbers
// depend on nothing else, so a game goes on after a restart from its journal of decisions.
//
// Each turn draws in this order, as much as it comes to: what happens between pitches (between.go) and how it ends; a
// pitch taken or wide by decision; the class of the plate appearance; error or contact; the fielder; where everybody
// ends, at most four numbers; the scorer's view of an extra base; the pitches, one number each.
type Dice struct{ stream rand.ChaCha8 }

// Turn returns the dice of turn n, counted from 0.
func (s Seed) Turn(n uint64) Dice {
	var key [len(s) + 8]byte
	copy(key[:], s[:])
	binary.BigEndian.PutUint64(key[len(s):], n)
	var d Dice
	d.stream.Seed(sha256.Sum256(key[:]))
	return d
}

// Float64 returns the next number, in [0, 1): the top 53 bits of the next 64.
func (d *Dice) Float64() float64 { return float64(d.stream.Uint64()>>11) / (1 << 53) }

// chance reports whether something of probability p happens.
func (d *Dice) chance(p float64) bool { return d.Float64() < p }

// pick returns an index with probability in proportion to its weight; the last index that has a weight if rounding eats
// the rest. The weights must not all be zero.
func (d *Dice) pick(weights []float64) int {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	left, last := d.Float64()*sum, 0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		if left < w {
			return i
		}
		left -= w
		last = i
	}
	return last
}
