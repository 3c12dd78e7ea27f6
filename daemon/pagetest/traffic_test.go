package pagetest_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"pressbox/daemon/replica"
	"pressbox/daemon/servertest"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// Limits of what an open lobby costs in a minute, in bytes of both directions with all headers.
const (
	maxMinute = 20_000
	minPlays  = 500 // with less, the plays have not passed the meter
	minLists  = 4_000
)

// metered returns the server as a tab reaches it through a proxy, and the bytes that pass the proxy
// in both directions. A shared worker's bytes are in no tab's.
func metered(t *testing.T, s *server) (*server, *atomic.Int64) {
	t.Helper()
	passed := &atomic.Int64{}
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	var wait sync.WaitGroup
	forward := func(to, from net.Conn) {
		defer to.Close()
		defer from.Close()
		buffer := make([]byte, 32<<10)
		for {
			n, err := from.Read(buffer)
			passed.Add(int64(n))
			if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
				return
			}
		}
	}
	wait.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			if err != nil {
				_ = in.Close()
				continue
			}
			wait.Go(func() { forward(out, in) })
			wait.Go(func() { forward(in, out) })
		}
	})
	t.Cleanup(func() { _ = l.Close() }) // the connections end with the tabs
	return &server{s.shared, &servertest.Process{URL: "http://" + l.Addr().String()}}, passed
}

// heldPoll leaves it to the test when the lobby loads its lists, as it does each minute: with poll().
const heldPoll = `(() => { const later = setTimeout;
	window.setTimeout = (f, ms) => (ms === 60000 ? (window.poll = f, 0) : later(f, ms)); })()`

// A lobby is a tab with the lists of games, and a player who starts and plays games beside it.
type lobby struct {
	*tab
	player *servertest.Browser
}

// games returns a list of the API, newest first.
func (l *lobby) games(status protocol.Status, query string) []protocol.Game {
	l.t.Helper()
	var lists map[protocol.Status][]protocol.Game
	l.player.Read(fmt.Sprintf("/api/games?people=true&status=%s&%s", status, query), &lists)
	return lists[status]
}

// awaitActive waits until the lobby has the first n active games, as the API has them, in their order.
func (l *lobby) awaitActive(n int) {
	l.t.Helper()
	var want []string
	for _, g := range l.games(protocol.Active, fmt.Sprintf("limit=%d", n)) {
		half := map[string]string{"top": "Top", "bottom": "Bottom"}[g.Half]
		want = append(want, fmt.Sprintf("/games/%s %d,%d %s %d", g.ID, g.Score.Away, g.Score.Home, half, g.Inning))
	}
	l.await(`(() => {
		const [active] = $$(".game-stubs");
		return [...active.querySelectorAll("a")]
			.map((a) => [a.pathname, [...a.querySelectorAll("b")].map((b) => b.textContent).join(),
			...a.querySelector(".game-state").textContent.match(/(\w+) (\d+)/).slice(1)].join(" ")).join("; ") === %q;
	})()`, strings.Join(want, "; "))
}

// play has a game played until its next play is over.
func play(t *testing.T, p *servertest.Player) {
	t.Helper()
	before := len(p.Replica.Kinds)
	check.NoError(t, p.Connect(func(replica.Frame) bool { return slices.Contains(p.Replica.Kinds[before:], "play") }))
}

