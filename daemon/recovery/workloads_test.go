package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"pressbox/audio"
	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/session"
	"pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/league"
	"pressbox/game/leagues"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/store"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/control"
)

// A workload is a kind of data that the server saves: a new bucket of the store needs a row.
type workload struct {
	name string
	// step makes the i-th change and acknowledges it.
	step func(s *site, i int) error
	// look returns the state of what a key names; "" means that it does not exist.
	look func(s *site, key string) (string, error)
}

var workloads = []workload{
	{"announcement", announceOrCancel, find(func(a announce.Announcement) string { return string(a.Status) })},
	{"repeating", scheduleOrChange, find(func(a announce.Announcement) string {
		return fmt.Sprint(a.Status, " ", a.Spoken)
	})},
	{"owed", oweOrSettle, find(func(a announce.Announcement) string {
		return fmt.Sprint(a.Status, " ", a.Rooms.States())
	})},
	{"key", announceOnce, findKey},
	{"move", move, findMove},
	{"lineup", submitLineup, findLineup},
	{"league", createOrPlayLeague, findLeague},
	{"session", signInOrOut, findSession},
	{"token", createOrRevokeToken, findToken},
	{"calibration", calibrate, findCalibration},
	{"team", saveTeamData, findTeamData},
	{"provider", saveProviderDocument, findProviderDocument},
	{"ducked", saveDucked, findDucked},
	{"control", saveControl, findControl},
}

// A site is a store in use. Its ledger is nil where it is only read.
type site struct {
	store     *store.Store
	announcer *announcer.Announcer
	games     *live.Games
	leagues   *leagues.Leagues
	signIn    *session.SignIn
	ledger    *ledger

	life     int // the number of the process
	gameID   string
	lineupID string // of a pending game
	leagueID string
	cancel   string // the last announcement
	repeat   string // the last repeating one
	owed     string // the last one for other rooms
	keyed    string // the last announcement of a key
	sessions []auth.Result
	tokens   []auth.APIToken
}

func newSite(ctx context.Context, st *store.Store) (*site, error) {
	log := slog.New(slog.DiscardHandler)
	s := &site{store: st}
	var err error
	if s.announcer, err = newAnnouncer(st); err != nil { //nolint:contextcheck // it reads once
		return nil, err
	}
	if s.games, s.leagues, err = newGames(ctx, st); err != nil {
		return nil, err
	}
	clock, err := session.OpenClock(ctx, st.Auth(), authtest.NewHost().Source(), authtest.Released)
	if err != nil {
		return nil, err
	}
	s.signIn = &session.SignIn{
		Provider:     &authtest.Provider{Identity: auth.Identity{Provider: "test", Subject: "1", Name: "Anna"}},
		ProviderName: "test", SignUp: auth.SignUpOpen, Sessions: session.New(st.Auth(), clock, 0, log), Log: log,
	}
	return s, nil
}

// newAnnouncer returns an announcer that does not run.
func newAnnouncer(st *store.Store) (*announcer.Announcer, error) {
	c := announce.Config{Max: 10_000, TTL: 24 * time.Hour, Rate: 170, Volume: 100, History: true}
	return announcer.New(c, announcer.Parts{
		Outbox: st, Speaker: mute{}, Sink: mute{}, Rooms: twoRooms{}, Log: slog.New(slog.DiscardHandler),
	})
}

// newGames returns games and leagues that do not run.
func newGames(ctx context.Context, st *store.Store) (*live.Games, *leagues.Leagues, error) {
	log := slog.New(slog.DiscardHandler)
	games, err := live.New(ctx, live.Config{Journal: st.Games(), Rosters: builtIn(), Seeds: bottest.Seeds(), Log: log})
	if err != nil {
		return nil, nil, err
	}
	all, err := leagues.New(ctx, leagues.Config{
		Repository: st, Games: games, Rosters: builtIn(), Zone: time.UTC, Log: log,
	})
	return games, all, err
}

var builtIn = sync.OnceValue(func() *league.League { return league.New(league.LastSeason) })

// mute is a speaker and a sink that are not used: the announcer does not run.
type mute struct{}

func (mute) Voice(string) (string, error) { return "anna", nil }
func (mute) Play(context.Context, <-chan audio.Clip, *audio.Fader) (time.Duration, error) {
	return 0, errors.New("not used")
}

func (mute) Speak(context.Context, announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(func(announce.Clip, error) bool) {}
}

