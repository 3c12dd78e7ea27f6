package events_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/events"
	"pressbox/game"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/announce/hub"
	"pressbox/voice/announce/policy"
)

// A rig is a poster whose events come from the test.
type rig struct {
	*events.Poster
	t     *testing.T
	hub   hub.Hub[announce.Event]
	log   check.Log
	lobby chan func(*protocol.Message) bool
}

func newRig(t *testing.T, c events.Config, transport http.RoundTripper) *rig {
	t.Helper()
	r := &rig{t: t, lobby: make(chan func(*protocol.Message) bool, 9)}
	r.Poster = events.New(events.Parts{
		Watch: r.hub.Watch, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		Lobby: func(send func(*protocol.Message) bool) ([]protocol.Game, func()) {
			r.lobby <- send
			return nil, func() {}
		},
		Transport: transport,
	})
	r.Configure(c)
	check.Run(t, r.Run)
	return r
}

// say publishes a change of an announcement.
func (r *rig) say(id string, status announce.Status) {
	v := announce.View{Announcement: announce.Announcement{ID: id, Status: status, Reason: policy.Muted}}
	v.Title, v.Message, v.Priority, v.Urgent = "Kitchen", "Dinner.", 5, true
	r.hub.Publish(announce.Event{View: &v})
}

// A receiver is a server that is posted to.
type receiver struct {
	URL    string
	t      *testing.T
	handle http.HandlerFunc // writes the answer; nil: 200
	bodies chan string
}

func newReceiver(t *testing.T, handle http.HandlerFunc) *receiver {
	t.Helper()
	return &receiver{t: t, handle: handle, bodies: make(chan string, 4000)}
}

// receive starts a server whose answers handle writes after it has read a body, and whose bodies are kept.
func receive(t *testing.T, handle http.HandlerFunc) *receiver {
	t.Helper()
	r := newReceiver(t, handle)
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// ServeHTTP keeps the body of a request.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if body, err := io.ReadAll(req.Body); err == nil {
		r.bodies <- string(body)
	}
	if r.handle != nil {
		r.handle(w, req)
	}
}

// A network is a transport to receivers, by their host's name, without connections: for a synctest bubble.
type network map[string]*receiver

// receive adds a receiver.
func (n network) receive(t *testing.T, name string, handle http.HandlerFunc) *receiver {
	t.Helper()
	n[name] = newReceiver(t, handle)
	n[name].URL = "http://" + name
	return n[name]
}

