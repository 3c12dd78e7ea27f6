package play_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/daemon/replica"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/game/leagues"
	"pressbox/packaging/check"
)

// Whole games are played over websockets with combinations of all options. The replicas of the managers, of a
// spectator and of a client that reads the events afterwards equal the server's state.
func TestWholeGames(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	games := optionCombinations()
	step := 13 // eight games with each value of each option
	if os.Getenv("PRESSBOX_CRASH_ROUNDS") != "" {
		step = 1
	}
	for i := 0; i < len(games); i += step {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			playGame(t, p, address, games[i], rand.New(rand.NewPCG(uint64(i), 1)))
		})
	}
}

// optionCombinations returns all combinations of the options that change rules, sides and frames, the
// shortest games first. The turn clock, announcements and visibility alternate.
func optionCombinations() (games []string) {
	pick := func(i int, of ...any) any { return of[i%len(of)] }
	for i := range 4 * 3 * 2 * 2 * 2 {
		games = append(games, fmt.Sprintf(
			`{"innings": %d, "dh": %t, "extra_innings": %q, "side": %q, "opponent": %q, "turn_seconds": %d, `+
				`"announce": %q, "visibility": %q, "mercy": %q, "disengagements": %q, "bot_level": %d}`,
			pick(i/24, 3, 5, 7, 9), pick(i, true, false), pick(i/4, "runner", "standard"), pick(i/2, "home", "away"),
			pick(i/8, "open", "bot", "hotseat"), i%3*300, pick(i, "off", "scoring", "all"),
			pick(i/3, "listed", "private"), pick(i/2, "off", "on"), pick(i/5, "unlimited", "2023"), 1+i%3))
	}
	return games
}

// playGame plays a game with these options to the end.
func playGame(t *testing.T, p *webtest.Rig, address, options string, dice *rand.Rand) {
	t.Helper()
	anna, bert, carl := p.Player(t, "Anna"+t.Name()), p.Player(t, "Bert"+t.Name()), p.Player(t, "Carl"+t.Name())
	g := anna.CreateGame(options)
	mine, theirs := "home", "away"
	if strings.Contains(options, `"side": "away"`) {
		mine, theirs = theirs, mine
	}
	managers := []*webtest.Manager{anna.Manage(address, g.ID)}
	switch {
	case strings.Contains(options, "open"):
		bert.Ask(http.MethodPost, "/api/games/"+g.ID+"/join", "", 200, nil)
		managers = append(managers, bert.Manage(address, g.ID))
		bert.SuggestLineup(g.ID, theirs)
	case strings.Contains(options, "hotseat"):
		anna.SuggestLineup(g.ID, theirs)
	}
	g = anna.SuggestLineup(g.ID, mine)
	check.Require(t, g.Status == "active", "with all line-ups: status %s", g.Status)
	spectator := carl.Manage(address, g.ID)
	var playing sync.WaitGroup
	for _, m := range append(managers, spectator) {
		m.Dice = rand.New(rand.NewPCG(dice.Uint64(), 2))
		playing.Go(m.PlayOut)
	}
	playing.Wait()
	if t.Failed() {
		return
	}
	check.That(t, len(spectator.Legal) <= 0 && spectator.Commands <= 0,
		"legal actions of the spectator: %v", spectator.Legal)
	for _, m := range managers {
		check.Equal(t, m.Rev, spectator.Rev, "a manager's last revision")
		check.Equal(t, m.Hash, spectator.Hash, "a manager's last hash")
	}
	checkRecords(carl, g.ID, spectator.Replica)
}

