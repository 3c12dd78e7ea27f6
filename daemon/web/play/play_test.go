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
	for _, innings := range []int{3, 5, 7, 9} {
		for _, opponent := range []string{"open", "bot", "hotseat"} {
			for _, extra := range []string{"runner", "standard"} {
				for _, side := range []string{"home", "away"} {
					for _, dh := range []bool{true, false} {
						i := len(games)
						games = append(games, fmt.Sprintf(
							`{"innings": %d, "dh": %t, "extra_innings": %q, "side": %q, "opponent": %q, `+
								`"turn_seconds": %d, "announce": %q, "visibility": %q, "mercy": %q, `+
								`"disengagements": %q, "bot_level": %d}`,
							innings, dh, extra, side, opponent, i%3*300,
							[]string{"off", "scoring", "all"}[i%3], []string{"listed", "private"}[i/3%2],
							[]string{"off", "on"}[i/2%2], []string{"unlimited", "2023"}[i/5%2], 1+i%3))
					}
				}
			}
		}
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
