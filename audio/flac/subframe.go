package flac

import "math/bits"

const (
	maxOrder      = 4  // of the fixed predictors
	maxPartitions = 5  // log2 of the partitions of a block
	maxParameter  = 14 // of a Rice code; 15 has another meaning
)

// subframe writes the samples of a block as the residual of the best fixed predictor, or verbatim if that is
// shorter (RFC 9639 §9.2).
func (b *bitWriter) subframe(samples []int32) {
	order, residual := predict(samples)
	coding := code(residual, len(samples), order)
	if order*sampleBits+coding.bits >= len(samples)*sampleBits {
		b.write(0b000001<<1, 8)
		b.verbatim(samples)
		return
	}
	b.write(uint32(0b001000|order)<<1, 8) //nolint:gosec // at most 4
	b.verbatim(samples[:order])
	b.write(0, 2)                         // parameters of 4 bits
	b.write(uint32(coding.partitions), 4) //nolint:gosec // at most 5
	for i, part := range split(residual, len(samples), order, coding.partitions) {
		k := coding.parameters[i]
		b.write(uint32(k), 4) //nolint:gosec // at most 14
		for _, u := range part {
			b.unary(u >> k)
			b.write(u&(1<<k-1), k)
		}
	}
}

func (b *bitWriter) verbatim(samples []int32) {
	for _, s := range samples {
		b.write(uint32(uint16(s)), sampleBits) //nolint:gosec // the same 16 bits
	}
}

// predict returns the order of the fixed predictor with the smallest residual, and that residual without the
// samples before it. Its numbers are unsigned: the last bit is the sign.
func predict(samples []int32) (order int, residual []uint32) {
	difference := append([]int32(nil), samples...)
	best := append([]int32(nil), samples...)
	smallest := magnitude(best)
	for n := 1; n <= min(maxOrder, len(samples)-1); n++ {
		for i := len(difference) - 1; i >= n; i-- {
			difference[i] -= difference[i-1]
		}
		if m := magnitude(difference[n:]); m < smallest {
			order, smallest = n, m
			copy(best, difference)
		}
	}
	residual = make([]uint32, 0, len(samples)-order)
	for _, d := range best[order:] {
		residual = append(residual, uint32(d<<1^d>>31)) //nolint:gosec // the sign becomes the last bit
	}
	return order, residual
}

// magnitude returns the sum of the absolute values.
func magnitude(values []int32) (sum int64) {
	for _, v := range values {
		sum += int64(max(v, -v))
	}
	return sum
}

// A coding is a way to write a residual in Rice codes.
type coding struct {
	partitions int   // log2 of their number
	parameters []int // one of each partition
	bits       int   // of the subframe, without its first byte and warm-up samples
}

// code returns the shortest coding of a residual of a block.
func code(residual []uint32, block, order int) (best coding) {
	for n := 0; n <= maxPartitions && block%(1<<n) == 0 && block>>n > order; n++ {
		c := coding{partitions: n, bits: 2 + 4}
		for _, part := range split(residual, block, order, n) {
			k, size := parameter(part)
			c.parameters = append(c.parameters, k)
			c.bits += 4 + size
		}
		if n == 0 || c.bits < best.bits {
			best = c
		}
	}
	return best
}

// split returns the 1<<n partitions of a residual. The first lacks the samples before the residual.
func split(residual []uint32, block, order, n int) [][]uint32 {
	parts := [][]uint32{residual[:block>>n-order]}
	for rest := residual[block>>n-order:]; len(rest) > 0; rest = rest[block>>n:] {
		parts = append(parts, rest[:block>>n])
	}
	return parts
}

// parameter returns a good Rice parameter of a partition, and its size in bits.
func parameter(part []uint32) (k, size int) {
	sum := uint64(0)
	for _, u := range part {
		sum += uint64(u)
	}
	k = min(maxParameter, max(0, bits.Len64(sum/uint64(max(1, len(part))))-1))
	size = len(part) * (k + 1)
	for _, u := range part {
		size += int(u >> k)
	}
	return k, size
}