// checkRecords compares the records of a finished game with a replica.
func checkRecords(f *webtest.Player, id string, want *replica.Replica) {
	f.T.Helper()
	var g webtest.GameView
	replayed := webtest.NewReplica(f.T, f.Ask(http.MethodGet, "/api/games/"+id, "", 200, &g))
	check.That(f.T, g.Status == "finished" && g.Result != nil && g.Dice.Seed != "" && g.Rev >= want.Rev,
		"the finished game is %+v", g)
	for _, e := range allEvents(f, id) {
		check.NoError(f.T, replayed.Apply(e))
	}
	check.Equal(f.T, replayed.Hash, want.Hash, "the events end with hash")
	box := get[struct{ Teams []struct{ Runs int } }](f, "/api/games/"+id+"/boxscore")
	check.That(f.T, box.Teams[0].Runs == g.Score.Away && box.Teams[1].Runs == g.Score.Home,
		"box score: %v runs, game: %v", box, g.Score)
	win := get[struct{ Points []struct{ Home float64 } }](f, "/api/games/"+id+"/winprob")
	if last := win.Points[len(win.Points)-1].Home; last != 0 && last != 1 && g.Result.Winner != "" {
		f.T.Errorf("the home side's last probability is %v", last)
	}
	card := f.Ask(http.MethodGet, "/api/games/"+id+"/scorecard", "", 200, nil)
	check.That(f.T, strings.HasPrefix(card.Text, "id,"), "the scorecard starts with %.20q", card.Text)
}

func allEvents(f *webtest.Player, id string) []replica.Frame {
	f.T.Helper()
	return get[struct{ Events []replica.Frame }](f, "/api/games/"+id+"/events?since=0").Events
}

// join joins a game and skips frames until its state.
func join(k *webtest.Socket, game string) {
	k.T.Helper()
	k.Sendf(`{"t":"join","g":%q}`, game)
	k.Until("state")
}

// get returns the answer to a GET request.
func get[T any](f *webtest.Player, path string) (answer T) {
	f.T.Helper()
	f.Ask("GET", path, "", 200, &answer)
	return answer
}

// A faultyProxy forwards connections to a server with delays, and drops data and connections.
type faultyProxy struct {
	net.Listener
	to   string
	dice *rand.Rand
	mu   sync.Mutex // guards dice
}

func newFaultyProxy(t *testing.T, to string, seed uint64) *faultyProxy {
	t.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	c := &faultyProxy{Listener: l, to: to, dice: rand.New(rand.NewPCG(seed, 7))}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { c.forward(client) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	return c
}

func (c *faultyProxy) random(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dice.IntN(n)
}

// forward forwards in both directions until it drops the connection.
func (c *faultyProxy) forward(client net.Conn) {
	server, err := net.Dial("tcp", c.to)
	if err != nil {
		_ = client.Close()
		return
	}
	var copying sync.WaitGroup
	forward := func(to, from net.Conn) {
		defer func() { _, _ = to.Close(), from.Close() }()
		left := 2000 + c.random(60_000) // bytes until the connection is dropped
		chunk := make([]byte, 1+c.random(4000))
		for left > 0 {
			n, err := from.Read(chunk)
			if err != nil {
				return
			}
			if c.random(10) == 0 {
				time.Sleep(time.Duration(c.random(3000)) * time.Microsecond) // a slow network
			}
			if c.random(200) == 0 {
				return // drops the chunk and the connection
			}
			if _, err := to.Write(chunk[:min(n, left)]); err != nil {
				return
			}
			left -= n
		}
	}
	copying.Go(func() { forward(server, client) })
	copying.Go(func() { forward(client, server) })
	copying.Wait()
}

// playOverFaults plays to the end over a faultyProxy. After each dropped connection it resumes from its revision and
// repeats the unanswered command. It returns the number of dropped connections and the revisions of its commands.
func playOverFaults(
	m *webtest.Manager, f *webtest.Player, address string,
) (drops int, acked map[string]uint64, err error) {
	acked = map[string]uint64{}
	var open, cid string // the unanswered command and its id
	for !m.Over {
		if drops > 1000 || f.T.Failed() { // the other manager may have stopped
			return drops, acked, fmt.Errorf("%d dropped connections: %w", drops, errInvariant)
		}
		if m.Socket, err = f.TryDial(address); err != nil {
			drops++
			continue // during the handshake
		}
		err := func() error {
			defer m.Close()
			if err := m.TrySendf(`{"t":"join","g":%q,"d":{"since":%d}}`, m.Game, m.Rev); err != nil {
				return err
			}
			for !m.Over {
				got, err := m.Read()
				if err != nil {
					return err
				}
				if got.T == "ack" {
					if before, ok := acked[got.CID]; ok && before != got.Rev {
						return fmt.Errorf("%s is acknowledged as revision %d, before as %d: %w", got.CID, got.Rev,
							before, errInvariant)
					}
					acked[got.CID] = got.Rev
				}
				if (got.T == "ack" || got.T == "nak") && got.CID == cid {
					open, cid = "", ""
				}
				if got.T == "ack" && !strings.Contains(string(got.D), `"dup":true`) {
					m.Legal = nil // outdated; the command's event has the new ones
				}
				m.Follow(got)
				if got.T == "state" && open != "" {
					if err := m.TrySendf("%s", open); err != nil {
						return err
					}
					continue
				}
				if open == "" && len(m.Legal) > 0 {
					m.Commands++
					cid = fmt.Sprintf("c%d", m.Commands)
					open = fmt.Sprintf(`{"t":"cmd","g":%q,"cid":%q,"rev":%d,"d":{"action":%s}}`, m.Game, cid, m.Rev,
						m.Legal[0].Action)
					m.Legal = nil
					if err := m.TrySendf("%s", open); err != nil {
						return err
					}
				}
			}
			return nil
		}()
		if errors.Is(err, errInvariant) {
			return drops, acked, err
		}
		if err != nil {
			drops++
		}
	}
	return drops, acked, nil
}

var errInvariant = errors.New("invariant violated")

// Over a faulty network, two managers play to the end and receive each revision once; each acknowledged
// command is one revision.
func TestSocket_faultyNetwork(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	for i := range 4 {
		seat := p.NewMatch(t, `{"innings": 3}`) // not parallel: the provider has one identity at a time
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			proxy := newFaultyProxy(t, address, uint64(i)).Addr().String()
			var playing sync.WaitGroup
			managers := []*webtest.Manager{}
			drops := make([]int, 2)
			for n, f := range []*webtest.Player{seat.Home, seat.Away} {
				m := &webtest.Manager{
					Replica: webtest.NewReplica(t, f.Ask("GET", "/api/games/"+seat.ID, "", 200, nil)), Game: seat.ID,
					Socket: &webtest.Socket{T: t},
				}
				managers = append(managers, m)
				playing.Go(func() {
					var acked map[string]uint64
					var err error
					if drops[n], acked, err = playOverFaults(m, f, proxy); err != nil {
						t.Error(err)
					}
					checkAcked(m, f, acked)
				})
			}
			playing.Wait()
			check.That(t, managers[0].Hash == managers[1].Hash && managers[0].Hash != "",
				"final hashes %.8s and %.8s", managers[0].Hash, managers[1].Hash)
			t.Logf("%d revisions, %v dropped connections", managers[0].Rev, drops)
		})
	}
}

