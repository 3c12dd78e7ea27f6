package webtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"pressbox/daemon/replica"
	"pressbox/packaging/check"
)

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

// A Manager plays a game over a websocket: it chooses among the legal actions and
// maintains a replica.
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

// Decide sends a legal action, or sometimes a substitution. It sends nothing if no
// action is legal.
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
