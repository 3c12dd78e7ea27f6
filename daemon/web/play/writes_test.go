package play_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pressbox/daemon/limits"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
)

// A slowJournal takes as long to save as an SD card, and tells of each command that it has saved.
type slowJournal struct {
	live.Journal
	saved sync.Map // id of a command → channel that is closed
}

func (j *slowJournal) Append(ctx context.Context, c live.Change) (live.Space, error) {
	time.Sleep(30 * time.Millisecond)
	space, err := j.Journal.Append(ctx, c)
	for _, data := range c.Moves {
		var m struct{ CID string }
		if json.Unmarshal(data, &m) == nil && m.CID != "" && err == nil {
			close(j.command(m.CID))
		}
	}
	return space, err
}

func (j *slowJournal) command(cid string) chan struct{} {
	c, _ := j.saved.LoadOrStore(cid, make(chan struct{}))
	return c.(chan struct{})
}

// Commands are saved whatever becomes of their client after the last byte, 200 of 200: also the one that arrives while
// the disk is busy with another.
func TestSocket_clientClosesAfterCommand(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*net.TCPConn) error{
		"half-closes": (*net.TCPConn).CloseWrite, "closes": (*net.TCPConn).Close,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := check.Must(store.Open(filepath.Join(t.TempDir(), "games.db"), store.Options{}))(t)
			t.Cleanup(func() { _ = s.Close() })
			j := &slowJournal{Journal: s.Games()}
			p := webtest.NewGamesRig(t, func(cfg *site.Config) {
				config := live.Config{Journal: j, Rosters: webtest.Clubs{}, Log: cfg.Log}
				cfg.Play.Games = check.Must(live.New(t.Context(), config))(t)
			})
			address := p.Open(t)
			var playing sync.WaitGroup
			for n := range 10 {
				f := p.Player(t, fmt.Sprint("Player ", n))
				id := f.CreateGame(`{"opponent": "bot"}`).ID
				f.SuggestLineup(id, "home")
				playing.Go(func() {
					for i := range 10 {
						k, err := f.TryDial(address)
						if err != nil {
							t.Error(err)
							return
						}
						check.NoError(t, k.TrySendf(`{"t":"join","g":%q}`, id))
						verbs := []string{"pause", "resume"}
						for _, a := range verbs {
							check.NoError(t, k.TrySendf(`{"t":"cmd","g":%q,"cid":"%s-%d-%s","d":{"action":{"a":%q}}}`,
								id, id, i, a, a))
						}
						check.NoError(t, end(k.UnderlyingConn().(*net.TCPConn)))
						for _, a := range verbs {
							select {
							case <-j.command(fmt.Sprintf("%s-%d-%s", id, i, a)):
							case <-time.After(time.Minute):
								t.Errorf("%s %d of a client that %s is lost", a, i, name)
								return
							}
						}
						_ = k.Close()
					}
				})
			}
			playing.Wait()
		})
	}
}

// An account has its allowance of commands whatever its connections are; others are not affected.
func TestSocket_commandsPerAccount(t *testing.T) {
	webtest.InBubble(t, webtest.NewGamesRig, func(p *webtest.Rig, l *webtest.Wire) {
		match := p.NewMatch(p.T, `{}`)
		refused := func(f *webtest.Player, sockets int) (n int) {
			for s := range sockets {
				k := f.DialWire(l)
				join(k, match.ID)
				for i := range 39 { // with that of joining the frames that a socket may send at once
					k.Sendf(`{"t":"cmd","g":%q,"cid":"%d-%d","d":{"action":{"a":"undo"}}}`, match.ID, s, i)
					if k.Until("nak", "ack").Code() == "rate_limited" {
						n++
					}
				}
				_ = k.Close()
			}
			return n
		}
		most := limits.Moves().Burst
		check.Equal(p.T, refused(match.Home, most/39), 0, "refused within the allowance")
		n := refused(match.Home, 3)
		check.That(p.T, n >= 39 && n <= 3*39, "%d of 117 more refused", n)
		check.Equal(p.T, refused(match.Away, 1), 0, "refused to the other manager")
	})
}

// With a store of 12 MiB, whatever one account does before the start of its games, and in them, another's twelve
// finished games stay; its unfinished games take at most a quarter of the room, and others can play on.
func TestWrites_finishedGamesOfOthers(t *testing.T) {
	t.Parallel()
	s := check.Must(store.Open(filepath.Join(t.TempDir(), "games.db"), store.Options{MaxSize: 12 << 20}))(t)
	t.Cleanup(func() { _ = s.Close() })
	games := check.Must(live.New(t.Context(), live.Config{Journal: s.Games(), Rosters: webtest.Clubs{}}))(t)
	ctx, ann, eve := t.Context(), protocol.Person{ID: "ann", Name: "Ann"}, protocol.Person{ID: "eve", Name: "Eve"}
	request := protocol.Request{HomeTeam: webtest.HomeTeam(), AwayTeam: webtest.AwayTeam()}
	request.Options = protocol.Defaults()
	finished := 0
	for range 12 {
		q := request
		q.Options.Opponent = protocol.Bot
		g := check.Must(games.Create(ctx, ann, q))(t)
		l := check.Must(games.Suggest(ctx, ann, g.ID, game.Home))(t)
		g = check.Must(games.SetLineup(ctx, ann, g.ID, game.Home, l))(t)
		for i := 0; g.Inning < 2; i++ { // until there has been a play
			c := protocol.Command{ID: fmt.Sprint(i), Revision: g.Revision, Action: g.Legal[0].Action}
			_, _, err := games.Submit(ctx, ann, g.ID, c, nil)
			check.NoError(t, err)
			g = check.Must(games.Game(ctx, ann, g.ID))(t)
		}
		check.Must(games.Concede(ctx, ann, g.ID))(t)
		finished++
	}
	count := func() int { return games.CountByStatus()[protocol.Finished] }
	g := check.Must(games.Create(ctx, eve, request))(t)
	l := check.Must(games.Suggest(ctx, eve, g.ID, game.Home))(t)
	used := func() int64 { return check.Must(s.Stats())(t).Shares[2].Used }
	check.Must(games.SetLineup(ctx, eve, g.ID, game.Home, l))(t)
	before := used()
	for range 500 {
		l.Order[0], l.Order[1] = l.Order[1], l.Order[0]
		check.Must(games.SetLineup(ctx, eve, g.ID, game.Home, l))(t)
	}
	check.That(t, used() <= before+16 && count() == finished, // a time with more digits
		"after 500 line-ups %d bytes, before %d; %d finished games", used(), before, count())
	created := 1
	for ; ; created++ {
		if _, err := games.Create(ctx, eve, request); err != nil {
			refused, ok := errors.AsType[*protocol.Error](err)
			check.Require(t, ok && refused.Code == protocol.StoreFull, "game %d: %v", created, err)
			break
		}
	}
	share := check.Must(s.Stats())(t).Shares[2]
	check.That(t, used() >= share.Max/4 && used() < share.Max/2 && count() == finished,
		"after %d games of Eve %d of %d bytes are used, %d finished games", created, used(), share.Max, count())
	check.Must(games.Create(ctx, ann, request))(t)
	check.That(t, count() == finished, "%d finished games", count())
}