// checkAcked fails the test unless every acknowledged command is a revision of the game.
func checkAcked(m *webtest.Manager, f *webtest.Player, acked map[string]uint64) {
	m.T.Helper()
	events := allEvents(f, m.Game)
	for cid, rev := range acked {
		if rev < 1 || rev > uint64(len(events)) {
			m.T.Errorf("%s was acknowledged as revision %d of %d", cid, rev, len(events))
			continue
		}
		var e struct{ Kind string }
		if err := json.Unmarshal(events[rev-1].D, &e); err != nil {
			m.T.Errorf("%s was acknowledged as revision %d, which is not visible", cid, rev)
		}
	}
}

// Five hundred watchers of one game all receive all of it. The test is not parallel, as it slows down all others.
func TestAll_fiveHundredWatchers(t *testing.T) {
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	anna := p.Player(t, "Anna")
	g := anna.CreateGame(`{"opponent": "bot", "innings": 3}`)
	anna.SuggestLineup(g.ID, "home")
	var watching, ready sync.WaitGroup
	revs := make([]uint64, 500)
	for i := range revs {
		w := &watcher{Player: anna, game: g.ID, address: address, joined: sync.OnceFunc(ready.Done)}
		ready.Add(1)
		watching.Go(func() {
			defer w.joined() // if it fails
			if err := w.watch(); err != nil {
				t.Errorf("watcher %d at revision %d: %v", i, w.rev, err)
			}
			revs[i] = w.rev
		})
	}
	ready.Wait()
	m := anna.Manage(address, g.ID)
	m.PlayOut()
	watching.Wait()
	for i, rev := range revs {
		check.Equal(t, rev, m.Rev, "the revision that watcher %d received", i)
	}
}

// A watcher follows a game and counts the revisions.
type watcher struct {
	*webtest.Player
	game, address string
	joined        func() // called when it has received the state
	rev           uint64
}

