package audio_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"pressbox/audio"
	"pressbox/packaging/check"
)

func TestLimit_exactBelowKnee(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		gain := rapid.Float32Range(0, 4).Draw(t, "gain")
		s := rapid.Float32Range(-1, 1).Draw(t, "sample")
		got := []float32{s}
		audio.Limit(got, gain)
		if product := s * gain; max(product, -product) <= 0.5 && got[0] != product {
			t.Fatalf("Limit(%v, %v) = %v, want exactly %v", s, gain, got[0], product)
		}
	})
}

func TestLimit_monotonicUpToCeiling(t *testing.T) {
	t.Parallel()
	ramp := make([]float32, 200_001)
	for i := range ramp {
		ramp[i] = float32(i)/10_000 - 10
	}
	audio.Limit(ramp, 1)
	for i := 1; i < len(ramp); i++ {
		check.Require(t, ramp[i] >= ramp[i-1], "Limit falls from %v to %v at sample %d", ramp[i-1], ramp[i], i)
		rise := ramp[i] - ramp[i-1]
		check.Require(t, rise <= 1.01e-4, "Limit leaps by %v at sample %d", rise, i)
	}
	last := ramp[len(ramp)-1]
	check.That(t, last <= audio.Ceiling && last >= audio.Ceiling-1e-4, "the loudest sample is %v", last)
	check.That(t, ramp[0] == -ramp[len(ramp)-1],
		"Limit(-10) = %v and Limit(10) = %v are not symmetric", ramp[0], ramp[len(ramp)-1])
}

func TestLimit_urgentIsNotClipped(t *testing.T) {
	t.Parallel()
	samples := sine(997, 22050, 22050, 1)
	audio.Limit(samples, 3) // far beyond the ceiling
	for i, s := range samples {
		urgent := s * audio.UrgentGain
		check.Require(t, urgent > -1 && urgent < 1, "urgent sample %d is %v, want it inside ±1", i, urgent)
	}
}

func TestLimit_invalidSamples(t *testing.T) {
	t.Parallel()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	got, want := []float32{nan, inf, -inf, math.MaxFloat32}, []float32{0, audio.Ceiling, -audio.Ceiling, audio.Ceiling}
	audio.Limit(got, 2)
	check.That(t, slices.Equal(got, want), "Limit by 2: %v, want %v", got, want)
}

func TestLimit_noAllocation(t *testing.T) {
	samples := sine(440, 22050, 22050, 1)
	n := testing.AllocsPerRun(10, func() { audio.Limit(samples, 1.01) })
	check.That(t, n == 0, "Limit allocates %v times, want never", n)
}

// A resampled sine is the same sine at the other rate and with the same phase; the difference is noise.
func TestResampler_sine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from, to  int
		frequency float64
	}{
		{22050, 24000, 100},
		{22050, 24000, 1000},
		{22050, 24000, 9000},
		{16000, 24000, 6500},
		{24000, 22050, 9000},
		{48000, 16000, 6000},
		{44100, 48000, 18000},
		{22050, 22050, 9000},
		{8001, 23999, 3000},
	} {
		r := newResampler(t, tt.from, tt.to)
		got := r.Flush(r.Append(nil, sine(tt.frequency, tt.from, tt.from, 0.5)))
		want := sine(tt.frequency, tt.to, tt.to, 0.5)
		check.Require(t, len(got) == len(want), "a second from %d to %d Hz: %d samples", tt.from, tt.to, len(got))
		edge := tt.to / 50 // a sine with abrupt ends has no exact form
		snr := ratio(want[edge:len(want)-edge], got[edge:len(got)-edge])
		check.That(t, snr >= 80,
			"%v Hz from %d to %d Hz: %.1f dB above the noise, want at least 80", tt.frequency, tt.from, tt.to, snr)
	}
}

func TestResampler_noAliasing(t *testing.T) {
	t.Parallel()
	r := newResampler(t, 48000, 16000)
	got := r.Flush(r.Append(nil, sine(9000, 48000, 48000, 0.5)))
	loud := slices.Max(got[1000 : len(got)-1000])
	check.That(t, loud <= 1e-4, "9 kHz at a rate of 16 kHz: folded back at %v, want below 1e-4", loud)
}

func TestResampler_independentOfPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(4000, 48000).Draw(t, "from")
		to := rapid.IntRange(4000, 48000).Draw(t, "to")
		input := sine(1000, from, rapid.IntRange(0, 3000).Draw(t, "length"), 0.9)
		whole := newResampler(t, from, to)
		want := whole.Flush(whole.Append(nil, input))
		pieces := newResampler(t, from, to)
		got := []float32(nil)
		for rest := input; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			got = pieces.Append(got, rest[:n])
			rest = rest[n:]
		}
		got = pieces.Flush(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%d samples from %d to %d Hz differ if they arrive in pieces (%d and %d samples)",
				len(input), from, to, len(got), len(want))
		}
	})
}

