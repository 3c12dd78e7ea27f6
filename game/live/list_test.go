package live_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pressbox/game"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/game/retro"
	"pressbox/game/retro/eventfile"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// Private games are found only by id and by the people they involve; lists show the newest first.
func TestList_visibility(t *testing.T) {
	t.Parallel()
	r := begun(t, private, withBot, innings(3))
	hidden := *r
	open := r.create()
	over := *r
	over.begin(hotSeat, innings(3))
	over.concede(ann)
	for _, tt := range []struct {
		who                       protocol.Person
		status                    protocol.Status
		pending, active, finished int
	}{
		{ann, "", 1, 1, 1},
		{bob, "", 1, 0, 1},
		{protocol.Person{}, "", 1, 0, 1},
		{ann, protocol.Active, 0, 1, 0},
		{ann, protocol.Pending, 1, 0, 0},
	} {
		l, err := r.List(tt.who, live.Query{Status: tt.status})
		if err != nil || len(l.Pending) != tt.pending || len(l.Active) != tt.active || len(l.Finished) != tt.finished {
			t.Errorf("%q, %q: %s, %v", tt.who.Name, tt.status, text(t, l), err)
		}
	}
	check.NoError(t, r.Host(t.Context(), fixture("bots", protocol.Person{}, protocol.Person{})))
	for people, want := range map[bool]int{false: 2, true: 1} {
		l := check.Must(r.List(bob, live.Query{People: people}))(t)
		check.That(t, len(l.Pending) == 1 && len(l.Finished) == want, "people %t: %s", people, text(t, l))
	}
	check.NoError(t, r.Remove(t.Context(), "bots"))
	check.Equal(t, text(t, r.CountByStatus()), `{"active":1,"finished":1,"pending":1}`, "counts")
	var lobby watcher
	games, leave := r.WatchLobby(lobby.send)
	defer leave()
	check.That(t, len(games) == 1 && games[0].ID == open.ID && !strings.Contains(text(t, games), ann.ID),
		"the lobby shows %s", text(t, games))
	hidden.decide(ann)
	all := lobby.received()
	check.That(t, len(all) == 0, "of a private game the lobby received %s", text(t, all))
	g := hidden.get(carl)
	check.That(t, g.YourSide == "" && g.Home.Manager.Name == "Ann", "by its id Carl sees %s", text(t, g))
	r.wantCode("cancel a finished game", r.Cancel(t.Context(), ann, over.id), protocol.NotPending)
	w := r.watch(carl, 0)
	check.NoError(r, r.Cancel(t.Context(), ann, r.id))
	check.That(t, lobby.last("gone") != nil && w.last("bye") != nil,
		"of the cancellation the lobby received %s, Carl %s", text(t, lobby.received()), text(t, w.received()))
	r.wantCode("a cancelled game", check.Err(r.Game(t.Context(), ann, r.id)), protocol.UnknownGame)
	for _, q := range []live.Query{{Status: "lost"}, {Before: "yesterday"}} {
		r.wantCode(fmt.Sprint(q), check.Err(r.List(ann, q)), protocol.Invalid)
	}
}

// Finished games are listed a hundred at a time, each once.
func TestList_pages(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	r.concede(ann)
	j := r.journal
	summary, finished := string(j.summaries[r.id]), `"finished_at":`
	for i := range 250 {
		id, ended := fmt.Sprintf("game%d", i), time.Date(2026, 1, 1, 0, 0, i/3, 0, time.UTC) // three at a time
		replaced := strings.NewReplacer(r.id, id, finished+text(t, r.get(ann).Finished), finished+text(t, ended))
		j.summaries[id] = []byte(replaced.Replace(summary))
	}
	r = newRig(t, j)
	var seen []string
	for page, want := range []int{100, 100, 51} {
		before := ""
		if page > 0 {
			before = seen[len(seen)-1]
		}
		l, err := r.List(carl, live.Query{Status: protocol.Finished, Before: before})
		check.Require(t, err == nil && len(l.Finished) == want,
			"page %d: %d games, %v, want %d", page, len(l.Finished), err, want)
		for i, g := range l.Finished {
			check.Require(t, !slices.Contains(seen, g.ID) && (i == 0 || !g.Finished.After(l.Finished[i-1].Finished)),
				"page %d: %s again, or out of order", page, g.ID)
			seen = append(seen, g.ID)
		}
	}
	l, err := r.List(carl, live.Query{Before: "2026-01-01T00:00:02Z"})
	check.That(t, err == nil && len(l.Finished) == 6, "before the third second: %d, %v, want 6", len(l.Finished), err)
}