// watch follows the game to its end. If the host is too busy to answer pings, the server closes the
// connection, and watch resumes on a new one.
func (w *watcher) watch() error {
	for drops := 0; ; drops++ {
		over, err := w.watchOnce()
		if over || errors.Is(err, errInvariant) || drops == 100 {
			return err
		}
	}
}

// watchOnce follows the game on one connection.
func (w *watcher) watchOnce() (over bool, err error) {
	l, err := w.TryDial(w.address)
	if err != nil {
		return false, err
	}
	defer l.Close()
	if err := l.TrySendf(`{"t":"join","g":%q,"d":{"since":%d}}`, w.game, w.rev); err != nil {
		return false, err
	}
	for {
		_, text, err := l.ReadMessage()
		if err != nil {
			return false, err
		}
		parts := envelope.FindSubmatch(text)
		if parts == nil {
			return false, fmt.Errorf("frame %.100s: %w", text, errInvariant)
		}
		switch string(parts[1]) {
		case "state":
			w.joined()
		case "event", "skip":
			if want := strconv.FormatUint(w.rev+1, 10); string(parts[2]) != want {
				return false, fmt.Errorf("revision %s, want %s: %w", parts[2], want, errInvariant)
			}
			w.rev++
		}
		if bytes.Contains(text, []byte(`"kind":"finished"`)) {
			return true, nil
		}
	}
}

// envelope matches the members before a frame's d. Decoding all of it five hundred times leaves no time to
// answer pings.
var envelope = regexp.MustCompile(`^\{"t":"(\w+)"(?:,"rev":(\d+))?`)

// From each revision, a join and a sync send exactly the missing events.
func TestSocket_resume(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	anna := p.Player(t, "Anna")
	g := anna.CreateGame(`{"opponent": "bot", "innings": 3}`)
	anna.SuggestLineup(g.ID, "home")
	m := anna.Manage(address, g.ID)
	m.PlayOut()
	var whole []webtest.Frame
	fresh := anna.Manage(address, g.ID)
	fresh.Join()
	for f := fresh.Next(); f.T != "state"; f = fresh.Next() {
		if f.T == "event" || f.T == "skip" {
			whole = append(whole, f)
		}
	}
	check.Require(t, len(whole) == int(m.Rev), "a game of %d revisions was sent in %d", m.Rev, len(whole))
	var k *webtest.Socket
	for since := range m.Rev + 2 {
		if since%30 == 0 { // below the rate limit of a socket
			k = anna.Dial(address)
		}
		kind := "join"
		if since%2 == 1 {
			kind = "sync"
		}
		k.Sendf(`{"t":%q,"g":%q,"d":{"since":%d}}`, kind, g.ID, since)
		var got []string
		for f := k.Until("event", "skip", "state"); f.T != "state"; f = k.Until("event", "skip", "state") {
			got = append(got, string(f.Text))
		}
		var want []string
		for _, f := range whole[min(since, m.Rev):] {
			want = append(want, string(f.Text))
		}
		check.Require(t, strings.Join(got, "\n") == strings.Join(want, "\n"),
			"%s from %d sends %d revisions, want %d", kind, since, len(got), len(want))
	}
}

// shortGames are the options of the shortest games.
const shortGames = `"options": {"innings": 3}`

// two are the seats of a caller and of anyone.
const two = `"seats": [{"team": "BWH", "manager": "me"}, {"team": "CPR", "manager": "open"}]`