// RoundTrip returns the answer of a receiver, or an error if its handler panics or the request ends.
func (n network) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := make(chan *http.Response, 1)
	go func() {
		defer close(answer)
		defer func() { _ = recover() }()
		w := httptest.NewRecorder()
		n[req.URL.Host].ServeHTTP(w, req)
		answer <- w.Result()
	}()
	select {
	case resp, ok := <-answer:
		if !ok {
			return nil, io.ErrUnexpectedEOF
		}
		return resp, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// next returns the next body as JSON.
func (r *receiver) next() (e map[string]any) {
	r.t.Helper()
	select {
	case body := <-r.bodies:
		check.NoError(r.t, json.Unmarshal([]byte(body), &e))
	case <-time.After(time.Minute):
		r.t.Fatal("no event")
	}
	return e
}

// want reads events with these ids.
func (r *receiver) want(ids ...string) {
	r.t.Helper()
	for _, id := range ids {
		check.Equal(r.t, r.next()["id"], any(id), "the next event")
	}
}

// started waits until the poster watches.
func (r *rig) started() func(*protocol.Message) bool {
	r.t.Helper()
	select {
	case send := <-r.lobby:
		return send
	case <-time.After(time.Minute):
		r.t.Fatal("the poster watches nothing")
		return nil
	}
}

// Each change is posted with all that it has; a text only if that is wished.
func TestPoster_announcements(t *testing.T) {
	t.Parallel()
	var auth sync.Map
	server := receive(t, func(_ http.ResponseWriter, r *http.Request) {
		auth.Store(r.URL.Path, r.Header.Get("Authorization")+" "+r.Header.Get("Content-Type")+" "+r.Method)
	})
	for texts, want := range map[bool]string{
		false: "id:a priority:5 reason:muted room:kitchen seq:1 status:silenced",
		true:  "id:a message:Dinner. priority:5 reason:muted room:kitchen seq:1 status:silenced title:Kitchen",
	} {
		targets := []events.Target{{URL: server.URL + "/x", Token: "secret"}}
		r := newRig(t, events.Config{Room: "kitchen", Texts: texts, Targets: targets}, nil)
		r.started()
		r.say("a", announce.Synthesizing)
		r.say("a", announce.Silenced)
		e := server.next()
		at, err := time.Parse(time.RFC3339, fmt.Sprint(e["time"]))
		check.That(t, err == nil && time.Since(at) < time.Minute, "time %v", e["time"])
		delete(e, "time")
		got := strings.Trim(fmt.Sprint(e), "map[]")
		check.Equal(t, got, "event:announcement "+want+" urgent:true", "the event")
	}
	got, _ := auth.Load("/x")
	check.Equal(t, got, any("Bearer secret application/json POST"), "the request")
}

// The changes of a listed game: its state, whose turn it is, and its end.
func TestPoster_games(t *testing.T) {
	t.Parallel()
	server := receive(t, nil)
	r := newRig(t, events.Config{Targets: []events.Target{{URL: server.URL}}}, nil)
	send := r.started()
	entry := func(status protocol.Status, inning, home int) *protocol.Game {
		g := &protocol.Game{ID: "g", Status: status, Inning: inning, Score: &protocol.Score{Home: home}}
		g.Home.Team.Name, g.Away.Team.Name = "Giants", "Dodgers"
		return g
	}
	const teams = "away:map[runs:0 team:Dodgers] event:game home:map[runs:%d team:Giants] id:g"
	for _, tt := range []struct {
		data any
		want string
	}{
		{entry(protocol.Pending, 0, 0), fmt.Sprintf(teams, 0) + " status:pending"},
		{entry(protocol.Active, 1, 0), fmt.Sprintf(teams, 0) + " inning:1 status:active"},
		{entry(protocol.Active, 1, 0), ""},
		{&protocol.Turn{Side: game.Home}, fmt.Sprintf(teams, 0) + " inning:1 status:active turn:home"},
		{entry(protocol.Active, 2, 3), fmt.Sprintf(teams, 3) + " inning:2 status:active"},
		{entry(protocol.Finished, 9, 3), fmt.Sprintf(teams, 3) + " inning:9 status:finished"},
		{&protocol.Turn{Side: game.Home}, ""},
		{entry(protocol.Pending, 0, 0), fmt.Sprintf(teams, 0) + " status:pending"},
		{nil, fmt.Sprintf(teams, 0) + " status:cancelled"},
	} {
		send(&protocol.Message{Game: "g", Data: tt.data})
		if tt.want == "" {
			continue
		}
		e := server.next()
		delete(e, "time")
		delete(e, "seq")
		check.Equal(t, strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(e), "map["), "]"), tt.want, "the event")
	}
}

// A server that is busy, or does not answer, is asked again, and events stay in their order; what it refuses or
// redirects is given up at once.
func TestPoster_retries(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		statuses []int // of the first event; the others are accepted
		tries    int
	}{
		"busy": {[]int{429, 503}, 3}, "broken": {[]int{500, 500, 500}, 3}, "accepted": {[]int{204}, 1},
		"refused": {[]int{404}, 1}, "redirected": {[]int{302}, 1}, "no answer": {[]int{0, 0}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n, statuses := network{}, tt.statuses
				elsewhere := n.receive(t, "elsewhere", nil)
				server := n.receive(t, "server", func(w http.ResponseWriter, _ *http.Request) {
					status := http.StatusOK
					if len(statuses) > 0 {
						status, statuses = statuses[0], statuses[1:]
					}
					if status == 0 {
						panic(http.ErrAbortHandler)
					}
					w.Header().Set("Location", elsewhere.URL)
					w.WriteHeader(status)
				})
				start := time.Now()
				r := newRig(t, events.Config{Targets: []events.Target{{URL: server.URL, Name: "http://x/…"}}}, n)
				r.started()
				r.say("a", announce.Queued)
				r.say("b", announce.Queued)
				for range tt.tries {
					server.want("a")
				}
				server.want("b")
				pauses := []time.Duration{0, time.Second, 6 * time.Second}
				check.Equal(t, time.Since(start), pauses[tt.tries-1], "the pauses")
				check.Equal(t, len(elsewhere.bodies), 0, "events where the server redirects to")
			})
		})
	}
}

