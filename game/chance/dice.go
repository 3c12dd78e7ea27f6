package chance

import (
	"crypto/sha256"
	"encoding/binary"
)

// Seed is where all chance of a game comes from. Its hash is shown before the first pitch and the seed after the last, so
// that anyone can see that it was not chosen to suit, and run the game again.
type Seed [32]byte

// Commitment returns the SHA-256 of the seed's 32 bytes.
func (s Seed) Commitment() [32]byte { return sha256.Sum256(s[:]) }

// Dice is the stream of numbers of one turn. They are SHA-256 in counter mode, so that a few lines in any language check
// them: the four numbers of block b of turn n are the four eights of bytes of
//
//	SHA-256(seed ‖ n ‖ b)    n and b as eight bytes, big-endian, both from 0
//
// and each is its top 53 bits, read big-endian, divided by 2⁵³: at least 0 and less than 1. A turn's numbers depend on
// nothing else, so a game goes on after a restart from its journal of decisions.
//
// Each turn draws in this order, as much as it comes to: the scorer's view; what happens between pitches and how it ends;
// a pitch that the batter lets go by; the class of the plate appearance; contact and fielder; where everybody ends, at
// most four numbers; a throw behind a strikeout; the pitches, one number each.
type Dice struct {
	key   [len(Seed{}) + 16]byte // seed, turn, block
	block [sha256.Size]byte
	drawn uint64
}

// Dice returns the dice of turn n, counted from 0.
func (s Seed) Dice(n uint64) Dice {
	var d Dice
	copy(d.key[:], s[:])
	binary.BigEndian.PutUint64(d.key[len(s):], n)
	return d
}

// Float64 returns the next number, in [0, 1).
func (d *Dice) Float64() float64 {
	const each = 8 // bytes
	at := d.drawn % (sha256.Size / each)
	if at == 0 {
		binary.BigEndian.PutUint64(d.key[len(d.key)-each:], d.drawn/(sha256.Size/each))
		d.block = sha256.Sum256(d.key[:])
	}
	d.drawn++
	return float64(binary.BigEndian.Uint64(d.block[each*at:])>>11) / (1 << 53)
}

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