// A league with two people and a bot, from its creation over the seats that are taken to its first day; who
// may do what.
func TestLeague_lifeCycle(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna, bert, carl := p.Player(t, "Anna"), p.Player(t, "Bert"), p.Player(t, "Carl")
	var l leagues.View
	created := anna.Ask("POST", "/api/leagues", `{"name": "Kitchen", "cover_hours": 24, `+shortGames+`, "seats": [
		{"team": "BWH", "manager": "me"}, {"team": "CPR", "manager": "open"},
		{"team": "DUN", "manager": "bot"}]}`, 201, &l)
	path := "/api/leagues/" + l.ID
	check.Equal(t, created.Header.Get("Location"), path, "Location")
	check.That(t, l.Status == leagues.Pending && *l.You == 0 && l.Meetings == 2 && l.BestOf == 3 && l.Creates,
		"created %s", created.Text)
	bert.Refused("POST", path+"/start", "", 403, "forbidden")
	bert.Refused("POST", path+"/join", `{"seat": 2}`, 409, "seat_taken")
	bert.Refused("DELETE", path, "", 403, "forbidden")
	bert.Refused("GET", "/api/series/"+l.ID, "", 404, "unknown_league")
	bert.Ask("POST", path+"/join", "", 200, &l)
	check.That(t, l.Status == leagues.Active && *l.You == 1 && l.CoverAt.Sub(l.Started) == 24*time.Hour,
		"joined: %+v", l)
	carl.Refused("POST", path+"/join", "", 409, "not_pending")
	anna.Refused("DELETE", path, "", 409, "not_pending")
	schedule := await(t, func() (leagues.Schedule, bool) {
		s := get[leagues.Schedule](carl, path+"/schedule")
		return s, s.Games[0].Status != "scheduled"
	})
	check.That(t, len(schedule.Games) == 6 && schedule.Day == 1 && schedule.Games[0].Status == "pending",
		"schedule: %+v", schedule)
	g := get[webtest.GameView](anna, "/api/games/"+schedule.Games[0].Game)
	away, home := g.Away.Manager != nil || g.Away.Bot, g.Home.Manager != nil || g.Home.Bot
	check.That(t, g.Status == "pending" && away && home, "the first game: %+v", g)
	anna.Refused("DELETE", "/api/games/"+g.ID, "", 403, "forbidden")
	carl.Refused("POST", path+"/leave", "", 403, "forbidden")
	bert.Ask("POST", path+"/leave", "", 200, &l)
	check.That(t, l.Seats[1].Bot && l.Seats[1].Left == "Bert" && l.Seats[1].Manager == nil, "left: %+v", l.Seats[1])
	all := get[struct{ Finished []webtest.GameView }](carl, "/api/games?people=YES")
	check.That(t, len(all.Finished) == 0, "games between bots are listed: %+v", all.Finished)
	carl.Refused("GET", "/api/games?people=2", "", 422, "not_offered")
	s := get[leagues.Standings](carl, path+"/standings")
	check.That(t, len(s.Standings) == 3 && s.Champion == nil && s.Playoff == nil, "standings: %+v", s)
	list := get[struct{ Leagues []leagues.View }](carl, "/api/leagues")
	check.That(t, len(list.Leagues) == 1, "%d leagues are listed", len(list.Leagues))
	anna.Ask("POST", "/api/leagues", `{"name": "Attic", "options": {"visibility": "private"}, `+two+`}`, 201, &l)
	check.That(t, l.Options.Mercy == "on" && l.Options.BotLevel == 3, "a private league's options are %+v", l.Options)
	anna.Ask("DELETE", "/api/leagues/"+l.ID, "", 204, nil)
	carl.Refused("GET", "/api/leagues/"+l.ID, "", 404, "unknown_league")
}

// await calls look until it is done; a failed test ends after a long time.
func await[T any](t *testing.T, look func() (T, bool)) T {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; {
		found, done := look()
		if done {
			return found
		}
		check.Require(t, !time.Now().After(deadline), "still %+v", found)
		time.Sleep(20 * time.Millisecond) // the next look; nothing depends on it
	}
}

// A series between bots plays itself; its games have scorecards, and are in the standings of the season.
func TestSeries_bots(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	anna := p.Player(t, "Anna")
	var l leagues.View
	anna.Ask("POST", "/api/series", `{"name": "Bots", "best_of": 3, `+shortGames+`,
		"seats": [{"team": "BWH", "manager": "bot"}, {"team": "CPR", "manager": "bot"}]}`, 201, &l)
	path := "/api/series/" + l.ID
	l = await(t, func() (leagues.View, bool) {
		v := get[leagues.View](anna, path)
		return v, v.Status == leagues.Finished
	})
	schedule := get[leagues.Schedule](anna, path+"/schedule")
	standings := get[leagues.Standings](anna, path+"/standings")
	best := standings.Standings[0]
	check.That(t, l.Champion != nil && *l.Champion == best.Entrant && best.Wins == 2, "champion: %+v", standings)
	for _, g := range schedule.Games {
		anna.Ask("GET", "/api/games/"+g.Game+"/scorecard", "", 200, nil)
	}
	season := get[struct{ Standings []struct{ G int } }](anna, "/api/stats/standings")
	check.That(t, len(season.Standings) == 2 && season.Standings[0].G == len(schedule.Games),
		"the season's standings %+v after %d games", season, len(schedule.Games))
}