// round makes the i-th change of every workload: one after the other, or, in every second round, at the same time.
func (s *site) round(i int) error {
	errs := make([]error, len(workloads))
	var wait sync.WaitGroup
	for n, w := range workloads {
		wait.Go(func() {
			if err := w.step(s, i); err != nil {
				errs[n] = fmt.Errorf("%s %d: %w", w.name, i, err)
			}
		})
		if i%2 == 0 {
			wait.Wait()
		}
	}
	wait.Wait()
	return errors.Join(errs...)
}

// look returns the state of what a key of the form workload/key names.
func (s *site) look(key string) (string, error) {
	name, rest, _ := strings.Cut(key, "/")
	i := slices.IndexFunc(workloads, func(w workload) bool { return w.name == name })
	if i < 0 {
		return "", fmt.Errorf("no workload %s", key)
	}
	return workloads[i].look(s, rest)
}

// announceOrCancel cancels every third announcement.
func announceOrCancel(s *site, i int) error {
	if i%3 == 2 {
		s.ledger.begin("announcement/"+s.cancel, string(announce.Cancelled))
		_, err := s.announcer.Cancel(context.Background(), s.cancel)
		return s.ledger.ack("announcement/"+s.cancel, err)
	}
	message := fmt.Sprintf("The bus %d-%d is here. %s", s.life, i, strings.Repeat("Bring an umbrella. ", i*7%40))
	v, err := s.announcer.Announce(context.Background(), announce.Request{Content: announce.Content{Message: message}})
	if err != nil {
		return err
	}
	s.cancel = v.ID
	return s.ledger.set("announcement/"+v.ID, string(announce.Queued))
}

// scheduleOrChange schedules a repeating announcement, saves it as it waits for its second repetition, and cancels it.
func scheduleOrChange(s *site, i int) error {
	ctx := context.Background()
	if i%3 == 0 {
		v, err := s.announcer.Announce(ctx, announce.Request{
			Content: announce.Content{Title: "Bus", Message: fmt.Sprintf("The bus %d-%d is here.", s.life, i)},
			In:      24 * time.Hour, Repeat: announce.Repeat{Times: 3, Every: time.Minute},
			Sender: announce.Sender{Kind: announce.FromPage, Name: "Ann"},
		})
		if err != nil {
			return err
		}
		s.repeat = v.ID
		return s.ledger.set("repeating/"+v.ID, "scheduled 0")
	}
	if i%3 == 1 {
		v, err := s.announcer.Find(s.repeat)
		if err != nil {
			return err
		}
		v.Spoken++
		s.ledger.begin("repeating/"+s.repeat, "scheduled 1")
		return s.ledger.ack("repeating/"+s.repeat, s.store.Update(ctx, v.Announcement))
	}
	id := s.repeat
	s.repeat = "" // if the next one cannot be saved, none is changed
	s.ledger.begin("repeating/"+id, "cancelled 0")
	_, err := s.announcer.Cancel(ctx, id)
	return s.ledger.ack("repeating/"+id, err)
}

// find returns a text of a stored announcement.
func find(text func(announce.Announcement) string) func(*site, string) (string, error) {
	return func(s *site, id string) (string, error) {
		waiting, ended, err := s.store.Load(context.Background())
		for _, a := range append(waiting, ended...) {
			if a.ID == id {
				return text(a), err
			}
		}
		return "", err
	}
}

// twoRooms are the rooms that every announcement for rooms is owed to.
type twoRooms struct{}

func (twoRooms) Own() string { return "here" }

func (twoRooms) Resolve([]string) (bool, []string, error) {
	return false, []string{"hall", "kitchen"}, nil
}

// oweOrSettle accepts an announcement for two other rooms, which report that they have spoken it.
func oweOrSettle(s *site, i int) error {
	ctx := context.Background()
	if i%3 == 0 {
		message := fmt.Sprintf("The bus %d-%d is here.", s.life, i)
		v, err := s.announcer.Announce(ctx, announce.Request{
			Content: announce.Content{Message: message}, Rooms: []string{"all"},
		})
		if err != nil {
			return err
		}
		s.owed = v.ID
		return s.ledger.set("owed/"+v.ID, "queued map[hall:waiting kitchen:waiting]")
	}
	room, value := "hall", "queued map[hall:done kitchen:waiting]"
	if i%3 == 2 {
		room, value = "kitchen", "done map[hall:done kitchen:done]"
	}
	s.ledger.begin("owed/"+s.owed, value)
	return s.ledger.ack("owed/"+s.owed, s.announcer.SetRoom(ctx, s.owed, room, announce.RoomState(announce.Done)))
}