// Each list has at most the limit, and goes on after one of its games; the others begin at their beginning.
func TestList_limit(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	for range 3 {
		r.create()
	}
	l, err := r.List(carl, live.Query{Limit: 2})
	check.Require(t, err == nil && len(l.Pending) == 2 && len(l.Active) == 1, "at most two: %s, %v", text(t, l), err)
	rest, err := r.List(carl, live.Query{Limit: 2, Before: l.Pending[1].ID})
	check.That(t, err == nil && len(rest.Pending) == 1 && rest.Pending[0].ID != l.Pending[0].ID &&
		rest.Pending[0].ID != l.Pending[1].ID && len(rest.Active) == 1, "after the second: %s, %v", text(t, rest), err)
}

// playAlone lets a person decide for both sides of a game in hot seat until there has been a play.
func (r *rig) playAlone(by protocol.Person) {
	r.Helper()
	before := r.get(by).State.Decision
	for g := r.get(by); g.State.Decision == before || len(g.State.Waiting) < 2; {
		g = r.decide(by)
	}
}

// When space runs out, the finished game of the person who created most that finished first is deleted, listed or not.
// Unfinished games and those in memory stay.
func TestMakeRoom_nearlyFull(t *testing.T) {
	t.Parallel()
	withoutGame(t, func(r *rig) {
		ids := r.fourGames([4]bool{false, true, false, true})
		standings := func(want int) {
			r.Helper()
			s, err := r.Standings(r.Context(), 3)
			check.That(r, err == nil && s[0].Games == want, "%s, %v, want %d games", text(r, s), err, want)
		}
		standings(3)
		r.journal.space.Crowded = true
		for n, want := range []string{"0123", "123", "23", "3", "3"} {
			got := r.found(ids)
			check.That(r, got == want && len(r.journal.summaries) == len(want),
				"after %d moves games %s exist, %d in the journal, want %s", n, got, len(r.journal.summaries), want)
			pass(time.Minute + time.Second)
			r.decide(ann)
		}
	})
}

// finish creates a game in hot seat and finishes it.
func (r *rig) finish(by protocol.Person) (id string) {
	r.Helper()
	r.id = check.Must(r.Create(r.Context(), by, request(hotSeat)))(r).ID
	for _, side := range game.Sides() {
		r.submitLineup(by, side)
	}
	r.playAlone(by)
	r.concede(by)
	pass(time.Second) // games finish one after another
	return r.id
}

// A new game without room takes it from its creator's finished games first, then from the person who holds most, unless
// that is less than the creator does.
func TestMakeRoom_ownFirst(t *testing.T) {
	t.Parallel()
	withoutGame(t, func(r *rig) {
		first := r.finish(bob)
		ids := [4]string{r.finish(ann), r.finish(ann), first, r.finish(bob)}
		third := r.finish(ann)
		pass(time.Minute + time.Second)
		room := len(r.journal.summaries)
		r.journal.before = func(c live.Change) error {
			if c.First == 1 && len(r.journal.summaries) >= room {
				return live.ErrFull
			}
			return nil
		}
		for _, tt := range []struct {
			by   protocol.Person
			want string
		}{{bob, "013"}, {bob, "01"}, {carl, "1"}, {carl, ""}} {
			_, err := r.Create(r.Context(), tt.by, request())
			check.Require(r, err == nil, "%s: %v", tt.by.Name, err)
			check.Equal(r, r.found(ids), tt.want, "after a game of %s, exist", tt.by.Name)
			pass(time.Minute + time.Second) // found has loaded them
		}
		r.wantCode("of who holds more", check.Err(r.Create(r.Context(), carl, request())), protocol.StoreFull)
		check.NoError(r, check.Err(r.Create(r.Context(), ann, request())))
		r.wantCode("her last one", check.Err(r.Game(r.Context(), ann, third)), protocol.UnknownGame)
		r.wantCode("without finished games", check.Err(r.Create(r.Context(), ann, request())), protocol.StoreFull)
	})
}

