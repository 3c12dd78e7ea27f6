package mqtt

import (
	"testing"
	"time"

	"pressbox/packaging/check"
)

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		filter, topic string
		want          bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a", false},
		{"a/b", "a/b/c", false},
		{"a/+/c", "a/b/c", true},
		{"a/+", "a/b/c", false},
		{"a/+", "a/", true},
		{"a/#", "a/b/c", true},
		{"a/#", "a", true},
		{"a/#", "b", false},
		{"#", "a/b", true},
		{"+", "a", true},
		{"+", "a/b", false},
	} {
		check.Equal(t, matches(tt.filter, tt.topic), tt.want, "%s matches %s", tt.filter, tt.topic)
	}
}

func TestDelays(t *testing.T) {
	t.Parallel()
	d := delays{first: time.Second}
	for range 3 { // the last one lasts long enough for a short delay
		lasted := time.Hour
		for _, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
			want := time.Duration(seconds) * time.Second
			if got := d.after(lasted); got < want/2 || got > want {
				t.Errorf("delay %s, want %s to %s", got, want/2, want)
			}
			lasted = want
		}
	}
}
