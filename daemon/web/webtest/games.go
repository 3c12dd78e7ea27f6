package webtest

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
	"pressbox/daemon/web/site"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/game/teams"
	"pressbox/store"
)

// Resident signs somebody in who has an account of the appliance.
func (p *GamesRig) Resident(tb testing.TB, name string) *Player {
	tb.Helper()
	f := &Player{p.Browser(tb), tb, name}
	form := f.Get("/api/auth/idp/login").Want(http.StatusFound).Header.Get("Location")
	back := f.Submit(form, "form", "create", "name", name, "passphrase", "nobody guesses this").Want(http.StatusSeeOther)
	f.Get(back.Header.Get("Location")).Want(http.StatusSeeOther)
	return f
}

// builtIn returns the built-in league.
var builtIn = sync.OnceValue(func() *league.League { return league.New(league.LastSeason) })

// Clubs is the built-in league, with a season and a team that fail.
type Clubs struct{}

// Teams returns the clubs of a season. Season 66 is unavailable.
func (Clubs) Teams(ctx context.Context, season int) (teams.List, error) {
	if season == 66 {
		return teams.List{}, fmt.Errorf("season 66: %w", teams.ErrUnavailable)
	}
	return builtIn().Teams(ctx, season)
}

// Roster returns the players of a club. The team "thin" has too few.
func (Clubs) Roster(ctx context.Context, season int, id string) (teams.Roster, error) {
	if id == "thin" {
		return teams.Roster{}, fmt.Errorf("team thin: %w", teams.ErrTooFewPlayers)
	}
	r, err := builtIn().Roster(ctx, season, id)
	r.Stale, r.FetchedAt = true, time.Now()
	return r, err
}

// A GamesRig is a house in which games are played.
type GamesRig struct {
	*SignInRig
	Games     *live.Games
	GameStore *store.Store // of games
	fans      atomic.Int64
}

// NewGamesRig makes one; its hall runs until the test ends.
func NewGamesRig(tb testing.TB, change ...func(*site.Config)) *GamesRig {
	tb.Helper()
	p := &GamesRig{}
	kept, err := store.Open(filepath.Join(tb.TempDir(), "games.db"), store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := kept.Close(); err != nil {
			tb.Error(err)
		}
	})
	p.GameStore = kept
	furnish := func(cfg *site.Config) {
		var err error
		p.Games, err = live.New(tb.Context(), live.Config{Journal: kept.Games(), Rosters: Clubs{}, Announcer: cfg.Announcements.Announcer, Log: cfg.Log})
		if err != nil {
			tb.Fatal(err)
		}
		cfg.Play.Games, cfg.Season = p.Games, league.LastSeason
	}
	p.SignInRig = NewSignInRig(tb, append([]func(*site.Config){furnish}, change...)...)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Games.Run(ctx); err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return p
}

// A Player is somebody who is signed in.
type Player struct {
	*Browser
	T    testing.TB // of the test that he is in, which may be one of several in a stadium
	Name string
}

// Player signs somebody in.
func (p *GamesRig) Player(tb testing.TB, name string) *Player {
	tb.Helper()
	p.Provider.Mu.Lock()
	p.Provider.Identity = auth.Identity{Provider: "test", Subject: name, Name: name}
	p.Provider.Mu.Unlock()
	f := &Player{p.Browser(tb), tb, name}
	n := p.fans.Add(1) // each has an address of his own, and so an allowance
	f.From = fmt.Sprintf("192.168.%d.%d:40000", n/250, n%250+1)
	f.SignIn()
	return f
}

// Ask sends a request with a JSON body, "" for none, and reads the answer into v, if that is not nil.
func (f *Player) Ask(method, path, body string, status int, v any) Page {
	f.T.Helper()
	headers := []string{"Sec-Fetch-Site", "same-origin"}
	if body != "" {
		headers = append(headers, "Content-Type", "application/json")
	}
	answer := f.Send(method, path, body, headers...).Want(status)
	if v != nil {
		if err := json.Unmarshal([]byte(answer.Text), v); err != nil {
			f.T.Fatalf("%s %s: %v in %s", method, path, err, answer.Text)
		}
	}
	return answer
}

