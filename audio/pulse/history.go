package pulse

// A history holds the samples that were written to a stream last, because the server cannot be asked for what
// it has buffered.
type history struct {
	limit  int // samples, at least, once so many were written
	parts  []part
	length int // samples in parts
}

// A part is samples that were written at once. They are not changed afterwards.
type part struct {
	samples []float32
	clip    bool // of a clip; otherwise silence around it
}

func (h *history) add(samples []float32, clip bool) {
	h.parts = append(h.parts, part{samples, clip})
	h.length += len(samples)
	for h.length-len(h.parts[0].samples) >= h.limit {
		h.length -= len(h.parts[0].samples)
		h.parts = h.parts[1:]
	}
}

// last returns the last n samples, fewer if the history is shorter.
func (h *history) last(n int) []float32 {
	n = min(n, h.length)
	samples := make([]float32, n)
	for i := len(h.parts) - 1; n > 0; i-- {
		p := h.parts[i].samples
		p = p[len(p)-min(len(p), n):]
		copy(samples[n-len(p):], p)
		n -= len(p)
	}
	return samples
}

// clips returns how many of the last n samples are of clips.
func (h *history) clips(n int) int {
	clips := 0
	for i := len(h.parts) - 1; n > 0 && i >= 0; i-- {
		length := min(len(h.parts[i].samples), n)
		if h.parts[i].clip {
			clips += length
		}
		n -= length
	}
	return clips
}
