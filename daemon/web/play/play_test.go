package play_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"pressbox/daemon/replica"
	"pressbox/daemon/web/webtest"
)

// Whole games are played over websockets in each combination of options: the
// managers, a spectator and whoever reads the events afterwards see the same
// game, and each who applies the plays himself has the server's state.
func TestWholeGames(t *testing.T) {
	t.Parallel()
	p := webtest.NewGamesRig(t)
	address := p.Open(t)
	games := everyGame()
	step := 13 // eight games, with each value of each option
	if os.Getenv("PRESSBOX_CRASH_ROUNDS") != "" {
		step = 1
	}
	for i := 0; i < len(games); i += step {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			playGame(p, t, address, games[i], rand.New(rand.NewPCG(uint64(i), 1)))
		})
	}
}

// everyGame returns the options of every kind of game: all combinations of
// what the rules, the seats and the frames depend on, the shortest first; the
// clock, the announcer and who may see it take turns.
func everyGame() (games []string) {
	for _, innings := range []int{3, 5, 7, 9} {
		for _, opponent := range []string{"open", "bot", "hotseat"} {
			for _, extra := range []string{"runner", "standard"} {
				for _, side := range []string{"home", "away"} {
					for _, dh := range []bool{true, false} {
						i := len(games)
						games = append(games, fmt.Sprintf(
							`{"innings": %d, "dh": %t, "extra_innings": %q, "side": %q, "opponent": %q, "turn_seconds": %d, "announce": %q, "visibility": %q}`,
							innings, dh, extra, side, opponent, i%3*300,
							[]string{"off", "scoring", "all"}[i%3], []string{"listed", "private"}[i/3%2]))
					}
				}
			}
		}
	}
	return games
}

// playGame plays a game with these options to its end.
func playGame(p *webtest.GamesRig, t *testing.T, address, options string, dice *rand.Rand) {
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
	if g = anna.SuggestLineup(g.ID, mine); g.Status != "active" {
		t.Fatalf("with all line-ups in it is %s", g.Status)
	}
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
	if len(spectator.Legal) > 0 || spectator.Commands > 0 {
		t.Errorf("the spectator may do %v", spectator.Legal)
	}
	for _, m := range managers {
		if m.Rev != spectator.Rev || m.Hash != spectator.Hash {
			t.Errorf("a manager ended at %d with %.8s, the spectator at %d with %.8s", m.Rev, m.Hash, spectator.Rev, spectator.Hash)
		}
	}
	readBook(carl, g.ID, spectator.Replica)
}

// readBook reads what is written about a game that is over.
func readBook(f *webtest.Player, id string, want *replica.Replica) {
	f.T.Helper()
	var g webtest.GameView
	again := webtest.NewReplica(f.T, f.Ask(http.MethodGet, "/api/games/"+id, "", 200, &g))
	if g.Status != "finished" || g.Result == nil || g.Dice.Seed == "" || g.Rev < want.Rev {
		f.T.Errorf("it ended as %+v", g)
	}
	var all struct{ Events []replica.Frame }
	f.Ask(http.MethodGet, "/api/games/"+id+"/events?since=0", "", 200, &all)
	for _, e := range all.Events {
		if err := again.Apply(e); err != nil {
			f.T.Fatal(err)
		}
	}
	if again.Hash != want.Hash {
		f.T.Errorf("the events lead to %.8s, want %.8s", again.Hash, want.Hash)
	}
	var box struct{ Teams []struct{ Runs int } }
	f.Ask(http.MethodGet, "/api/games/"+id+"/boxscore", "", 200, &box)
	if box.Teams[0].Runs != g.Score.Away || box.Teams[1].Runs != g.Score.Home {
		f.T.Errorf("the box score has %v, the game %v", box, g.Score)
	}
	var win struct{ Points []struct{ Home float64 } }
	f.Ask(http.MethodGet, "/api/games/"+id+"/winprob", "", 200, &win)
	if last := win.Points[len(win.Points)-1].Home; last != 0 && last != 1 && g.Result.Winner != "" {
		f.T.Errorf("the home side's chance ends at %v", last)
	}
	if card := f.Ask(http.MethodGet, "/api/games/"+id+"/scorecard", "", 200, nil); !strings.HasPrefix(card.Text, "id,") {
		f.T.Errorf("the scorecard begins %.20q", card.Text)
	}
}