// With 500 games in the store, a lobby that is open while 24 are played costs little: its lists
// once a minute, and what the plays change. Three plays of each game are a minute's. A game that is
// played and not on the page makes no gap in its list. What is on the screen stays there when games
// above it are listed, are played and end.
func TestAll_lobbyManyGames(t *testing.T) {
	t.Parallel()
	s := newFullServer(t)
	through, passed := metered(t, s)
	l := &lobby{newTab(t, through), servertest.SignUp(t, s.URL)}
	players := make([]*servertest.Player, pageOfGames+2) // the first two are not on the first page
	for i := range players {
		players[i] = &servertest.Player{Browser: l.player}
		players[i].Play(`"innings": 9`)
		check.NoError(t, players[i].Connect(func(f replica.Frame) bool { return f.T == "state" }))
	}
	send(l.tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: heldPoll})
	l.do(chromedp.EmulateViewport(390, 844))
	l.open("/")
	l.await(`window.poll && $$(".game-stub").length === %d`, 3*pageOfGames)

	before := passed.Load()
	for range 3 {
		for _, p := range players[2:] {
			play(t, p)
		}
		play(t, players[0])
		l.awaitActive(pageOfGames)
	}
	plays := passed.Load() - before
	l.player.Ask("POST", "/api/games", `{"home_team": "BWH", "away_team": "CPR"}`, 201)
	l.await(`$(%q).children.length === %d`, list(1), pageOfGames+1)
	value[bool](l.tab, `poll().then(() => true)`)
	minute := passed.Load() - before
	t.Logf("a minute costs %d bytes, %d of them for plays", minute, plays)
	if minute > maxMinute || plays < minPlays || minute-plays < minLists {
		t.Errorf("a minute costs %d bytes, %d of them for plays; want at most %d, least %d and %d for lists",
			minute, plays, maxMinute, minPlays, minLists)
	}

	for l.count(older(0)) > 0 {
		l.more(0)
	}
	l.awaitActive(100)                  // all
	for l.count(list(1)+" > li") < 90 { // more than are active: no card of both lists is on a screen
		l.more(1)
	}
	for i, width := range []int64{1280, 390} {
		l.do(chromedp.EmulateViewport(width, 800))
		l.keepsPlace(t, players[5+i])
	}
}

// list and older are the list of active games, 0, or of open ones, 1, and the button below it.
func list(n int) string  { return fmt.Sprintf(".columns > section:nth-child(%d) > .game-stubs", n+1) }
func older(n int) string { return fmt.Sprintf(".columns > section:nth-child(%d) > p button", n+1) }

// more loads the next part of a list.
func (l *lobby) more(n int) {
	l.t.Helper()
	before := l.count(list(n) + " > li")
	// a mouse may miss it, as cards get their sizes when they are on the screen
	l.is(fmt.Sprintf(`$(%q).click()`, older(n)))
	l.await(`$$(%q).length > %d`, list(n)+" > li", before)
}

// keepsPlace checks that a card in the middle of the screen stays there when games above it are played, are
// listed and end.
func (l *lobby) keepsPlace(t *testing.T, p *servertest.Player) {
	t.Helper()
	l.is(fmt.Sprintf(`(globalThis.card = $(%q).children[80],
		card.scrollIntoView({ block: "center", behavior: "instant" }), true)`, list(1)))
	l.drawn()
	l.drawn() // with the sizes of the cards that were not
	const place = `Math.round(card.getBoundingClientRect().top)`
	at := value[int](l.tab, place)
	same := func(after string) {
		t.Helper()
		l.drawn()
		if now := value[int](l.tab, place); now < at-1 || now > at+1 {
			t.Errorf("after %s the card at %d is at %d", after, at, now)
			at = now
		}
	}
	play(t, p)
	l.awaitActive(100)
	same("a play")
	before := l.count(list(1) + " > li")
	l.player.Ask("POST", "/api/games", `{"home_team": "BWH", "away_team": "CPR"}`, 201)
	l.await(`$$(%q).length === %d`, list(1)+" > li", before+1)
	same("an open game")
	l.player.Ask("POST", "/api/games/"+l.games(protocol.Active, "limit=1")[0].ID+"/concede", "", 200)
	l.awaitActive(100)
	same("the end of a game")
	value[bool](l.tab, `poll().then(() => true)`)
	same("the lists")
}

// pageOfGames is the number of games of each list that the lobby loads at once.
const pageOfGames = 24
