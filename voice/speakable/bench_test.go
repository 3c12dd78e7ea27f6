package speakable_test

import (
	"strings"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice/speakable"
)

// BenchmarkText measures what reading costs: a notice, in the mean of the table of notices, and a text of 5,000
// characters of them.
func BenchmarkText(b *testing.B) {
	var notices []string
	for _, row := range comparisons(b, "en") {
		if row.class == "notices" {
			notices = append(notices, row.written)
		}
	}
	check.Require(b, len(notices) > 100, "%d notices", len(notices))
	long := strings.Join(notices, ". ")
	long = strings.ToValidUTF8((long + long)[:5000], "")
	var each, whole time.Duration
	for b.Loop() {
		began := time.Now()
		for _, notice := range notices {
			speakable.Text(notice, "en-us", nil)
		}
		each += time.Since(began)
		began = time.Now()
		speakable.Text(long, "en-us", nil)
		whole += time.Since(began)
	}
	b.ReportMetric(float64(each.Microseconds())/float64(b.N*len(notices)), "us/notice")
	b.ReportMetric(float64(whole.Microseconds())/1e3/float64(b.N), "ms/5000")
	b.ReportMetric(0, "ns/op")
}
