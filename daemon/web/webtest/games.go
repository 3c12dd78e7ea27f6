package webtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/auth"
	"pressbox/daemon/replica"
	"pressbox/daemon/web/site"
	"pressbox/game/bot/bottest"
	"pressbox/game/league"
	"pressbox/game/leagues"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// LocalPlayer creates a local account and signs in with it.
func (r *Rig) LocalPlayer(tb testing.TB, name string) *Player {
	tb.Helper()
	f := &Player{r.Browser(tb), tb, name}
	f.CreateAccount(name)
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

// NewGamesRig returns a rig with sign-in and games.
func NewGamesRig(tb testing.TB, change ...func(*site.Config)) *Rig {
	tb.Helper()
	r := newRig(tb)
	r.GameStore = openStore(tb)
	withGames := func(cfg *site.Config) {
		r.Games = check.Must(live.New(tb.Context(), live.Config{
			Journal: r.GameStore.Games(), Rosters: Clubs{}, Shelf: r.GameStore,
			Announcer: cfg.Announcements.Announcer, Seeds: bottest.Seeds(),
			Finished: func(string) { r.Leagues.Wake() }, Log: cfg.Log,
		}))(tb)
		r.Leagues = check.Must(leagues.New(tb.Context(),
			leagues.Config{Repository: r.GameStore, Games: r.Games, Rosters: Clubs{}, Log: cfg.Log}))(tb)
		cfg.Play.Games, cfg.Play.Leagues, cfg.Season = r.Games, r.Leagues, league.LastSeason
	}
	r.startSignIn(append([]func(*site.Config){withGames}, change...))
	check.Run(tb, r.Games.Run)
	check.Run(tb, r.Leagues.Run)
	return r
}

// A Player is a browser that is signed in.
type Player struct {
	*Browser
	T    testing.TB // may be a subtest of the rig's test
	Name string
}

// Player signs in with an account of a name, from an address of its own.
func (r *Rig) Player(tb testing.TB, name string) *Player {
	tb.Helper()
	r.Provider.Identifies(auth.Identity{Provider: "test", Subject: name, Name: name})
	f := &Player{r.Browser(tb), tb, name}
	n := r.players.Add(1) // the limits of an address apply to one player
	f.From = fmt.Sprintf("192.168.%d.%d:40000", n/250, n%250+1)
	f.SignIn()
	return f
}

// Ask sends a request with a JSON body; "" means none. It decodes the response into v unless v is nil.
func (f *Player) Ask(method, path, body string, status int, v any) Page {
	f.T.Helper()
	headers := []string{"Sec-Fetch-Site", "same-origin"}
	if body != "" {
		headers = append(headers, "Content-Type", "application/json")
	}
	answer := f.Send(method, path, body, headers...).Want(status)
	if v != nil {
		answer.Decode(v)
	}
	return answer
}

// Refused sends a request and fails the test unless the response has the status and the problem code.
func (f *Player) Refused(method, path, body string, status int, code string) Page {
	f.T.Helper()
	return f.Ask(method, path, body, status, nil).Want(status, code)
}

// A GameView is the part of a game that tests inspect.
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

// CreateGame creates a game; options is a JSON object.
func (f *Player) CreateGame(options string) GameView {
	f.T.Helper()
	var g GameView
	f.Ask("POST", "/api/games", `{"home_team": "`+HomeTeam()+`", "away_team": "`+AwayTeam()+
		`", "options": `+options+`}`, 201, &g)
	return g
}

// HomeTeam returns the id of the home team.
func HomeTeam() string { return "BWH" }

// AwayTeam returns the id of the away team.
func AwayTeam() string { return "CPR" }

// SuggestLineup submits the line-up that the server suggests.
func (f *Player) SuggestLineup(id, side string) GameView {
	f.T.Helper()
	lineup := f.Ask("POST", "/api/games/"+id+"/lineups/"+side+"/suggest", "", 200, nil).Text
	var g GameView
	f.Ask("PUT", "/api/games/"+id+"/lineups/"+side, lineup, 200, &g)
	return g
}

// Open serves the rig on a TCP port and returns its address.
func (r *Rig) Open(tb testing.TB) string {
	tb.Helper()
	return strings.TrimPrefix(r.ListenTCP(tb), "http://")
}

// A Frame is a frame of a websocket.
type Frame struct {
	replica.Frame
	Text []byte
}

// A Socket is a websocket to the server.
type Socket struct {
	*websocket.Conn
	T      testing.TB
	Schema func(name string) *jsonschema.Schema

	// incoming buffers the messages, so that the socket answers pings while the test
	// does not read; nil if ReadMessage reads from the connection.
	incoming chan message
	read     sync.Once
}

// A message is a result of ReadMessage.
type message struct {
	kind int
	text []byte
	err  error
}

// ReadMessage returns the next message.
func (l *Socket) ReadMessage() (kind int, text []byte, err error) {
	if l.incoming == nil {
		return l.Conn.ReadMessage()
	}
	l.read.Do(func() { go l.readAll() })
	select {
	case m, ok := <-l.incoming:
		if !ok {
			return 0, nil, net.ErrClosed
		}
		return m.kind, m.text, m.err
	case <-time.After(5 * time.Minute): // so that a failed test ends
		return 0, nil, os.ErrDeadlineExceeded
	}
}

// readAll reads until the connection is closed.
func (l *Socket) readAll() {
	defer close(l.incoming)
	for {
		var m message
		m.kind, m.text, m.err = l.Conn.ReadMessage()
		l.incoming <- m
		if m.err != nil {
			return
		}
	}
}

// Dial opens a websocket of the player, which is closed when the test ends.
func (f *Player) Dial(address string) *Socket {
	f.T.Helper()
	l := check.Must(f.TryDial(address))(f.T)
	f.T.Cleanup(func() { _ = l.Close() })
	l.read.Do(func() { go l.readAll() }) // answers pings, however long the test takes until it reads
	return l
}

// TryDial opens a websocket of the player.
func (f *Player) TryDial(address string) (*Socket, error) {
	dialer := websocket.Dialer{Subprotocols: []string{"pressbox.v1"}, HandshakeTimeout: 5 * time.Minute}
	conn, resp, err := dialer.Dial("ws://"+address+"/api/ws",
		http.Header{"Cookie": {"pressbox_access=" + f.AccessToken()}})
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	return NewSocket(f.T, conn), nil
}

// NewSocket returns an open websocket whose frames are checked.
func NewSocket(tb testing.TB, conn *websocket.Conn) *Socket {
	tb.Helper()
	const capacity = 1 << 10 // more than the frames of a game
	return &Socket{Conn: conn, T: tb, Schema: FrameSchemas(), incoming: make(chan message, capacity)}
}

// Sendf sends a frame.
func (l *Socket) Sendf(format string, args ...any) {
	l.T.Helper()
	check.NoError(l.T, l.TrySendf(format, args...))
}

// TrySendf sends a frame and returns the error.
func (l *Socket) TrySendf(format string, args ...any) error {
	return l.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, args...))
}

