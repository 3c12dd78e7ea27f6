//go:build installed

package installed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// A server is Pressbox installed on a host, and an HTTP client of it.
type server struct {
	*host
	http http.Client
}

func newServer(m *host) *server {
	// Every request opens a connection, so that a closed port is noticed.
	transport := &http.Transport{DialContext: m.dial, DisableKeepAlives: true}
	return &server{m, http.Client{Transport: transport, Timeout: commandTime}}
}

func (s *server) on(t *testing.T) *server {
	t.Helper()
	return &server{s.host.on(t), s.http}
}

// install installs a package and its dependencies with apt.
func (s *server) install(deb string) {
	s.t.Helper()
	s.run("apt-get", "install", "--yes", "--quiet=2", s.copyIn(deb))
}

// request sends a request, with further headers, and decodes a successful answer into answer unless that is nil.
func (s *server) request(method, path string, body, answer any, headers ...string) (*http.Response, error) {
	var sent io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, "http://127.0.0.1:8888"+path, sent)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: status %d: %s", method, path, resp.StatusCode, got)
	}
	if raw, ok := answer.(*[]byte); ok {
		*raw = got
	} else if answer != nil {
		return resp, json.Unmarshal(got, answer)
	}
	return resp, nil
}

// mustRequest is like request and fails the test on an error.
func (s *server) mustRequest(method, path string, body, answer any) {
	s.t.Helper()
	check.Must(s.request(method, path, body, answer))(s.t)
}

type health struct{ Status, Version string }

func (s *server) health() health {
	s.t.Helper()
	var h health
	s.mustRequest("GET", "/health", nil, &h)
	return h
}

// synthesize returns the bundled voice's speech of a text.
func (s *server) synthesize(text string) (samples []int16) {
	s.t.Helper()
	var pcm []byte
	s.mustRequest("POST", "/v1/audio/speech", speechRequest(text), &pcm)
	return decodePCM(pcm)
}

// checkSpeech checks that the bundled voice works.
func (s *server) checkSpeech() {
	s.t.Helper()
	begin, end := audible(s.synthesize("Dinner is ready."))
	lasts := seconds(end - begin)
	check.That(s.t, lasts >= 0.5 && lasts <= 2, "three words last %.2f s", lasts)
}

// calibrated reports whether the rate of the default voice is known.
func (s *server) calibrated() bool {
	s.t.Helper()
	var list struct {
		Voices []struct {
			Default bool
			Rate    float64 `json:"words_per_minute"`
		}
	}
	s.mustRequest("GET", "/voices", nil, &list)
	for _, v := range list.Voices {
		if v.Default {
			return v.Rate > 0
		}
	}
	return false
}

// announce posts an announcement and waits until it was spoken.
func (s *server) announce(text string) {
	s.t.Helper()
	var posted struct{ ID string }
	s.mustRequest("POST", "/notify", map[string]any{"message": text, "chime": "none"}, &posted)
	s.waitSpoken(posted.ID)
}

// waitSpoken waits until an announcement was spoken.
func (s *server) waitSpoken(id string) {
	s.t.Helper()
	s.until("the announcement was spoken", func() bool {
		var now struct{ Status string }
		s.mustRequest("GET", "/notify/"+id, nil, &now)
		return now.Status == "done"
	})
}

// until polls for a condition, for at most waitTime.
func (s *server) until(what string, is func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(waitTime); !is(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("timeout: %s", what)
		}
	}
}

// checkStatus checks that "systemctl status" says a text.
func (s *server) checkStatus(text string) {
	s.t.Helper()
	check.Contains(s.t, s.run("systemctl", "show", "--property=StatusText", "pressbox.service"), text, "the status")
}

// memory returns the resident memory of the server, without its child processes.
func (s *server) memory() string {
	s.t.Helper()
	pid := s.run("systemctl", "show", "--value", "--property=MainPID", "pressbox.service")
	return s.run("sed", "-n", `s/^VmRSS:\s*//p`, "/proc/"+pid+"/status")
}

// A loadResult is what clients met during an action.
type loadResult struct {
	asked   int
	failed  []failure
	slowest time.Duration
}

// A failure is a failed request and when it was sent.
type failure struct {
	sent time.Time
	err  error
}

const (
	loadRate  = 200 // requests per second
	loadWidth = 64  // concurrent requests
	loadLeast = 200 // requests before and after the action
)

// underLoad runs do while clients send requests, which begin before it and end after it.
func (s *server) underLoad(do func()) loadResult {
	s.t.Helper()
	var (
		r     loadResult
		mu    sync.Mutex // guards r
		asked sync.WaitGroup
	)
	done := make(chan struct{})
	waiting := make(chan struct{}, loadWidth)
	one := func() {
		defer func() { <-waiting }()
		sent := time.Now()
		_, err := s.request("GET", "/health", nil, nil)
		mu.Lock()
		defer mu.Unlock()
		r.asked++
		r.slowest = max(r.slowest, time.Since(sent))
		if err != nil {
			r.failed = append(r.failed, failure{sent, err})
		}
	}
	asked.Go(func() {
		tick := time.NewTicker(time.Second / loadRate)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				waiting <- struct{}{}
				asked.Go(one)
			}
		}
	})
	more := func() {
		mu.Lock()
		enough := r.asked + loadLeast
		mu.Unlock()
		s.until("more is asked", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return r.asked >= enough
		})
	}
	more()
	do()
	more()
	close(done)
	asked.Wait()
	return r
}

// mustAnswerSince fails the test if a request that was sent since then failed.
func (r loadResult) mustAnswerSince(t *testing.T, since time.Time) {
	t.Helper()
	refused := slices.DeleteFunc(slices.Clone(r.failed), func(f failure) bool { return f.sent.Before(since) })
	if len(refused) > 0 {
		t.Errorf("%d of %d requests failed; the first: %v", len(refused), r.asked, refused[0].err)
	}
	t.Logf("%d requests, the slowest took %v; %d failed", r.asked, r.slowest, len(r.failed))
}