// announceOnce announces with an idempotency key, repeats the request, and cancels the announcement, in three rounds.
func announceOnce(s *site, i int) error {
	ctx, key := context.Background(), fmt.Sprint(s.life, "-", i/3)
	if i%3 == 2 {
		s.ledger.begin("key/"+key, s.keyed+" "+string(announce.Cancelled))
		_, err := s.announcer.Cancel(ctx, s.keyed)
		return s.ledger.ack("key/"+key, err)
	}
	v, err := s.announcer.Announce(ctx, keyedRequest(key))
	if err != nil {
		return err
	}
	if i%3 == 1 && v.ID != s.keyed {
		return fmt.Errorf("the key %s is of %s, a repeated request is answered with %s", key, s.keyed, v.ID)
	}
	s.keyed = v.ID
	return s.ledger.set("key/"+key, v.ID+" "+string(v.Status))
}

func keyedRequest(key string) announce.Request {
	return announce.Request{Content: announce.Content{Message: "Ball four, " + key}, IdempotencyKey: key}
}

// findKey repeats the request of a key that exists.
func findKey(s *site, key string) (string, error) {
	_, _, err := s.store.Find(context.Background(), announce.IdempotencyKey{Key: key}) // of another request
	if !errors.Is(err, announce.ErrKeyReused) {
		return "", err
	}
	v, err := s.announcer.Announce(context.Background(), keyedRequest(key))
	return v.ID + " " + string(v.Status), err
}

var ann = protocol.Person{ID: "u-ann", Name: "Ann"}

// move begins a game, or makes the first legal move of the present one.
func move(s *site, i int) error {
	ctx := context.Background()
	if s.gameID == "" {
		return s.beginGame()
	}
	g, err := s.games.Game(ctx, ann, s.gameID)
	if err != nil {
		return err
	}
	if len(g.Legal) == 0 {
		s.gameID = ""
		return nil
	}
	c := protocol.Command{ID: fmt.Sprint(s.life, "-", i), Revision: g.Revision, Action: g.Legal[i%len(g.Legal)].Action}
	key := "move/" + s.gameID + "/" + c.ID
	s.ledger.begin(key, "saved")
	_, _, err = s.games.Submit(ctx, ann, s.gameID, c, nil)
	return s.ledger.ack(key, err)
}

func (s *site) beginGame() error {
	ctx := context.Background()
	q := protocol.Request{HomeTeam: "BWH", AwayTeam: "CPR", Options: protocol.Defaults()}
	q.Options.Opponent, q.Options.Innings = protocol.HotSeat, 3
	g, err := s.games.Create(ctx, ann, q)
	if err != nil {
		return err
	}
	s.ledger.begin("move/"+g.ID, "saved")
	for _, side := range []game.Side{game.Away, game.Home} {
		l, err := s.games.Suggest(ctx, ann, g.ID, side)
		if err == nil {
			_, err = s.games.SetLineup(ctx, ann, g.ID, side, l)
		}
		if err != nil {
			return err
		}
	}
	s.gameID = g.ID
	return s.ledger.ack("move/"+g.ID, nil)
}

// submitLineup creates a pending game, or submits another line-up in one, or cancels it.
func submitLineup(s *site, i int) error {
	ctx, by := context.Background(), protocol.Person{ID: fmt.Sprint("u-", s.life), Name: "Bob"}
	if s.lineupID == "" {
		q := protocol.Request{HomeTeam: "BWH", AwayTeam: "CPR", Options: protocol.Defaults()}
		g, err := s.games.Create(ctx, by, q)
		s.lineupID = g.ID
		return err
	}
	key := "lineup/" + s.lineupID
	if i%9 == 8 {
		s.ledger.begin(key, "")
		err := s.games.Cancel(ctx, by, s.lineupID)
		s.lineupID = ""
		return s.ledger.ack(key, err)
	}
	l, err := s.games.Suggest(ctx, by, s.lineupID, game.Home)
	if err != nil {
		return err
	}
	l.Order[0], l.Order[i%9] = l.Order[i%9], l.Order[0]
	s.ledger.begin(key, string(l.Order[0].Player))
	_, err = s.games.SetLineup(ctx, by, s.lineupID, game.Home, l)
	return s.ledger.ack(key, err)
}

