package webtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"pressbox/daemon/replica"
)

// A Table is a game of two that has begun, and who sits at it.
type Table struct {
	*GamesRig
	ID         string
	Home, Away *Player // home, away
}

// Sit joins and follows until the state.
func (m *Manager) Sit() *Manager {
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

// State is where the game stands, for comparing.
func (s *Table) State(t *testing.T) string {
	t.Helper()
	var g struct {
		Rev   uint64
		State struct{ Hash string }
	}
	s.Home.Ask(http.MethodGet, "/api/games/"+s.ID, "", 200, &g)
	return fmt.Sprint(g.Rev, g.State.Hash)
}

// Side is the side that the manager was told he has.
func (m *Manager) Side() string {
	for _, h := range m.Heard {
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

// NewReplica begins with what GET /api/games/{id} says of the rosters.
func NewReplica(tb testing.TB, g Page) *replica.Replica {
	tb.Helper()
	r, err := replica.New([]byte(g.Text))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// A Manager plays a game over a websocket: he decides by what he is told is
// legal, and keeps a replica.
type Manager struct {
	*Socket
	*replica.Replica
	Game     string
	Commands int
	Dice     *rand.Rand // nil: always the first of what is legal
	Heard    []string   // all frames
}

// Manage makes a manager of a game, who has not joined it.
func (f *Player) Manage(address, id string) *Manager {
	f.T.Helper()
	return &Manager{Socket: f.Dial(address), Replica: NewReplica(f.T, f.Ask("GET", "/api/games/"+id, "", 200, nil)), Game: id}
}

// Join joins, from the revision that the replica has.
func (m *Manager) Join() {
	m.T.Helper()
	m.Sendf(`{"t":"join","g":%q,"d":{"since":%d}}`, m.Game, m.Rev)
}

// Follow takes over a frame.
func (m *Manager) Follow(f Frame) {
	m.T.Helper()
	m.Heard = append(m.Heard, string(f.Text))
	if err := m.Apply(f.Frame); err != nil {
		m.T.Fatal(err)
	}
	switch f.T {
	case "nak":
		if code := f.Code(); code != "stale_revision" { // the other manager was quicker: news come
			m.T.Fatalf("answered %s", f.Text)
		}
	case "closed":
		m.T.Fatalf("hung up on with %d", f.Rev)
	}
}

// Command sends an action under a new command id, and returns the id.
func (m *Manager) Command(action []byte) string {
	m.T.Helper()
	m.Commands++
	cid := fmt.Sprintf("c%d", m.Commands)
	m.Sendf(`{"t":"cmd","g":%q,"cid":%q,"rev":%d,"d":{"action":%s}}`, m.Game, cid, m.Rev, action)
	return cid
}

// Decide sends one of what is legal, if anything is, or now and then a
// substitution.
func (m *Manager) Decide() {
	m.T.Helper()
	if len(m.Legal) == 0 {
		return
	}
	choose := m.Legal[0]
	if m.Dice != nil && m.Dice.IntN(3) == 0 {
		choose = m.Legal[m.Dice.IntN(len(m.Legal))]
	}
	if m.Dice != nil && m.Dice.IntN(20) == 0 {
		for _, o := range m.Offers {
			if o.Group == "substitution" && m.Dice.IntN(5) == 0 {
				choose = o
			}
		}
	}
	m.Legal, m.Offers = nil, nil
	m.Command(choose.Action)
}

// PlayOut joins and plays to the end.
func (m *Manager) PlayOut() {
	m.T.Helper()
	m.Join()
	for !m.Over {
		m.Follow(m.Next())
		m.Decide()
	}
}