func TestNewResampler_rejectsRates(t *testing.T) {
	t.Parallel()
	for _, tt := range [][2]int{{0, 24000}, {22050, -1}, {22050, 1 << 30}} {
		check.That(t, check.Err(audio.NewResampler(tt[0], tt[1])) != nil,
			"NewResampler(%d, %d) succeeds, want an error", tt[0], tt[1])
	}
}

func TestWriteWAV_roundTrip(t *testing.T) {
	t.Parallel()
	clip := audio.Clip{Rate: 22050, Samples: append(sine(440, 22050, 999, 0.9), 1, -1, 0)}
	var file bytes.Buffer
	check.NoError(t, audio.WriteWAV(&file, clip))
	check.Equal(t, int(binary.LittleEndian.Uint32(file.Bytes()[4:])), file.Len()-8, "the size in the header")
	stream := audio.AppendS16LE(audio.WAVHeader(clip.Rate), clip.Samples)
	for name, b := range map[string][]byte{"file": file.Bytes(), "stream": stream} {
		got, err := audio.DecodeWAV(iotest.OneByteReader(bytes.NewReader(b)))
		check.NoError(t, err)
		check.Equal(t, got.Rate, clip.Rate, "%s: rate", name)
		check.Require(t, len(got.Samples) == len(clip.Samples), "%s: %d samples", name, len(got.Samples))
		for i, s := range got.Samples {
			check.Require(t, math.Abs(float64(s-clip.Samples[i])) <= 0.51/32767,
				"%s: sample %d is %v, want %v", name, i, s, clip.Samples[i])
		}
	}
}

func TestDecodeWAV_formats(t *testing.T) {
	t.Parallel()
	half := binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.5))
	const bit = 1. / 32768
	double := binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.5))
	for name, tt := range map[string]struct {
		file []byte
		want []float32
	}{
		"float":      {riff(3, 1, 32, half), []float32{0.5}},
		"stereo":     {riff(1, 2, 16, []byte{0xFF, 0x7F, 0, 0}), []float32{0.5}},
		"extensible": {riff(0xFFFE, 1, 16, []byte{0, 0x80}), []float32{-1}},
		"extra byte": {riff(1, 1, 16, []byte{0, 0, 7}), []float32{0}},
		"8 bits":     {riff(1, 1, 8, []byte{128, 255, 1}), []float32{0, 1, -1}},
		"24 bits":    {riff(1, 1, 24, []byte{0, 0, 0x40, 0, 0, 0xC0}), []float32{0.5, -0.5}},
		"32 bits":    {riff(1, 1, 32, []byte{0, 0, 0, 0x40}), []float32{0.5}},
		"64 bits":    {riff(3, 1, 64, double), []float32{0.5}},
		"A-law":      {riff(6, 1, 8, []byte{0xD5, 0x55, 0xAA, 0x2A}), []float32{8 * bit, -8 * bit, .984375, -.984375}},
		"µ-law":      {riff(7, 1, 8, []byte{0xFF, 0x7F, 0x80, 0x00}), []float32{0, 0, 32124 * bit, -32124 * bit}},
		"no sample":  {riff(1, 1, 16, nil), nil},
	} {
		got, err := audio.DecodeWAV(bytes.NewReader(tt.file))
		check.That(t, err == nil && slices.EqualFunc(got.Samples, tt.want, near),
			"%s: %v, %v; want %v", name, got.Samples, err, tt.want)
	}
	for name, file := range map[string][]byte{
		"empty":       nil,
		"text":        []byte("hello, this is not a WAV file"),
		"12 bits":     riff(1, 1, 12, nil),
		"ADPCM":       riff(2, 1, 4, nil),
		"33 channels": riff(1, 33, 16, nil),
		"no channels": riff(1, 0, 16, nil),
		"no data":     riff(1, 1, 16, nil)[:50],
		"no format":   append([]byte("RIFF\x00\x00\x00\x00WAVEdata\x02\x00\x00\x00"), 0, 0),
	} {
		check.ErrorIs(t, check.Err(audio.DecodeWAV(bytes.NewReader(file))), audio.ErrNotWAV, "%s", name)
	}
}

// near reports whether two samples differ by less than what 16 bits can express.
func near(x, y float32) bool { return math.Abs(float64(x-y)) < 1./(1<<16) }

