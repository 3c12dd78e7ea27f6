package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/auth"
	"pressbox/daemon/replica"
	"pressbox/daemon/web"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/game/teams"
	"pressbox/store"
)

// builtIn returns the built-in league.
var builtIn = sync.OnceValue(func() *league.League { return league.New(league.LastSeason) })

// clubs is the built-in league and seasons and teams that fail.
type clubs struct{}

func (clubs) Teams(ctx context.Context, season int) (teams.List, error) {
	if season == 66 {
		return teams.List{}, fmt.Errorf("season 66: %w", teams.ErrUnavailable)
	}
	return builtIn().Teams(ctx, season)
}

func (clubs) Roster(ctx context.Context, season int, id string) (teams.Roster, error) {
	if id == "thin" {
		return teams.Roster{}, fmt.Errorf("team thin: %w", teams.ErrTooFewPlayers)
	}
	r, err := builtIn().Roster(ctx, season, id)
	r.Stale, r.FetchedAt = true, time.Now()
	return r, err
}

// A stadium is a house in which games are played.
type stadium struct {
	*house
	hall *live.Games
	book *store.Store // of games
	fans atomic.Int64
}

// newStadium makes one; its hall runs until the test ends.
func newStadium(tb testing.TB, change ...func(*web.Config)) *stadium {
	tb.Helper()
	p := &stadium{}
	kept, err := store.Open(filepath.Join(tb.TempDir(), "games.db"), store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := kept.Close(); err != nil {
			tb.Error(err)
		}
	})
	p.book = kept
	furnish := func(cfg *web.Config) {
		var err error
		p.hall, err = live.New(tb.Context(), live.Config{Journal: kept.Games(), Rosters: clubs{}, Announcer: cfg.Announcer, Log: cfg.Log})
		if err != nil {
			tb.Fatal(err)
		}
		cfg.Hall, cfg.Season = p.hall, league.LastSeason
	}
	p.house = newHouse(tb, append([]func(*web.Config){furnish}, change...)...)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.hall.Run(ctx); err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return p
}

// A fan is somebody who is signed in.
type fan struct {
	*browser
	t    testing.TB // of the test that he is in, which may be one of several in a stadium
	name string
}

// fan signs somebody in.
func (p *stadium) fan(tb testing.TB, name string) *fan {
	tb.Helper()
	p.voucher.mu.Lock()
	p.voucher.who = auth.Identity{Provider: "test", Subject: name, Name: name}
	p.voucher.mu.Unlock()
	f := &fan{p.browser(tb), tb, name}
	n := p.fans.Add(1) // each has an address of his own, and so an allowance
	f.from = fmt.Sprintf("192.168.%d.%d:40000", n/250, n%250+1)
	f.signIn()
	return f
}

// ask sends a request with a JSON body, "" for none, and reads the answer into v, if that is not nil.
func (f *fan) ask(method, path, body string, status int, v any) page {
	f.t.Helper()
	headers := []string{"Sec-Fetch-Site", "same-origin"}
	if body != "" {
		headers = append(headers, "Content-Type", "application/json")
	}
	answer := f.send(method, path, body, headers...).want(status)
	if v != nil {
		if err := json.Unmarshal([]byte(answer.body), v); err != nil {
			f.t.Fatalf("%s %s: %v in %s", method, path, err, answer.body)
		}
	}
	return answer
}

// refused sends a request that must be refused so.
func (f *fan) refused(method, path, body string, status int, code string) page {
	f.t.Helper()
	answer := f.ask(method, path, body, status, nil)
	if got := answer.field("code"); got != code {
		f.t.Errorf("%s %s: code %q, want %q: %s", method, path, got, code, answer.body)
	}
	return answer
}

// A gameView is a game as tests look at it.
type gameView struct {
	ID     string
	Status protocol.Status
	Rev    uint64
	You    string
	Home   seatView
	Away   seatView
	Result *protocol.Result
	Score  *protocol.Score
	Dice   protocol.Dice
}

type seatView struct {
	Team      struct{ ID string }
	Manager   *protocol.Manager
	Bot       bool
	Submitted bool `json:"lineup_submitted"`
	Lineup    json.RawMessage
}

// create makes a game with these options, as JSON.
func (f *fan) create(options string) gameView {
	f.t.Helper()
	var g gameView
	f.ask("POST", "/api/games", `{"home_team": "`+homeTeam()+`", "away_team": "`+awayTeam()+`", "options": `+options+`}`, 201, &g)
	return g
}

func homeTeam() string { return "BWH" }
func awayTeam() string { return "CPR" }

// suggest hands in the line-up that the bot would.
func (f *fan) suggest(id, side string) gameView {
	f.t.Helper()
	lineup := f.ask("POST", "/api/games/"+id+"/lineups/"+side+"/suggest", "", 200, nil).body
	var g gameView
	f.ask("PUT", "/api/games/"+id+"/lineups/"+side, lineup, 200, &g)
	return g
}