// A game that ended without a play is deleted when it leaves memory, and does not count in the standings.
func TestConcede_withoutPlay(t *testing.T) {
	t.Parallel()
	withoutGame(t, func(r *rig) {
		played := r.finish(ann)
		r.begin(hotSeat)
		r.concede(ann)
		s, err := r.Standings(r.Context(), 3)
		check.That(r, err == nil && s[0].Games == 1, "standings: %s, %v, want one game", text(r, s), err)
		r.get(ann)
		pass(time.Minute + time.Second)
		r.wantCode("the game without a play", check.Err(r.Game(r.Context(), ann, r.id)), protocol.UnknownGame)
		if _, err := r.Game(r.Context(), ann, played); err != nil || len(r.journal.summaries) != 1 {
			r.Errorf("the other game: %v; %d in the journal", err, len(r.journal.summaries))
		}
	})
}

// Remove deletes a game of any status, in memory or not, and disconnects its subscribers.
func TestRemove_anyStatus(t *testing.T) {
	t.Parallel()
	withoutGame(t, func(r *rig) {
		finished := r.finish(ann)
		pass(time.Minute + time.Second)
		pending := r.create().ID
		r.begin(hotSeat)
		for _, id := range []string{finished, pending, r.id} {
			err := r.Remove(r.Context(), id)
			check.That(r, err == nil, "remove: %v", err)
			r.wantCode("a removed game", check.Err(r.Game(r.Context(), ann, id)), protocol.UnknownGame)
			r.wantCode("remove it again", r.Remove(r.Context(), id), protocol.UnknownGame)
		}
		if s, err := r.Standings(r.Context(), 3); err != nil || len(s) != 0 || len(r.journal.summaries) != 0 {
			r.Errorf("standings: %s, %v; %d games in the journal", text(r, s), err, len(r.journal.summaries))
		}
	})
}

// Box score, win probability and statistics agree with the plays, before and after a restart.
func TestReports_agreeWithPlays(t *testing.T) {
	t.Parallel()
	r := newRig(t, newJournal())
	var games []protocol.Game
	for n := range 3 {
		r.begin(innings(3), hotSeat)
		if n == 2 {
			r.playAlone(ann)
			r.concede(ann)
		}
		games = append(games, r.playOut())
		checkStats(r, games)
		checkStats(r.reloaded(r.journal), games)
	}
	for _, g := range games[:2] {
		_, box, err := r.Box(t.Context(), carl, g.ID)
		check.That(t, err == nil && box.Teams[game.Home].Runs == g.Score.Home &&
			box.Teams[game.Away].Runs == g.Score.Away && box.WinningPitcher != "",
			"box %s, %v, want %+v", text(t, box), err, g.Score)
		w, err := r.WinProbability(t.Context(), g.ID)
		check.Require(t, err == nil && len(w.Points) >= 18 && w.Start >= .5 && w.Start <= .56,
			"win probability %s, %v", text(t, w), err)
		at := w.Start
		for _, p := range w.Points {
			if at += p.Added; math.Abs(at-p.Home) > 1e-9 || p.Home < 0 || p.Home > 1 {
				t.Errorf("revision %d: %v, but the sum is %v", p.Revision, p.Home, at)
			}
		}
		if won := g.Result.Winner == "home"; math.Abs(at) > 1e-9 && !won || math.Abs(at-1) > 1e-9 && won {
			t.Errorf("%s won with a final probability of %v for home", g.Result.Winner, at)
		}
	}
}

func checkStats(r *rig, games []protocol.Game) {
	r.Helper()
	standings, err := r.Standings(r.Context(), league.LastSeason)
	check.Require(r, err == nil && len(standings) == 2, "standings %s, %v", text(r, standings), err)
	wins, runs := map[string]int{}, map[string]int{}
	for _, g := range games {
		winner, score := g.Home.Team.ID, *g.Score
		if g.Result.Winner == "away" {
			winner = g.Away.Team.ID
		}
		if g.Result.How == "conceded" {
			score = protocol.Score{Home: 9}
			if g.Result.Winner == "away" {
				score = protocol.Score{Away: 9}
			}
		}
		wins[winner]++
		runs[g.Home.Team.ID] += score.Home
		runs[g.Away.Team.ID] += score.Away
	}
	for _, s := range standings {
		check.That(r, s.Games == len(games) && s.Wins == wins[s.Team.ID] && s.RunsScored == runs[s.Team.ID],
			"%s, want %d games, %d won, %d runs", text(r, s), len(games), wins[s.Team.ID], runs[s.Team.ID])
	}
	batting, pitching, err := r.Players(r.Context(), league.LastSeason, games[0].Home.Team.ID)
	check.That(r, err == nil && len(batting) >= 9 && len(pitching) >= 1,
		"%d batters, %d pitchers, %v", len(batting), len(pitching), err)
}

