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
	"strings"
	"sync"
	"testing"
	"time"
)

// An appliance is a machine on which Pressbox is installed, and a client of it.
type appliance struct {
	*machine
	http http.Client
}

func newAppliance(m *machine) *appliance {
	// Every request has a connection of its own, so that none hides that the
	// port was closed.
	transport := &http.Transport{DialContext: m.dial, DisableKeepAlives: true}
	return &appliance{m, http.Client{Transport: transport, Timeout: commandTime}}
}

func (a *appliance) on(t *testing.T) *appliance {
	t.Helper()
	return &appliance{a.machine.on(t), a.http}
}

// install installs a package with apt, and what it depends on.
func (a *appliance) install(deb string) {
	a.t.Helper()
	a.run("apt-get", "install", "--yes", "--quiet=2", a.copyIn(deb))
}

// ask sends a request, with further headers, and decodes the answer of a success unless
// answer is nil.
func (a *appliance) ask(method, path string, body, answer any, headers ...string) (*http.Response, error) {
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
	resp, err := a.http.Do(req)
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

// must is ask for a request that has to succeed.
func (a *appliance) must(method, path string, body, answer any) {
	a.t.Helper()
	if _, err := a.ask(method, path, body, answer); err != nil {
		a.t.Fatal(err)
	}
}

type health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

func (a *appliance) health() health {
	a.t.Helper()
	var h health
	a.must("GET", "/health", nil, &h)
	return h
}

// speech is text as the bundled voice says it.
func (a *appliance) speech(text string) (samples []int16) {
	a.t.Helper()
	var pcm []byte
	a.must("POST", "/v1/audio/speech", speechRequest(text), &pcm)
	return decoded(pcm)
}

// speaks checks that the bundled voice works.
func (a *appliance) speaks() {
	a.t.Helper()
	begin, end := audible(a.speech("Dinner is ready."))
	if lasts := seconds(end - begin); lasts < 0.5 || lasts > 2 {
		a.t.Errorf("three words last %.2f s", lasts)
	}
}

// calibrated says whether it is known how fast the default voice speaks.
func (a *appliance) calibrated() bool {
	a.t.Helper()
	var list struct {
		Voices []struct {
			Default bool
			Rate    float64 `json:"words_per_minute"`
		}
	}
	a.must("GET", "/voices", nil, &list)
	for _, v := range list.Voices {
		if v.Default {
			return v.Rate > 0
		}
	}
	return false
}

// announce posts an announcement and returns when it was spoken.
func (a *appliance) announce(text string) {
	a.t.Helper()
	var posted struct{ ID string }
	a.must("POST", "/notify", map[string]any{"message": text}, &posted)
	a.spoken(posted.ID)
}

// spoken returns when an announcement was spoken.
func (a *appliance) spoken(id string) {
	a.t.Helper()
	a.until("the announcement was spoken", func() bool {
		var now struct{ Status string }
		a.must("GET", "/notify/"+id, nil, &now)
		return now.Status == "done"
	})
}

// until waits for something that the appliance does not tell when it is so.
func (a *appliance) until(what string, is func() bool) {
	a.t.Helper()
	for deadline := time.Now().Add(commandTime); !is(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			a.t.Fatalf("it is not so that %s", what)
		}
	}
}

// memory is what the daemon has in memory, without its child.
func (a *appliance) memory() string {
	a.t.Helper()
	pid := a.run("systemctl", "show", "--value", "--property=MainPID", "pressbox.service")
	for line := range strings.Lines(a.run("cat", "/proc/"+pid+"/status")) {
		if size, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(size)
		}
	}
	return "unknown"
}

// A load is what clients met while something was done to the appliance.
type load struct {
	asked   int
	failed  []failure
	slowest time.Duration
}

// A failure is why a request was not answered, and when it was sent.
type failure struct {
	sent time.Time
	err  error
}

const (
	loadRate  = 200 // requests a second, if the machine answers as many
	loadWidth = 64  // requests that wait for an answer
	loadLeast = 200 // requests before, and after
)

// underLoad does something while clients ask, and for a while before and after.
func (a *appliance) underLoad(do func()) load {
	a.t.Helper()
	var (
		r     load
		mu    sync.Mutex // guards r
		asked sync.WaitGroup
	)
	done := make(chan struct{})
	waiting := make(chan struct{}, loadWidth)
	one := func() {
		defer func() { <-waiting }()
		sent := time.Now()
		_, err := a.ask("GET", "/health", nil, nil)
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
		a.until("more is asked", func() bool {
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

// refusedNone fails the test unless everybody was answered.
func (r load) refusedNone(t *testing.T) {
	t.Helper()
	r.refusedNoneSince(t, time.Time{})
}

// refusedNoneSince fails the test unless everybody was answered who asked since then.
func (r load) refusedNoneSince(t *testing.T, since time.Time) {
	t.Helper()
	refused := slices.DeleteFunc(slices.Clone(r.failed), func(f failure) bool { return f.sent.Before(since) })
	if len(refused) > 0 {
		t.Errorf("%d of %d requests failed; the first: %v", len(refused), r.asked, refused[0].err)
	}
	t.Logf("%d requests, the slowest took %v; %d failed", r.asked, r.slowest, len(r.failed))
}
