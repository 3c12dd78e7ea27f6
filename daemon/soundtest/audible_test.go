package soundtest_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

// BenchmarkAudible measures the time from POST /notify until the speech is on the sink's monitor, of a server that has
// been idle, and its parts: a paplay of the same speech as a file, and the first byte of POST /v1/audio/speech. All are
// medians, measured in turns. Limit: x-limit ≤ 1, where the limit is paplay + the first byte + 15 ms.
func BenchmarkAudible(b *testing.B) {
	const idle, least = 6 * time.Second, 7 // after 5 s, the stream is closed
	const text = "Dinner is ready in the kitchen, please come and wash your hands."
	s := servertest.NewServer(b, "CHIME=none")
	path := filepath.Join(b.TempDir(), "speech.wav")
	file := check.Must(os.Create(path))(b)
	speech := audio.Clip{Rate: rate, Samples: s.Samples(client.Announcement{Message: text})}
	check.NoError(b, errors.Join(audio.WriteWAV(file, speech), file.Close()))
	recording := s.Sound.Record()
	heard := func(start func()) time.Duration {
		time.Sleep(idle)
		begun, before := time.Now(), recording.Len()
		start()
		recording.WaitFor(func(samples []float32) bool { return len(audible(samples[before:])) > 0 })
		took := time.Since(begun)
		s.AwaitIdle()
		return took
	}
	var announced, played, firstByte []time.Duration
	turn := func() {
		announced = append(announced, heard(func() { s.Post(client.Announcement{Message: text}) }))
		var paplay *exec.Cmd
		played = append(played, heard(func() {
			paplay = exec.CommandContext(b.Context(), "paplay", "--server="+s.Sound.Address, path)
			check.NoError(b, paplay.Start())
		}))
		check.NoError(b, paplay.Wait())
		firstByte = append(firstByte, timeToByte(b, s, text))
	}
	for b.Loop() {
		turn()
	}
	for len(announced) < least {
		turn()
	}
	middle := func(all []time.Duration) float64 { slices.Sort(all); return all[len(all)/2].Seconds() * 1e3 }
	b.ReportMetric(middle(announced), "ms/audible")
	b.ReportMetric(middle(played), "ms/paplay")
	b.ReportMetric(middle(firstByte), "ms/first-byte")
	b.ReportMetric(middle(announced)/(middle(played)+middle(firstByte)+15), "x-limit")
	b.ReportMetric(0, "ns/op")
}

// timeToByte returns the time to the first byte of a text's speech.
func timeToByte(b *testing.B, s *servertest.Server, text string) time.Duration {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	body := strings.NewReader(`{"input": "` + text + `", "response_format": "pcm"}`)
	r := check.Must(http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/audio/speech", body))(b)
	r.Header.Set("Content-Type", "application/json")
	begun := time.Now()
	resp := check.Must(http.DefaultClient.Do(r))(b)
	defer resp.Body.Close()
	check.Must(resp.Body.Read(make([]byte, 1)))(b)
	return time.Since(begun)
}
