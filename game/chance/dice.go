package chance

import (
	"crypto/sha256"
	"encoding/binary"

	"pressbox/game"
)

// Seed determines all random numbers of a game. Its hash is shown before the first pitch and the seed after the
// last, so that anyone can verify that it was fixed in advance and replay the game.
type Seed [32]byte

// Commitment returns the SHA-256 of the seed's 32 bytes.
func (s Seed) Commitment() [32]byte { return sha256.Sum256(s[:]) }

// Dice is the stream of random numbers of one turn: SHA-256 in counter mode, which a few lines in any language can
// check. The four numbers of block b of turn n are the four 8-byte groups of
//
//	SHA-256(seed ‖ n ‖ b)    n and b as eight bytes, big-endian, both from 0
//
// each the top 53 bits, read big-endian, divided by 2⁵³: at least 0 and less than 1. The numbers of a turn depend
// on nothing else, so a game continues after a restart from the decisions in its journal.
//
// The form of the day of a pitcher is drawn from the seed and the player's id, see form; what the bot calls from the
// seed and the number of the turn, see Judgment.
//
// A turn draws in this order, as far as it needs to: the official scorer's draw; plays between pitches and their
// results; a pitch that the batter takes; the class of the plate appearance; contact and fielder; where the batter
// and the runners end, at most four numbers; a throw behind a strikeout; the pitches, one number each.
type Dice struct {
	key   [len(Seed{}) + 16]byte // seed, turn, block
	block [sha256.Size]byte
	drawn uint64
	path  *branches // if set, draws follow it
}

// Dice returns the stream of turn n, counted from 0.
func (s Seed) Dice(n uint64) Dice {
	var d Dice
	copy(d.key[:], s[:])
	binary.BigEndian.PutUint64(d.key[len(s):], n)
	return d
}

// Judgment returns the number by which the bot of a side decides between calls of turn n, in [0, 1): the top 53 bits,
// divided by 2⁵³, of the first 8 bytes, big-endian, of
//
//	SHA-256(seed ‖ "bot" ‖ side ‖ n)    side as one byte, n as eight bytes, big-endian
//
// Only who knows the seed can foresee it, and everyone can verify it after the last pitch.
func (sim *Simulator) Judgment(side game.Side, n uint64) float64 {
	text := append(sim.seed[:len(sim.seed):len(sim.seed)], "bot"...)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(append(text, byte(side)), n))
	return unit(sum[:])
}

// four returns the four numbers in [0, 1), each the top 53 bits divided by 2⁵³ of 8 bytes, big-endian, of
//
//	SHA-256(seed ‖ what ‖ id)
func (s *Seed) four(what, id string) (all [4]float64) {
	var text [128]byte
	sum := sha256.Sum256(append(append(append(text[:0], s[:]...), what...), id...))
	for i := range all {
		all[i] = unit(sum[8*i:])
	}
	return all
}

// unit returns the number in [0, 1) that the first 8 bytes are.
func unit(b []byte) float64 { return float64(binary.BigEndian.Uint64(b)>>11) / (1 << 53) }

// Float64 returns the next number, in [0, 1).
func (d *Dice) Float64() float64 {
	const each = 8 // bytes
	at := d.drawn % (sha256.Size / each)
	if at == 0 {
		binary.BigEndian.PutUint64(d.key[len(d.key)-each:], d.drawn/(sha256.Size/each))
		d.block = sha256.Sum256(d.key[:])
	}
	d.drawn++
	return unit(d.block[each*at:])
}

// chance reports whether an event of probability p happens.
func (d *Dice) chance(p float64) bool {
	if d.path != nil {
		return d.path.pick([]float64{p, max(1-p, 0)}) == 0
	}
	return d.Float64() < p
}

// pick returns an index with probability in proportion to its weight, the last index with a weight if rounding
// exceeds the sum. At least one weight must be positive.
func (d *Dice) pick(weights []float64) int {
	if d.path != nil {
		return d.path.pick(weights)
	}
	left, last := d.Float64()*sum(weights), 0
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

func sum(all []float64) (sum float64) {
	for _, x := range all {
		sum += x
	}
	return sum
}
