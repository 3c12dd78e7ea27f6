package mqtt

import (
	"strings"
	"testing"
	"time"

	"pressbox/packaging/check"
)

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, row := range check.Rows(`
		a/b   | a/b a/+ +/b +/+ a/b/# a/# # | a + a/b/c
		a/b/c | a/+/c a/#                   | a/+ a/b
		a/    | a/+                         | a
		a     | a/# +                       | a/b b
		b     | #                           | a/#
	`) {
		for filter := range strings.FieldsSeq(row[1]) {
			check.That(t, matches(filter, row[0]), "%s does not match %s", filter, row[0])
		}
		for filter := range strings.FieldsSeq(row[2]) {
			check.That(t, !matches(filter, row[0]), "%s matches %s", filter, row[0])
		}
	}
}

func TestDelays(t *testing.T) {
	t.Parallel()
	d := delays{first: time.Second}
	for range 3 { // the last one lasts long enough for a short delay
		lasted := time.Hour
		for _, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
			want := time.Duration(seconds) * time.Second
			got := d.after(lasted)
			check.That(t, got >= want/2 && got <= want, "delay %s, want %s to %s", got, want/2, want)
			lasted = want
		}
	}
}
