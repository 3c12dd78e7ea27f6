//go:build image

package imagetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"pressbox/packaging/check"
)

// request sends a request to the host's server and returns the body of a successful answer.
// body is sent as JSON unless it is nil.
func (h *host) request(client *http.Client, method, path string, body any) ([]byte, error) {
	var sent io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(encoded)
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, h.url()+path, sent)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: status %d: %s", method, path, resp.StatusCode, answer)
	}
	return answer, err
}

// url returns the address of the host's server, from here.
func (h *host) url() string { return fmt.Sprintf("http://127.0.0.1:%d", h.port) }

// call sends a request, which must succeed, and decodes its answer unless that is nil.
func (h *host) call(client *http.Client, method, path string, body, answer any) {
	h.Helper()
	got := check.Must(h.request(client, method, path, body))(h.T)
	if answer != nil {
		check.NoError(h.T, json.Unmarshal(got, answer))
	}
}

// health is the part of /health that the tests read.
type health struct{ Status, Version string }

// health returns the answer of the server, which may not have started yet.
func (h *host) health() (health, error) {
	var now health
	answer, err := h.request(&http.Client{Timeout: time.Minute}, http.MethodGet, "/health", nil)
	if err == nil {
		err = json.Unmarshal(answer, &now)
	}
	return now, err
}

// answers waits until the server answers.
func (h *host) answers() (now health) {
	h.Helper()
	h.until("the server answers", func() (is bool) {
		var err error
		now, err = h.health()
		return err == nil
	})
	return now
}

// greeting is the beginning of what "pressbox hello" announces.
const greeting = "Pressbox is ready."

// greeted waits until the greeting was spoken, and returns all of its text.
func (h *host) greeted() (text string) {
	h.Helper()
	h.until("the greeting was spoken", func() bool {
		answer, err := h.request(http.DefaultClient, http.MethodGet, "/notify", nil)
		if err != nil {
			return false // not started yet, or busy
		}
		var list struct {
			Recent []struct{ Message, Status string }
		}
		check.NoError(h.T, json.Unmarshal(answer, &list))
		for _, a := range list.Recent {
			if strings.HasPrefix(a.Message, greeting) && a.Status == "done" {
				text = a.Message
				return true
			}
		}
		return false
	})
	return text
}

// speech returns a text as the host's default voice speaks it, at searchRate.
func (h *host) speech(text string) []float32 {
	h.Helper()
	pcm := check.Must(h.request(http.DefaultClient, http.MethodPost, "/v1/audio/speech", map[string]string{
		"model": "tts-1", "voice": "alloy", "input": text, "response_format": "pcm",
	}))(h.T)
	samples := make([]float32, len(pcm)/2)
	for i := range samples {
		samples[i] = float32(int16(binary.LittleEndian.Uint16(pcm[2*i:]))) / math.MaxInt16
	}
	return resample(h.T, samples, voiceRate)
}

// hears checks that the recording has a text, as the host's own voice speaks it.
func (h *host) hears(text string) {
	h.Helper()
	f := find(h.sound.samples(h.T), h.speech(text))
	h.Logf("%.0f %% of %q were recognized in %s", 100*f.share, text, h.sound.path)
	check.That(h.T, f.recognized(), "%q was not recognized in %s: %.0f %%", text, h.sound.path, 100*f.share)
}