// Refused sends a request that must be refused so.
func (f *Player) Refused(method, path, body string, status int, code string) Page {
	f.T.Helper()
	answer := f.Ask(method, path, body, status, nil)
	if got := answer.Field("code"); got != code {
		f.T.Errorf("%s %s: code %q, want %q: %s", method, path, got, code, answer.Text)
	}
	return answer
}

// A GameView is a game as tests look at it.
type GameView struct {
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

// CreateGame makes a game with these options, as JSON.
func (f *Player) CreateGame(options string) GameView {
	f.T.Helper()
	var g GameView
	f.Ask("POST", "/api/games", `{"home_team": "`+HomeTeam()+`", "away_team": "`+AwayTeam()+`", "options": `+options+`}`, 201, &g)
	return g
}

func HomeTeam() string { return "BWH" }

func AwayTeam() string { return "CPR" }

// SuggestLineup hands in the line-up that the bot would.
func (f *Player) SuggestLineup(id, side string) GameView {
	f.T.Helper()
	lineup := f.Ask("POST", "/api/games/"+id+"/lineups/"+side+"/suggest", "", 200, nil).Text
	var g GameView
	f.Ask("PUT", "/api/games/"+id+"/lineups/"+side, lineup, 200, &g)
	return g
}

// Open serves the stadium on a real port, for websockets, and is its address.
func (p *GamesRig) Open(tb testing.TB) string {
	tb.Helper()
	server := httptest.NewServer(p.Handler())
	tb.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// A Frame is one of a websocket, read.
type Frame struct {
	replica.Frame
	Text []byte
}

// A Socket is a websocket to a stadium.
type Socket struct {
	*websocket.Conn
	T      testing.TB
	Schema func(name string) *jsonschema.Schema

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
func (l *Socket) ReadMessage() (kind int, text []byte, err error) {
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
func (l *Socket) readOut() {
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

// Dial opens a websocket as somebody.
func (f *Player) Dial(address string) *Socket {
	f.T.Helper()
	l, err := f.TryDial(address)
	if err != nil {
		f.T.Fatal(err)
	}
	f.T.Cleanup(func() { _ = l.Close() })
	return l
}

func (f *Player) TryDial(address string) (*Socket, error) {
	dialer := websocket.Dialer{Subprotocols: []string{"pressbox.v1"}, HandshakeTimeout: 5 * time.Minute}
	conn, resp, err := dialer.Dial("ws://"+address+"/api/ws", http.Header{"Cookie": {"pressbox_access=" + f.AccessToken()}})
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	const many = 1 << 10 // more than are told of a game
	return &Socket{Conn: conn, T: f.T, Schema: FrameSchemas(), come: make(chan come, many)}, nil
}

// Sendf sends a frame.
func (l *Socket) Sendf(format string, args ...any) {
	l.T.Helper()
	if err := l.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, args...)); err != nil {
		l.T.Fatal(err)
	}
}

// Read reads the next frame, and holds it against the AsyncAPI document.
func (l *Socket) Read() (Frame, error) {
	_, text, err := l.ReadMessage()
	if err != nil {
		return Frame{}, err
	}
	f := Frame{Text: text}
	if err := json.Unmarshal(text, &f); err != nil {
		l.T.Errorf("%v in %s", err, text)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		l.T.Errorf("%v in %s", err, text)
	}
	if err := l.Schema(f.T).Validate(value); err != nil {
		l.T.Errorf("a frame is not as documented: %v\n%s", err, text)
	}
	return f, nil
}

// Next is the next frame, or one of type "closed" whose rev is the code.
func (l *Socket) Next() Frame {
	l.T.Helper()
	f, err := l.Read()
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return Frame{Frame: replica.Frame{T: "closed", Rev: uint64(closed.Code)}}
	}
	if err != nil {
		l.T.Fatal(err)
	}
	return f
}

// Until skips frames before one of these types.
func (l *Socket) Until(types ...string) Frame {
	l.T.Helper()
	for {
		f := l.Next()
		if slices.Contains(types, f.T) {
			return f
		}
		if f.T == "closed" {
			l.T.Fatalf("closed with %d, waiting for %v", f.Rev, types)
		}
	}
}

// WantNak fails the test unless the next frame that answers is a nak with that code.
func (l *Socket) WantNak(code string) {
	l.T.Helper()
	f := l.Until("nak", "ack", "pong", "closed")
	if got := f.Code(); f.T != "nak" || got != code {
		l.T.Errorf("answered %s, want a nak with code %s", f.Text, code)
	}
}

// Code is the code of a nak.
func (f Frame) Code() string {
	var d struct{ Code string }
	_ = json.Unmarshal(f.D, &d)
	return d.Code
}

// Violations returns path and code of all that is wrong.
func (p Page) Violations() []string {
	p.T.Helper()
	var problem struct {
		Errors []struct{ Path, Code string }
	}
	if err := json.Unmarshal([]byte(p.Text), &problem); err != nil {
		p.T.Fatal(err)
	}
	var all []string
	for _, e := range problem.Errors {
		all = append(all, e.Path+" "+e.Code)
	}
	return all
}

func Sorted(all []string) string {
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// A Display reads what a wall display is told.
type Display struct {
	t     testing.TB
	lines *bufio.Scanner
	Last  string   // data of the last event
	All   []string // type and data of all events
}

func OpenDisplay(tb testing.TB, address string) *Display {
	tb.Helper()
	resp, err := http.Get("http://" + address + "/api/kiosk")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return &Display{t: tb, lines: lines}
}

// Await reads until an event of a type that holds a text.
func (d *Display) Await(kind, text string) {
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
		d.Last = data
		d.All = append(d.All, event+" "+data)
		WantDocumented(d.t, event, data)
		if event == kind && strings.Contains(data, text) {
			return
		}
	}
	d.t.Fatalf("no %s with %s came: %v", kind, text, d.lines.Err())
}

// WantDocumented holds an event of a stream against the OpenAPI document.
func WantDocumented(tb testing.TB, event, data string) {
	tb.Helper()
	name := map[string]string{"game": "Game", "announcement": "Announcement"}[event]
	if name == "" {
		return
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	if err := NewChecker(tb).Schema(tb, "#/components/schemas/"+name).Validate(value); err != nil {
		tb.Errorf("a %s is not as documented: %v", event, err)
	}
}

// WithTeams lets the built-in league be asked for.
func WithTeams(cfg *site.Config) { cfg.Play.Teams = Clubs{} }

// NewTable begins a game with these options.
func (p *GamesRig) NewTable(tb testing.TB, options string) *Table {
	tb.Helper()
	n := p.fans.Load() // nobody sits at two tables: one has only so many sessions
	seat := &Table{GamesRig: p, Home: p.Player(tb, fmt.Sprint("Anna ", n)), Away: p.Player(tb, fmt.Sprint("Bert ", n))}
	seat.ID = seat.Home.CreateGame(options).ID
	seat.Away.Ask(http.MethodPost, "/api/games/"+seat.ID+"/join", "", 200, nil)
	seat.Home.SuggestLineup(seat.ID, "home")
	if g := seat.Away.SuggestLineup(seat.ID, "away"); g.Status != protocol.Active {
		tb.Fatalf("with both line-ups in it is %s", g.Status)
	}
	return seat
}

// TrySendf sends a frame; the connection may have been cut.
func (l *Socket) TrySendf(format string, args ...any) error {
	return l.WriteMessage(1, fmt.Appendf(nil, format, args...))
}

// DialWire opens a websocket of a stadium that is in a synctest bubble, over a
// wire on which the stadium is served.
func (f *Player) DialWire(l *Wire) *Socket {
	f.T.Helper()
	dialer := websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) { return l.Dial(), nil }}
	conn, resp, err := dialer.DialContext(context.Background(), "ws://pressbox.local/api/ws", http.Header{"Cookie": {"pressbox_access=" + f.AccessToken()}})
	if err != nil {
		f.T.Fatal(err)
	}
	_ = resp.Body.Close()
	return &Socket{Conn: conn, T: f.T, Schema: FrameSchemas()}
}