// findLineup returns who bats first.
func findLineup(s *site, id string) (first string, err error) {
	moves, err := s.store.Games().Moves(context.Background(), id)
	for _, data := range moves {
		var m struct{ Lineup game.Lineup }
		if err := json.Unmarshal(data, &m); err != nil {
			return "", err
		}
		if len(m.Lineup.Order) > 0 {
			first = string(m.Lineup.Order[0].Player)
		}
	}
	return first, err
}

func findMove(s *site, key string) (string, error) {
	id, command, _ := strings.Cut(key, "/")
	moves, err := s.store.Games().Moves(context.Background(), id)
	if len(moves) > 0 && command == "" { // of a game of which only the existence was recorded
		return "saved", err
	}
	for _, data := range moves {
		var m struct {
			CID string `json:"cid"`
		}
		if err := json.Unmarshal(data, &m); err != nil {
			return "", err
		}
		if m.CID == command {
			return "saved", nil
		}
	}
	return "", err
}

// createOrPlayLeague creates a series in place of those that exist, or gives its open seat to Ann, which starts it.
func createOrPlayLeague(s *site, i int) error {
	ctx := context.Background()
	if i%2 == 0 {
		for _, old := range s.leagues.Stored() {
			s.ledger.begin("league/"+old.ID, "")
			if err := s.ledger.ack("league/"+old.ID, s.leagues.Remove(ctx, old.ID)); err != nil {
				return err
			}
		}
		q := leagues.Defaults(leagues.Series)
		q.Name = fmt.Sprint("Series ", s.life, "-", i)
		q.Seats = []leagues.SeatRequest{{Team: "BWH", Manager: "bot"}, {Team: "CPR", Manager: "open"}}
		v, err := s.leagues.Create(ctx, ann, leagues.Series, q)
		if err != nil {
			return err
		}
		s.leagueID = v.ID
		return s.ledger.set("league/"+v.ID, string(leagues.Pending))
	}
	s.ledger.begin("league/"+s.leagueID, string(leagues.Active))
	_, err := s.leagues.Join(ctx, ann, leagues.Series, s.leagueID, -1)
	return s.ledger.ack("league/"+s.leagueID, err)
}

func findLeague(s *site, id string) (string, error) {
	for _, l := range s.leagues.Stored() {
		if l.ID == id {
			return string(l.Status), nil
		}
	}
	return "", nil
}

// signInOrOut signs in, renews the tokens, or signs out.
func signInOrOut(s *site, i int) error {
	ctx := context.Background()
	if i%3 == 2 && len(s.sessions) > 0 {
		r := s.sessions[0]
		s.sessions = s.sessions[1:]
		s.ledger.begin("session/"+r.Access.Reveal(), "ended")
		return s.ledger.ack("session/"+r.Access.Reveal(), s.signIn.Sessions.Logout(ctx, r.Access))
	}
	flow, err := s.signIn.Begin(ctx, auth.FlowOptions{Redirect: "https://box.example/callback"})
	if err != nil {
		return err
	}
	r, err := s.signIn.Finish(ctx, auth.Callback{State: flow.State, Binding: flow.Binding, Code: "code"})
	if err != nil {
		return err
	}
	s.sessions = append(s.sessions, r)
	return s.ledger.set("session/"+r.Access.Reveal(), "open")
}

// findSession does not distinguish a session that ended from one that never was.
func findSession(s *site, token string) (string, error) {
	_, err := s.signIn.Sessions.Authenticate(context.Background(), auth.RequestCredentials{Cookies: []string{token}})
	if err != nil {
		return "ended", nil //nolint:nilerr // it is the answer
	}
	return "open", nil
}

func createOrRevokeToken(s *site, i int) error {
	ctx := context.Background()
	if i%4 == 3 && len(s.tokens) > 0 {
		id := s.tokens[0].ID
		s.tokens = s.tokens[1:]
		s.ledger.begin("token/"+id, "")
		return s.ledger.ack("token/"+id, s.signIn.Sessions.RevokeAPIToken(ctx, id))
	}
	_, record, err := s.signIn.Sessions.CreateAPIToken(ctx, auth.APIToken{Name: fmt.Sprint("token ", s.life, "-", i)})
	if err != nil {
		return err
	}
	s.tokens = append(s.tokens, record)
	return s.ledger.set("token/"+record.ID, "valid")
}

func findToken(s *site, id string) (string, error) {
	all, err := s.signIn.Sessions.APITokens(context.Background())
	if slices.ContainsFunc(all, func(t auth.APIToken) bool { return t.ID == id }) {
		return "valid", err
	}
	return "", err
}