// A sound is as loud as speech however loud it was and whatever pause it has, as far as it is not noise.
func TestEven(t *testing.T) {
	t.Parallel()
	const rate = 24000
	for name, tt := range map[string]struct {
		sound []float32
		want  float64 // dBFS
	}{
		"quiet":          {sine(1000, rate, rate, 0.01), -18},
		"loud":           {sine(1000, rate, rate, 1), -18},
		"with a pause":   {append(make([]float32, rate), sine(1000, rate, rate, 0.1)...), -21},
		"almost silence": {sine(1000, rate, rate, 0.001), -33.5},
		"silence":        {make([]float32, rate), math.Inf(-1)},
		"none":           {nil, math.NaN()},
	} {
		for i := range tt.sound {
			tt.sound[i] += 0.3
		}
		audio.Even(audio.Clip{Rate: rate, Samples: tt.sound})
		square, sum := 0.0, 0.0
		for _, s := range tt.sound {
			square, sum = square+float64(s)*float64(s), sum+float64(s)
			check.Require(t, math.Abs(float64(s)) <= audio.Ceiling, "%s: %v is above the ceiling", name, s)
		}
		n := float64(len(tt.sound))
		got := 10 * math.Log10(square/n)
		check.That(t, got == tt.want || math.Abs(got-tt.want) < 0.3 || math.IsNaN(tt.want), "%s: %.1f dBFS", name, got)
		check.That(t, n == 0 || math.Abs(sum/n) < 0.001, "%s: its mean is %v", name, sum/n)
	}
}

func FuzzDecodeWAV(f *testing.F) {
	f.Add(riff(1, 1, 16, []byte{1, 2, 3, 4}))
	f.Add(riff(3, 2, 32, make([]byte, 16)))
	f.Add(riff(0xFFFE, 1, 16, []byte{0, 0x80}))
	f.Add(audio.WAVHeader(22050))
	f.Fuzz(func(t *testing.T, file []byte) {
		clip, err := audio.DecodeWAV(bytes.NewReader(file))
		if err != nil {
			check.Require(t, errors.Is(err, audio.ErrNotWAV), "%v is not ErrNotWAV", err)
			return
		}
		check.Require(t, clip.Rate > 0 && len(clip.Samples) <= len(file),
			"%d samples at %d Hz out of %d bytes", len(clip.Samples), clip.Rate, len(file))
		for i, s := range clip.Samples {
			check.Require(t, s >= -1 && s <= 1, "sample %d is %v, outside [-1, 1]", i, s)
		}
	})
}

// riff returns a WAV file of 16 kHz with the data; extensible ones have PCM.
func riff(tag, channels, bits uint16, data []byte) []byte {
	file := []byte("RIFF\x00\x00\x00\x00WAVELIST\x03\x00\x00\x00abc\x00fmt \x28\x00\x00\x00")
	file = binary.LittleEndian.AppendUint16(file, tag)
	file = binary.LittleEndian.AppendUint16(file, channels)
	file = binary.LittleEndian.AppendUint32(file, 16000)
	file = append(file, make([]byte, 6)...)
	file = binary.LittleEndian.AppendUint16(file, bits)
	file = append(file, make([]byte, 8)...)
	file = append(file, 1, 0)
	file = append(file, make([]byte, 14)...)
	file = append(file, "data"...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(data)))
	return append(file, data...)
}

func newResampler(t check.T, from, to int) *audio.Resampler {
	return check.Must(audio.NewResampler(from, to))(t)
}

func sine(frequency float64, rate, n int, level float64) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(level * math.Sin(2*math.Pi*frequency*float64(i)/float64(rate)))
	}
	return s
}

// ratio returns the ratio of want to its difference from got, in dB.
func ratio(want, got []float32) float64 {
	var signal, noise float64
	for i := range want {
		signal += float64(want[i]) * float64(want[i])
		noise += float64(want[i]-got[i]) * float64(want[i]-got[i])
	}
	return 10 * math.Log10(signal/noise)
}

// Clips of other rates are converted to the rate of the first, or to one that is given.
func TestJoiner_rates(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{0, 24000} {
		j := audio.Joiner{Rate: rate}
		var samples []float32
		for _, from := range []int{22050, 22050, 16000, 22050} {
			second := audio.Clip{Rate: from, Samples: make([]float32, from)}
			samples = check.Must(j.Append(samples, second))(t)
		}
		samples = j.Flush(samples)
		want := 22050
		if rate != 0 {
			want = rate
		}
		check.That(t, j.Rate == want && len(samples) >= 4*want-3 && len(samples) <= 4*want+3,
			"rate %d: %d samples at %d, want 4 s at %d", rate, len(samples), j.Rate, want)
	}
	check.That(t, check.Err(new(audio.Joiner).Append(nil, audio.Clip{})) != nil, "a clip without a rate has no error")
}