// Read returns the next frame, checked against the AsyncAPI document.
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
	check.That(l.T, err == nil, "%v in %s", err, text)
	if err := l.Schema(f.T).Validate(value); err != nil {
		l.T.Errorf("frame does not match its schema: %v\n%s", err, text)
	}
	return f, nil
}

// Next returns the next frame, or one of type "closed" with the close code as Rev.
func (l *Socket) Next() Frame {
	l.T.Helper()
	f, err := l.Read()
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return Frame{Frame: replica.Frame{T: "closed", Rev: uint64(closed.Code)}}
	}
	check.NoError(l.T, err)
	return f
}

// Until returns the next frame of one of the types.
func (l *Socket) Until(types ...string) Frame {
	l.T.Helper()
	for {
		f := l.Next()
		if slices.Contains(types, f.T) {
			return f
		}
		check.Require(l.T, f.T != "closed", "closed with %d, waiting for %v", f.Rev, types)
	}
}

// WantNak fails the test unless the next nak, ack or pong is a nak with the code.
func (l *Socket) WantNak(code string) {
	l.T.Helper()
	f := l.Until("nak", "ack", "pong", "closed")
	if got := f.Code(); f.T != "nak" || got != code {
		l.T.Errorf("reply %s, want a nak with code %s", f.Text, code)
	}
}

