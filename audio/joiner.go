package audio

// A Joiner joins clips of any rate into one stream of samples.
type Joiner struct {
	Rate int // of the stream; 0 means that of the first clip

	from      int        // rate of the last clip
	resampler *Resampler // from that rate; nil before the first clip
}

// Append appends the samples of the next clip to dst. The error is that of [NewResampler].
func (j *Joiner) Append(dst []float32, c Clip) ([]float32, error) {
	if j.Rate == 0 {
		j.Rate = c.Rate
	}
	if j.resampler == nil || c.Rate != j.from {
		dst = j.Flush(dst) // another voice speaks
		r, err := NewResampler(c.Rate, j.Rate)
		if err != nil {
			return nil, err
		}
		j.from, j.resampler = c.Rate, r
	}
	return j.resampler.Append(dst, c.Samples), nil
}

// Flush appends the samples that wait for the next clip to dst.
func (j *Joiner) Flush(dst []float32) []float32 {
	r := j.resampler
	if r == nil {
		return dst
	}
	j.resampler = nil
	return r.Flush(dst)
}