// A chime lasts 0.6 s at most, the alarm 1.2 to 2 s, and is as loud as speech, whose root mean square is −18 dBFS,
// within 2 dB. It begins and ends with silence, and is as long and as loud at every rate.
func TestChime_levelAndLength(t *testing.T) {
	t.Parallel()
	const speech = 0.126
	for _, c := range audio.Chimes() {
		for _, rate := range []int{8000, 16000, 22050, 48000} {
			samples := c.Samples(rate)
			length := audio.Clip{Rate: rate, Samples: samples}.Duration()
			if c == audio.NoChime {
				check.Equal(t, length, 0, "%s lasts", c)
				continue
			}
			least, most := 400*time.Millisecond, 600*time.Millisecond
			if c == audio.Alarm {
				least, most = 1200*time.Millisecond, 2*time.Second
			}
			check.That(t, length >= least && length <= most, "%s at %d Hz lasts %v", c, rate, length)
			top, square, step := 0.0, 0.0, 0.0
			for i, s := range samples {
				top, square = max(top, math.Abs(float64(s))), square+float64(s)*float64(s)
				if i > 0 {
					step = max(step, math.Abs(float64(s-samples[i-1])))
				}
			}
			level := 20 * math.Log10(math.Sqrt(square/float64(len(samples)))/speech)
			check.That(t, top <= audio.Ceiling && math.Abs(level) <= 2,
				"%s at %d Hz has a peak of %.3f and a level %.1f dB above speech", c, rate, top, level)
			first, last := samples[0], samples[len(samples)-1]
			check.That(t, first == 0 && last == 0, "%s at %d Hz begins with %v and ends with %v", c, rate, first, last)
			limit := 2 * math.Pi * 3000 / float64(rate) * audio.Ceiling
			check.That(t, step <= limit, "%s at %d Hz has a step of %.3f, want %.3f at most", c, rate, step, limit)
		}
	}
}

// The number of strokes distinguishes the chimes: each rises from a lower level.
func TestChime_strokes(t *testing.T) {
	t.Parallel()
	const rate, window = 22050, 220 // 10 ms
	for c, want := range map[audio.Chime]int{audio.Ding: 1, audio.DingDong: 2, audio.Alert: 3, audio.Alarm: 8} {
		samples := c.Samples(rate)
		strokes, before := 0, 0.0
		for i := 0; i+window <= len(samples); i += window {
			top := 0.0
			for _, s := range samples[i : i+window] {
				top = max(top, math.Abs(float64(s)))
			}
			if top > 1.5*before && top > 0.1 {
				strokes++
			}
			before = top
		}
		check.That(t, strokes == want, "%s has %d strokes, want %d", c, strokes, want)
	}
}

func TestChime_anyRate(t *testing.T) {
	t.Parallel()
	for rate := range 100 {
		for _, c := range audio.Chimes() {
			for _, s := range c.Samples(rate) {
				check.Require(t, s == s && s <= 1 && s >= -1, "%s at %d Hz has the sample %v", c, rate, s)
			}
		}
	}
}

// A stretched tone has its pitch and its level, and the length that was asked for, however it arrives.
func TestStretcher(t *testing.T) {
	t.Parallel()
	const rate, n = 24000, 48000
	for _, frequency := range []float64{110, 220, 1000} {
		source := sine(frequency, rate, n, 0.5)
		for _, speed := range []float64{0.25, 0.5, 0.8, 1.25, 2, 4} {
			s := audio.NewStretcher(rate, speed)
			var got []float32
			for part := range slices.Chunk(source, 997) {
				got = s.Append(got, part)
			}
			got = s.Flush(got)
			check.Equal(t, len(got), int(math.Round(n/speed)), "samples at %v", speed)
			crossings, square := 0, 0.0
			middle := got[len(got)/10 : len(got)*9/10]
			for i, v := range middle {
				square += float64(v) * float64(v)
				if i > 0 && middle[i-1] < 0 && v >= 0 {
					crossings++
				}
			}
			hertz := float64(crossings) * rate / float64(len(middle))
			level := math.Sqrt(square / float64(len(middle)))
			check.That(t, math.Abs(hertz/frequency-1) < 0.03 && math.Abs(level/0.3536-1) < 0.1,
				"%v Hz at %v: %.1f Hz, level %.3f", frequency, speed, hertz, level)
		}
	}
	for _, n := range []int{0, 1, 700} {
		s := audio.NewStretcher(rate, 2)
		got := s.Flush(s.Append(nil, make([]float32, n)))
		check.Equal(t, len(got), int(math.Round(float64(n)/2)), "samples of %d", n)
	}
}