// Code returns the error code of a nak.
func (f Frame) Code() string {
	var d struct{ Code string }
	_ = json.Unmarshal(f.D, &d)
	return d.Code
}

// A Display reads the event stream of a wall display.
type Display struct {
	t     testing.TB
	lines *bufio.Scanner
	Last  string   // data of the last event
	All   []string // type and data of all events
}

// OpenDisplay opens the event stream; headers alternates names and values.
func OpenDisplay(tb testing.TB, address string, headers ...string) *Display {
	tb.Helper()
	r := NewRequest(http.MethodGet, "/api/kiosk", "", headers...)
	r.URL.Scheme, r.URL.Host, r.RequestURI = "http", address, ""
	resp := check.Must(http.DefaultTransport.RoundTrip(r))(tb)
	tb.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return &Display{t: tb, lines: lines}
}

// Await reads until an event of the type kind whose data contains text.
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
	d.t.Fatalf("no event %s with %s: %v", kind, text, d.lines.Err())
}

// WantDocumented checks the data of an event against the OpenAPI document.
func WantDocumented(tb testing.TB, event, data string) {
	tb.Helper()
	name := map[string]string{
		"game": "Game", "announcement": "Announcement", "volume": "Volume", "quiet": "Quiet",
	}[event]
	if name == "" {
		return
	}
	value := check.Must(jsonschema.UnmarshalJSON(strings.NewReader(data)))(tb)
	if err := NewChecker(tb).Schema(tb, "#/components/schemas/"+name).Validate(value); err != nil {
		tb.Errorf("%s does not match its schema: %v", event, err)
	}
}

// WithTeams configures the built-in league.
func WithTeams(cfg *site.Config) { cfg.Play.Teams = Clubs{} }

// NewMatch starts a game; options is a JSON object.
func (r *Rig) NewMatch(tb testing.TB, options string) *Match {
	tb.Helper()
	n := r.players.Load() // new players: an account has a limited number of sessions
	m := &Match{Rig: r, Home: r.Player(tb, fmt.Sprint("Anna ", n)), Away: r.Player(tb, fmt.Sprint("Bert ", n))}
	m.ID = m.Home.CreateGame(options).ID
	m.Away.Ask(http.MethodPost, "/api/games/"+m.ID+"/join", "", 200, nil)
	m.Home.SuggestLineup(m.ID, "home")
	if g := m.Away.SuggestLineup(m.ID, "away"); g.Status != protocol.Active {
		tb.Fatalf("status %s with both line-ups, want active", g.Status)
	}
	return m
}

// DialWire opens a websocket over a wire on which the rig is served in a synctest bubble.
func (f *Player) DialWire(l *Wire) *Socket {
	f.T.Helper()
	dialer := websocket.Dialer{NetDialContext: func(context.Context,
		string, string,
	) (net.Conn, error) {
		return l.Dial(), nil
	}}
	conn, resp, err := dialer.DialContext(context.Background(),
		"ws://pressbox.local/api/ws", http.Header{"Cookie": {"pressbox_access=" + f.AccessToken()}})
	check.NoError(f.T, err)
	_ = resp.Body.Close()
	return &Socket{Conn: conn, T: f.T, Schema: FrameSchemas()}
}

// A Match is an active game and its two managers.
type Match struct {
	*Rig
	ID         string
	Home, Away *Player
}