// Of a server that answers nothing at all, others do not notice; health says so after three events.
func TestPoster_slowServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, gate := network{}, make(chan struct{})
		slow := n.receive(t, "slow", func(http.ResponseWriter, *http.Request) { <-gate })
		good := n.receive(t, "good", nil)
		refuses := n.receive(t, "refuses", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
		})
		r := newRig(t, events.Config{Targets: []events.Target{
			{URL: slow.URL, Name: "slow"}, {URL: good.URL, Name: "good"}, {URL: refuses.URL, Name: "refuses"},
		}}, n)
		r.started()
		for i := range 1002 {
			r.say(fmt.Sprint(i), announce.Queued)
			good.want(fmt.Sprint(i))
		}
		slow.want("0") // and waits; of the 1,001 others, one was dropped
		close(gate)
		first := slow.next()
		check.Equal(t, first["id"], any("2"), "after the one that was dropped")
		check.Equal(t, first["seq"], any(3.0), "its number")
		for i := 3; i < 1002; i++ {
			slow.want(fmt.Sprint(i))
		}
		for range 1002 {
			refuses.next()
		}
		r.say("last", announce.Queued)
		refuses.want("last")
		check.Contains(t, fmt.Sprint(r.Health()), "refuses: the answer is 403", "health")
		check.Equal(t, strings.Count(r.log.String(), "event not accepted"), 1, "lines of the log about it")
		check.Equal(t, strings.Count(r.log.String(), "events dropped"), 1, "lines of the log about dropped events")
		check.That(t, !strings.Contains(r.log.String(), refuses.URL), "the log has a URL: %s", r.log.String())
	})
}

// A server that never answers is waited for 5 s at a time, and health says that it does not.
func TestPoster_noAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, ended := network{}, make(chan struct{})
		defer close(ended)
		silent := n.receive(t, "silent", func(http.ResponseWriter, *http.Request) { <-ended })
		r := newRig(t, events.Config{Targets: []events.Target{{URL: silent.URL, Name: "silent"}}}, n)
		r.started()
		start := time.Now()
		for _, id := range []string{"a", "b", "c", "d"} {
			r.say(id, announce.Queued)
		}
		silent.want("a", "a", "a", "b", "b", "b", "c", "c", "c")
		check.NoError(t, r.Health())
		silent.want("d")
		check.Equal(t, time.Since(start), 3*(3*5+1+5)*time.Second, "three times three answers, and the pauses")
		check.Contains(t, fmt.Sprint(r.Health()), "silent: ", "health")
	})
}

// A reload adds and removes servers; those that stay miss nothing, and nothing is posted to them twice.
func TestPoster_configure(t *testing.T) {
	t.Parallel()
	one, two := receive(t, nil), receive(t, nil)
	r := newRig(t, events.Config{}, nil)
	r.Configure(events.Config{Targets: []events.Target{{URL: one.URL}}})
	r.started()
	r.say("a", announce.Queued)
	one.want("a")
	r.Configure(events.Config{Targets: []events.Target{{URL: one.URL}, {URL: two.URL}}})
	r.say("b", announce.Queued)
	one.want("b")
	two.want("b")
	r.Configure(events.Config{Targets: []events.Target{{URL: two.URL}}})
	r.say("c", announce.Queued)
	two.want("c")
	check.Equal(t, len(one.bodies), 0, "events for a server that was removed")
}