// Seasons without games are not cached, so that requests for them cannot fill the memory.
func TestStandings_emptySeasonsNotCached(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	for season := range 100 {
		all, err := r.Standings(t.Context(), season)
		check.Require(t, err == nil && len(all) == 0, "season %d: %s, %v", season, text(t, all), err)
	}
	check.Equal(t, r.Seasons(), 0, "seasons are cached")
	r.playAlone(ann)
	g := r.concede(ann)
	if all, err := r.Standings(t.Context(), g.Season); err != nil || len(all) != 2 || r.Seasons() != 1 {
		t.Errorf("after a game: %s, %v, %d cached", text(t, all), err, r.Seasons())
	}
}

// checkScorecard checks that a game's scorecard can be read as an event file and replays to the score.
func checkScorecard(r *rig, end protocol.Game) {
	r.Helper()
	var card bytes.Buffer
	check.NoError(r, r.Scorecard(r.Context(), r.id, &card))
	check.That(r, strings.HasPrefix(card.String(), "id,"), "begins with %.20q", card.String())
	for read, err := range eventfile.Read(&card) {
		check.NoError(r, err)
		replayed := check.Must(read.Replay(func(*retro.Step, *game.Scorebook) {}))(r)
		check.That(r, replayed.End.Score == [2]int{end.Score.Away, end.Score.Home},
			"the scorecard replays to %v, want %+v", replayed.End.Score, end.Score)
	}
}

func TestScorecard_replays(t *testing.T) {
	t.Parallel()
	for _, dh := range []bool{true, false} {
		r := begun(t, func(o *protocol.Options) { o.DH = dh })
		check.NoError(t, r.Scorecard(t.Context(), r.id, &bytes.Buffer{})) // before the first pitch
		checkScorecard(r, r.playOut())
	}
}

// quotedLeague is a league whose names need quoting.
type quotedLeague struct{ *league.League }

