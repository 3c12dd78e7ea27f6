package leagues

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pressbox/game"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// maxBytes is the most that a league may take, see [MaxLeagues].
const maxBytes = 64 << 10

// The biggest league fits its bound at every moment, and is read back as it was stored.
func TestLeague_size(t *testing.T) {
	t.Parallel()
	person := protocol.Person{ID: strings.Repeat("x", 26), Name: strings.Repeat("ü", 32)}
	r := Defaults(RoundRobin)
	l := &League{
		Version: leagueVersion, ID: newID(), Name: strings.Repeat("ü", 60), Creator: person, CoverHours: MaxCoverHours,
		PlayAt: "20:00", Options: r.Options,
	}
	l.Format.Meetings, l.Format.BestOf = 6, 7
	for i := range 8 {
		s := Seat{Manager: person}
		s.Team.ID, s.Team.Name = fmt.Sprint("club-", i), strings.Repeat("ü", 60)
		l.Seats = append(l.Seats, s)
	}
	l = check.Must(l.start(time.Now()))(t)
	biggest := 0
	for n := 0; l.Status() == Active; n++ {
		i := l.Competition.Due()[0]
		o := live.Outcome{Score: [2]int{n % 2 * 12, 11}, Conceded: "", Pitches: map[game.PlayerID]int{}}
		for p := range 26 { // more than ever pitch in a game
			o.Pitches[game.PlayerID(fmt.Sprint("player-", l.Competition.Games[i].Home, "-", p))] = 100
		}
		l = check.Must(l.assign(i, newID()).record(i, o, time.Now()))(t)
		if n%20 > 0 && l.Status() == Active {
			continue
		}
		data := check.Must(l.encode())(t)
		biggest = max(biggest, len(data))
		again := check.Must(decode(l.ID, data))(t)
		check.Require(t, string(check.Must(again.encode())(t)) == string(data), "read back differently:\n%s", data)
	}
	check.That(t, biggest <= maxBytes && biggest >= maxBytes/4,
		"the biggest league has %d bytes, want at most %d", biggest, maxBytes)
}

// What is not a league of this version is refused.
func TestDecode_refused(t *testing.T) {
	t.Parallel()
	for _, data := range []string{``, `{`, `{"v":2,"id":"x"}`, `{"v":1,"id":"y"}`} {
		_, err := decode("x", []byte(data))
		check.That(t, err != nil, "%q is a league", data)
	}
}