// open serves the stadium on a real port, for websockets, and is its address.
func (p *stadium) open(tb testing.TB) string {
	tb.Helper()
	server := httptest.NewServer(p.Handler())
	tb.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// A frame is one of a websocket, read.
type frame struct {
	replica.Frame
	text []byte
}

// A line is a websocket to a stadium.
type line struct {
	*websocket.Conn
	t      testing.TB
	schema func(name string) *jsonschema.Schema

	// Of one that is read by itself, from the first time on, so that it answers
	// pings while nobody listens; nil for one that is read when somebody does.
	come chan come
	read sync.Once
}

// A come is what has come: a message, or the end.
type come struct {
	kind int
	text []byte
	err  error
}

// ReadMessage is the next message.
func (l *line) ReadMessage() (kind int, text []byte, err error) {
	if l.come == nil {
		return l.Conn.ReadMessage()
	}
	l.read.Do(func() { go l.readOut() })
	select {
	case m, ok := <-l.come:
		if !ok {
			return 0, nil, net.ErrClosed
		}
		return m.kind, m.text, m.err
	case <-time.After(5 * time.Minute): // a test that fails shall end
		return 0, nil, os.ErrDeadlineExceeded
	}
}

// readOut reads until the connection ends, which it does with the test.
func (l *line) readOut() {
	defer close(l.come)
	for {
		var m come
		m.kind, m.text, m.err = l.Conn.ReadMessage()
		l.come <- m
		if m.err != nil {
			return
		}
	}
}

// dial opens a websocket as somebody.
func (f *fan) dial(address string) *line {
	f.t.Helper()
	l, err := f.tryDial(address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = l.Close() })
	return l
}

func (f *fan) tryDial(address string) (*line, error) {
	dialer := websocket.Dialer{Subprotocols: []string{"pressbox.v1"}, HandshakeTimeout: 5 * time.Minute}
	conn, resp, err := dialer.Dial("ws://"+address+"/api/ws", http.Header{"Cookie": {"pressbox_access=" + f.access()}})
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	const many = 1 << 10 // more than are told of a game
	return &line{Conn: conn, t: f.t, schema: frameSchemas(), come: make(chan come, many)}, nil
}

// say sends a frame.
func (l *line) say(format string, args ...any) {
	l.t.Helper()
	if err := l.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, args...)); err != nil {
		l.t.Fatal(err)
	}
}

// hear reads the next frame, and holds it against the AsyncAPI document.
func (l *line) hear() (frame, error) {
	_, text, err := l.ReadMessage()
	if err != nil {
		return frame{}, err
	}
	f := frame{text: text}
	if err := json.Unmarshal(text, &f); err != nil {
		l.t.Errorf("%v in %s", err, text)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		l.t.Errorf("%v in %s", err, text)
	}
	if err := l.schema(f.T).Validate(value); err != nil {
		l.t.Errorf("a frame is not as documented: %v\n%s", err, text)
	}
	return f, nil
}

// next is the next frame, or one of type "closed" whose rev is the code.
func (l *line) next() frame {
	l.t.Helper()
	f, err := l.hear()
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return frame{Frame: replica.Frame{T: "closed", Rev: uint64(closed.Code)}}
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return f
}

// until skips frames before one of these types.
func (l *line) until(types ...string) frame {
	l.t.Helper()
	for {
		f := l.next()
		if slices.Contains(types, f.T) {
			return f
		}
		if f.T == "closed" {
			l.t.Fatalf("closed with %d, waiting for %v", f.Rev, types)
		}
	}
}

// refused fails the test unless the next frame that answers is a nak with that code.
func (l *line) refused(code string) {
	l.t.Helper()
	f := l.until("nak", "ack", "pong", "closed")
	if got := f.code(); f.T != "nak" || got != code {
		l.t.Errorf("answered %s, want a nak with code %s", f.text, code)
	}
}

// code is the code of a nak.
func (f frame) code() string {
	var d struct{ Code string }
	_ = json.Unmarshal(f.D, &d)
	return d.Code
}

// violations returns path and code of all that is wrong.
func (p page) violations() []string {
	p.t.Helper()
	var problem struct {
		Errors []struct{ Path, Code string }
	}
	if err := json.Unmarshal([]byte(p.body), &problem); err != nil {
		p.t.Fatal(err)
	}
	var all []string
	for _, e := range problem.Errors {
		all = append(all, e.Path+" "+e.Code)
	}
	return all
}

func sorted(all []string) string {
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// A display reads what a wall display is told.
type display struct {
	t     testing.TB
	lines *bufio.Scanner
	last  string   // data of the last event
	all   []string // type and data of all events
}

func openDisplay(tb testing.TB, address string) *display {
	tb.Helper()
	resp, err := http.Get("http://" + address + "/api/kiosk")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return &display{t: tb, lines: lines}
}

// await reads until an event of a type that holds a text.
func (d *display) await(kind, text string) {
	d.t.Helper()
	event := ""
	for d.lines.Scan() {
		if name, ok := strings.CutPrefix(d.lines.Text(), "event: "); ok {
			event = name
		}
		data, ok := strings.CutPrefix(d.lines.Text(), "data: ")
		if !ok {
			continue
		}
		d.last = data
		d.all = append(d.all, event+" "+data)
		hold(d.t, event, data)
		if event == kind && strings.Contains(data, text) {
			return
		}
	}
	d.t.Fatalf("no %s with %s came: %v", kind, text, d.lines.Err())
}

// hold holds an event of a stream against the OpenAPI document.
func hold(tb testing.TB, event, data string) {
	tb.Helper()
	name := map[string]string{"game": "Game", "announcement": "Announcement"}[event]
	if name == "" {
		return
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	if err := newChecker(tb).schema(tb, "#/components/schemas/"+name).Validate(value); err != nil {
		tb.Errorf("a %s is not as documented: %v", event, err)
	}
}
