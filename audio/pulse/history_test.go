package pulse

import (
	"slices"
	"testing"

	"pressbox/packaging/check"
)

func TestHistory_lastSamples(t *testing.T) {
	t.Parallel()
	h := history{limit: 4}
	got := h.last(3)
	check.That(t, len(got) == 0 && h.clips(3) == 0, "an empty history has %v", got)
	h.add([]float32{1, 2, 3}, true)
	h.add([]float32{0, 0}, false)
	h.add([]float32{4}, true)
	for n, want := range []struct {
		samples []float32
		clips   int
	}{
		{nil, 0},
		{[]float32{4}, 1},
		{[]float32{0, 4}, 1},
		{[]float32{0, 0, 4}, 1},
		{[]float32{3, 0, 0, 4}, 2},
		{[]float32{2, 3, 0, 0, 4}, 3},
		{[]float32{1, 2, 3, 0, 0, 4}, 4},
		{[]float32{1, 2, 3, 0, 0, 4}, 4},
	} {
		got := h.last(n)
		check.That(t, slices.Equal(got, want.samples) && h.clips(n) == want.clips,
			"last(%d) returns %v with %d of clips, want %v with %d", n, got, h.clips(n), want.samples, want.clips)
	}
	h.add([]float32{5}, true)
	got = h.last(9)
	check.That(t, slices.Equal(got, []float32{0, 0, 4, 5}), "beyond its limit it has %v, want the last 4", got)
}
