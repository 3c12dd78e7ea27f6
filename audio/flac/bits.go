package flac

// A bitWriter appends bits to data, the most significant first.
type bitWriter struct {
	data    []byte
	pending uint64 // the last count bits are not in data yet
	count   int    // less than 8
}

// write writes the last n bits of v, at most 32.
func (b *bitWriter) write(v uint32, n int) {
	b.pending = b.pending<<n | uint64(v)
	for b.count += n; b.count >= 8; {
		b.count -= 8
		b.data = append(b.data, byte(b.pending>>b.count)) //nolint:gosec // one byte of them
	}
}

// unary writes n zeros and a one.
func (b *bitWriter) unary(n uint32) {
	for ; n >= 32; n -= 32 {
		b.write(0, 32)
	}
	b.write(1, int(n)+1)
}

// align fills the last byte with zeros.
func (b *bitWriter) align() { b.write(0, (8-b.count)%8) }

// crc8 returns the checksum of a frame's header: x⁸ + x² + x + 1.
func crc8(data []byte) (sum uint8) {
	for _, c := range data {
		sum ^= c
		for range 8 {
			carry := sum >> 7
			sum = sum<<1 ^ carry*0x07
		}
	}
	return sum
}

// crc16 returns the checksum of a frame: x¹⁶ + x¹⁵ + x² + 1.
func crc16(data []byte) (sum uint16) {
	for _, c := range data {
		sum ^= uint16(c) << 8
		for range 8 {
			carry := sum >> 15
			sum = sum<<1 ^ carry*0x8005
		}
	}
	return sum
}