func (l quotedLeague) Roster(ctx context.Context, season int, id string) (teams.Roster, error) {
	roster, err := l.League.Roster(ctx, season, id)
	if err != nil {
		return roster, err
	}
	roster.Players = slices.Clone(roster.Players)
	for i := range roster.Players {
		p := &roster.Players[i]
		p.ID, p.Name = game.PlayerID(`Ö,"`+string(p.ID)+`",<b> %s\`), `Ö"`+p.Name+`", Jr. <script>`
	}
	roster.Team.Abbrev, roster.Team.Name = `,"`, `The "Odd", `+roster.Team.Name
	return roster, nil
}

// Players and clubs may have any names: their games are played to the end, are loaded, and have a scorecard.
func TestRosters_namesThatNeedQuoting(t *testing.T) {
	t.Parallel()
	j := newJournal()
	r := rigWith(t, j, live.Config{Journal: j, Rosters: quotedLeague{builtIn()}})
	g := r.begin(innings(3), hotSeat)
	for _, c := range g.Offers {
		check.That(t, c.Group != "substitution" || strings.HasPrefix(c.Label, `Ö"`) ||
			strings.HasPrefix(c.Label, "Double switch"),
			"a label begins %.20q", c.Label)
	}
	checkScorecard(r, r.playFirst())
	got, want := r.reloaded(j).events(ann), r.events(ann)
	check.That(t, got == want, "loaded: %s", difference(got, want))
}

// A subscriber that receives the end of a game finds it in the standings.
func TestStandings_whenTheEndIsPublished(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat, innings(3))
	r.playAlone(ann)
	var games []int
	_, err := r.Watch(t.Context(), ann, r.id, 0, func(*protocol.Message) bool {
		read := make(chan int)
		go func() { // a subscriber must not call Games itself
			all, _ := r.Standings(context.WithoutCancel(t.Context()), league.LastSeason)
			read <- len(all)
		}()
		games = append(games, <-read)
		return true
	})
	check.NoError(t, err)
	r.concede(ann)
	check.That(t, games[len(games)-1] == 2, "with the last message the standings have %d clubs", games[len(games)-1])
}

// In hot seat one person manages both sides, and each choice names its side.
func TestHotSeat_choicesNameTheirSide(t *testing.T) {
	t.Parallel()
	r := begun(t, hotSeat)
	g := r.get(ann)
	check.That(t, g.YourSide == "both" && len(g.State.Waiting) == 2, "%s waits for %v", g.YourSide, g.State.Waiting)
	for _, c := range g.Legal {
		check.That(t, c.Side != "" && c.Action.Side == c.Side && (c.Group == "offense") == (c.Side == "away"),
			"%s", text(t, c))
	}
	for _, label := range []string{"Pause", "Resume"} {
		for _, c := range r.get(ann).Offers {
			check.That(t, c.Side != "" && c.Action.Side == c.Side, "%s", text(t, c))
		}
		r.do(ann, label)
	}
	r.do(ann, "Pitch to the batter")
	if now := r.get(ann); len(now.State.Waiting) != 1 || now.Legal[0].Group != "offense" {
		t.Errorf("after the defense: %s", text(t, now.Legal))
	}
	c := r.choice(ann, "Take the call back")
	check.That(t, c.Side == "home", "%s", text(t, c))
	r.do(ann, "Concede for "+g.Home.Team.Name)
	if end := r.get(ann); end.Result.Winner != "away" || end.Result.How != "conceded" {
		t.Errorf("conceded for the home team: %s", text(t, end.Result))
	}
}

// A client that always sends the first legal action plays games with each value of each option to the end.
func TestSubmit_firstLegalPlaysToEnd(t *testing.T) {
	t.Parallel()
	for n := 0; n < 48; n += 5 {
		o := protocol.Defaults()
		o.DH, o.Innings, o.Side = n%2 == 0, []int{3, 5, 7, 9}[n/2%4], []string{"home", "away"}[n*7/3%2]
		o.ExtraInnings = []game.ExtraInnings{game.AutomaticRunner, game.Standard}[n/8%2]
		o.Opponent = []protocol.Opponent{protocol.Open, protocol.Bot, protocol.HotSeat}[n/16]
		t.Run(fmt.Sprintf("%d innings, %s, %s", o.Innings, o.Opponent, o.ExtraInnings), func(t *testing.T) {
			t.Parallel()
			r := begun(t, func(given *protocol.Options) { *given = o })
			dice := r.get(ann).Dice
			end := r.playFirst()
			check.That(t, end.Result != nil && end.Result.How == "final" && end.Result.Winner != "" &&
				end.Inning >= o.Innings, "ended %+v in inning %d", end.Result, end.Inning)
			check.That(t, len(end.Dice.Seed) == 64 && dice.Seed == "" && end.Dice.Commitment == dice.Commitment,
				"dice %+v, then %+v", dice, end.Dice)
		})
	}
}

// A client does what it was last sent as legal, as a simple program would.
type client struct {
	*watcher
	who protocol.Person
	rev uint64 // of the last message
}

// legal returns the legal decisions as last received, and whether the game is over.
func (c *client) legal() (legal []protocol.Choice, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.all {
		switch d := m.Data.(type) {
		case *protocol.Snapshot:
			legal, over, c.rev = d.Legal, d.State.Status == protocol.Finished, m.Revision
		case *protocol.Event:
			c.rev = m.Revision
			if d.State != nil {
				legal, over = d.Legal, d.State.Status == protocol.Finished
			}
		}
	}
	c.all = c.all[:0]
	return legal, over
}

// playFirst plays to the end by the first legal decision that clients were sent.
func (r *rig) playFirst() protocol.Game {
	r.Helper()
	clients := []*client{{watcher: r.watch(ann, 0), who: ann}, {watcher: r.watch(bob, 0), who: bob}}
	for _, c := range clients {
		defer c.leave()
	}
	for n := 0; ; n++ {
		moved := false
		for _, c := range clients {
			legal, over := c.legal()
			if over {
				return r.get(ann)
			}
			if len(legal) == 0 {
				continue
			}
			command := protocol.Command{ID: fmt.Sprint(n), Revision: c.rev, Action: legal[0].Action}
			err := r.send(c.who, command)
			check.Require(r, err == nil, "%s does %+v at %d: %v", c.who.Name, legal[0].Action, c.rev, err)
			moved = true
		}
		check.Require(r, moved, "no client has a legal decision at %d", clients[0].rev)
	}
}