// An invalid request creates nothing, and its answer lists every violation.
func TestCreateLeague_validation(t *testing.T) {
	t.Parallel()
	anna := webtest.NewGamesRig(t).Player(t, "Anna")
	three := strings.Replace(two, "]", `, {"team": "DUN", "manager": "bot"}]`, 1)
	for _, tt := range []struct{ path, body, want string }{
		{"leagues", `{}`, "/name required, /seats required"},
		{"leagues", `{"name": "", ` + two + `}`, "/name too_short"},
		{"leagues", `{"name": "x", "meetings": 7, ` + two + `}`, "/meetings out_of_range"},
		{"leagues", `{"name": "x", "best_of": 2, ` + two + `}`, "/best_of not_offered"},
		{"leagues", `{"name": "", "cover_hours": 145, ` + two + `}`, "/cover_hours out_of_range, /name too_short"},
		{"leagues", `{"name": "x", "x": 1, ` + two + `}`, "/x unknown_field"},
		{"leagues", `{"name": "x", "options": {"innings": 4}, ` + two + `}`, "/options/innings not_offered"},
		{"leagues", `{"name": "x", "options": {"side": "home"}, ` + two + `}`, "/options/side unknown_field"},
		{"leagues", `{"name": "x", ` + strings.Replace(two, "CPR", "BWH", 1) + `}`, "/seats/1/team same_team"},
		{"leagues", `{"name": "x", ` + strings.Replace(two, "CPR", "none", 1) + `}`, "/seats/1/team unknown_team"},
		{"leagues", `{"name": "x", "play_at": "8 pm", ` + two + `}`, "/play_at invalid"},
		{"leagues", `{"name": "x", "seats": [{"team": "BWH", "manager": "me"}]}`, "/seats too_few"},
		{"series", `{"name": "x", ` + three + `}`, "/seats too_many"},
		{"series", `{"name": "x", "meetings": 1, ` + two + `}`, "/meetings unknown_field"},
		{"series", `{"name": "x", "best_of": 0, ` + two + `}`, "/best_of not_offered"},
	} {
		check.Equal(t, anna.Ask("POST", "/api/"+tt.path, tt.body, 422, nil).Violations(),
			tt.want, "%s %s", tt.path, tt.body)
	}
	list := get[struct{ Leagues []leagues.View }](anna, "/api/leagues")
	check.That(t, len(list.Leagues) == 0, "%d leagues were created", len(list.Leagues))
}

// Reading leagues follows NOTIFY_ACCESS; an account can read them whatever it is, and only an account changes them.
func TestLeagues_access(t *testing.T) {
	t.Parallel()
	for access, want := range map[web.Access]int{web.LAN: 200, web.Token: 401, web.Open: 200, web.Off: 403} {
		t.Run(string(access), func(t *testing.T) {
			t.Parallel()
			p := webtest.NewGamesRig(t, func(c *site.Config) { c.Access = access })
			anna := p.Player(t, "Anna")
			var l leagues.View
			anna.Ask("POST", "/api/leagues", `{"name": "x", `+two+`}`, 201, &l)
			visitor := &webtest.Player{Browser: p.Browser(t), T: t, Name: "visitor"}
			for _, path := range []string{"", "/" + l.ID, "/" + l.ID + "/schedule", "/" + l.ID + "/standings"} {
				visitor.Ask("GET", "/api/leagues"+path, "", want, nil)
				anna.Ask("GET", "/api/leagues"+path, "", 200, nil)
			}
			if want == 200 {
				v := get[leagues.View](visitor, "/api/leagues/"+l.ID)
				check.That(t, v.Creator.ID == "" && v.You == nil, "a visitor sees %+v", v)
			}
			visitor.Refused("POST", "/api/leagues/"+l.ID+"/join", "", 401, "unauthenticated")
			visitor.Refused("POST", "/api/leagues", `{}`, 401, "unauthenticated")
		})
	}
}