// calibrate replaces one of five values.
func calibrate(s *site, i int) error {
	key, value := fmt.Sprint("voice-", i%5), fmt.Sprintf(`{"life":%d,"gain":%d}`, s.life, i)
	s.ledger.begin("calibration/"+key, value)
	return s.ledger.ack("calibration/"+key, s.store.SaveCalibration(key, []byte(value)))
}

func findCalibration(s *site, key string) (string, error) {
	value, _, err := s.store.Calibration(key)
	return string(value), err
}

func saveTeamData(s *site, i int) error {
	key, value := fmt.Sprint("/teams/", i%7), fmt.Sprintf("%d-%d%s", s.life, i, strings.Repeat(" ", i*311%9000))
	s.ledger.begin("team/"+key, value)
	return s.ledger.ack("team/"+key, s.store.SaveTeamData(context.Background(), key, []byte(value)))
}

func findTeamData(s *site, key string) (string, error) {
	value, err := s.store.TeamData(context.Background(), key)
	return string(value), err
}

// saveDucked saves lowered streams, and in every third round that none are.
func saveDucked(s *site, i int) error {
	var content []byte
	if i%3 > 0 {
		content = fmt.Appendf(nil, "%d-%d%s", s.life, i, strings.Repeat(" ", i*311%9000))
	}
	s.ledger.begin("ducked/streams", string(content))
	return s.ledger.ack("ducked/streams", s.store.SaveDucked(context.Background(), content))
}

func findDucked(s *site, _ string) (string, error) {
	content, err := s.store.Ducked()
	return string(content), err
}

func saveProviderDocument(s *site, i int) error {
	value := fmt.Sprint(s.life, "-", i)
	s.ledger.begin("provider/keys", value)
	return s.ledger.ack("provider/keys", s.store.SaveCached(context.Background(), "keys", []byte(value)))
}

func findProviderDocument(s *site, key string) (string, error) {
	value, err := s.store.Cached(context.Background(), key)
	return string(value), err
}

// saveControl replaces the volume, or creates or deletes one of three schedules.
func saveControl(s *site, i int) error {
	key, value := control.KeyVolume, fmt.Sprintf(`{"life":%d,"volume":%d}`, s.life, i)
	if i%2 == 0 {
		key = fmt.Sprint("schedule/", i%3)
		value += strings.Repeat(" ", i*97%3000)
	}
	if i%8 == 6 {
		s.ledger.begin("control/"+key, "")
		return s.ledger.ack("control/"+key, s.store.SaveControl(context.Background(), key, nil))
	}
	s.ledger.begin("control/"+key, value)
	return s.ledger.ack("control/"+key, s.store.SaveControl(context.Background(), key, []byte(value)))
}

func findControl(s *site, key string) (string, error) {
	records, err := s.store.Controls(context.Background())
	return string(records[key]), err
}

// A ledger records what a process begins to change and what it has acknowledged, in the trace of the file system.
type ledger struct {
	mu   sync.Mutex
	file *os.File
}

// begin records that what key names is about to become value.
func (l *ledger) begin(key, value string) { l.write("begin", key, value) }

// ack records, unless err is not nil, that it has become that.
func (l *ledger) ack(key string, err error) error {
	if err == nil {
		l.write("ack", key, "")
	}
	return err
}

// set records what has become of something already. It returns nil.
func (l *ledger) set(key, value string) error {
	l.begin(key, value)
	return l.ack(key, nil)
}

func (l *ledger) write(what, key, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := fmt.Fprintf(l.file, "%s\t%s\t%s\n", what, key, value); err != nil {
		panic(err)
	}
}

// A history is what may have become of something: the values that were begun, oldest first,
// of which those before acked are out of date.
type history struct {
	values []string
	acked  int
}

// histories returns the history of each key in a ledger.
func histories(lines []string) map[string]*history {
	all := map[string]*history{}
	for _, line := range lines {
		what, rest, _ := strings.Cut(line, "\t")
		key, value, _ := strings.Cut(rest, "\t")
		h := all[key]
		if h == nil {
			h = &history{values: []string{""}}
			all[key] = h
		}
		if what == "ack" {
			h.acked = len(h.values) - 1
		} else {
			h.values = append(h.values, value)
		}
	}
	return all
}

// allows reports whether value is the last acknowledged one or a later one.
func (h *history) allows(value string) bool { return slices.Contains(h.values[h.acked:], value) }

func (h *history) String() string {
	return fmt.Sprintf("%.60q acknowledged, %d begun later", h.values[h.acked], len(h.values)-1-h.acked)
}