// JoinState joins and applies frames until the game's state.
func (m *Manager) JoinState() *Manager {
	m.T.Helper()
	m.Join()
	for {
		f := m.Next()
		m.Follow(f)
		if f.T == "state" {
			return m
		}
	}
}

// State returns the revision and the hash of the game's state.
func (a *Match) State(t *testing.T) string {
	t.Helper()
	var g struct {
		Rev   uint64
		State struct{ Hash string }
	}
	a.Home.Ask(http.MethodGet, "/api/games/"+a.ID, "", 200, &g)
	return fmt.Sprint(g.Rev, g.State.Hash)
}

// Side returns the side in the first hello; "" if there is none.
func (m *Manager) Side() string {
	for _, h := range m.Received {
		var hello struct {
			T string
			D struct{ Sides []string }
		}
		if json.Unmarshal([]byte(h), &hello) == nil && hello.T == "hello" && len(hello.D.Sides) == 1 {
			return hello.D.Sides[0]
		}
	}
	return ""
}

// NewReplica returns a replica of the game in a response of GET /api/games/{id}.
func NewReplica(tb testing.TB, g Page) *replica.Replica {
	tb.Helper()
	return check.Must(replica.New([]byte(g.Text)))(tb)
}

// A Manager plays a game over a websocket: it chooses among the legal actions and maintains a replica.
type Manager struct {
	*Socket
	*replica.Replica
	Game     string
	Commands int
	Dice     *rand.Rand // chooses the action; nil means the first legal one
	Received []string   // all frames
}

// Manage returns a manager that has not yet joined the game.
func (f *Player) Manage(address, id string) *Manager {
	f.T.Helper()
	return &Manager{
		Socket: f.Dial(address), Replica: NewReplica(f.T, f.Ask("GET", "/api/games/"+id, "", 200, nil)), Game: id,
	}
}

// Join joins the game at the revision of the replica.
func (m *Manager) Join() {
	m.T.Helper()
	m.Sendf(`{"t":"join","g":%q,"d":{"since":%d}}`, m.Game, m.Rev)
}

// Follow applies a frame to the replica.
func (m *Manager) Follow(f Frame) {
	m.T.Helper()
	m.Received = append(m.Received, string(f.Text))
	check.NoError(m.T, m.Apply(f.Frame))
	switch f.T {
	case "nak":
		if code := f.Code(); code != "stale_revision" { // the other manager acted first
			m.T.Fatalf("reply %s", f.Text)
		}
	case "closed":
		m.T.Fatalf("closed with %d", f.Rev)
	}
}

// Command sends an action and returns its new command id.
func (m *Manager) Command(action []byte) string {
	m.T.Helper()
	m.Commands++
	cid := fmt.Sprintf("c%d", m.Commands)
	m.Sendf(`{"t":"cmd","g":%q,"cid":%q,"rev":%d,"d":{"action":%s}}`, m.Game, cid, m.Rev, action)
	return cid
}

// Decide sends a legal action, or sometimes a substitution. It sends nothing if no action is legal.
func (m *Manager) Decide() {
	m.T.Helper()
	if len(m.Legal) == 0 {
		return
	}
	action := m.Legal[0]
	if m.Dice != nil && m.Dice.IntN(3) == 0 {
		action = m.Legal[m.Dice.IntN(len(m.Legal))]
	}
	if m.Dice != nil && m.Dice.IntN(20) == 0 {
		for _, o := range m.Offers {
			if o.Group == "substitution" && m.Dice.IntN(5) == 0 {
				action = o
			}
		}
	}
	m.Legal, m.Offers = nil, nil
	m.Command(action.Action)
}

// PlayOut joins the game and plays it to the end.
func (m *Manager) PlayOut() {
	m.T.Helper()
	m.Join()
	for !m.Over {
		m.Follow(m.Next())
		m.Decide()
	}
}
