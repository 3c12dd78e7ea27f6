package web_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pressbox/daemon/replica"
)

// newReplica begins with what GET /api/games/{id} says of the rosters.
func newReplica(tb testing.TB, g page) *replica.Replica {
	tb.Helper()
	r, err := replica.New([]byte(g.body))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// A manager plays a game over a websocket: he decides by what he is told is
// legal, and keeps a replica.
type manager struct {
	*line
	*replica.Replica
	game  string
	cids  int
	dice  *rand.Rand // nil: always the first of what is legal
	heard []string   // all frames
}

// manage makes a manager of a game, who has not joined it.
func (f *fan) manage(address, id string) *manager {
	f.t.Helper()
	return &manager{line: f.dial(address), Replica: newReplica(f.t, f.ask("GET", "/api/games/"+id, "", 200, nil)), game: id}
}

// join joins, from the revision that the replica has.
func (m *manager) join() {
	m.t.Helper()
	m.say(`{"t":"join","g":%q,"d":{"since":%d}}`, m.game, m.Rev)
}

// follow takes over a frame.
func (m *manager) follow(f frame) {
	m.t.Helper()
	m.heard = append(m.heard, string(f.text))
	if err := m.Take(f.Frame); err != nil {
		m.t.Fatal(err)
	}
	switch f.T {
	case "nak":
		if code := f.code(); code != "stale_revision" { // the other manager was quicker: news come
			m.t.Fatalf("answered %s", f.text)
		}
	case "closed":
		m.t.Fatalf("hung up on with %d", f.Rev)
	}
}

// command sends an action under a new command id, and returns the id.
func (m *manager) command(action []byte) string {
	m.t.Helper()
	m.cids++
	cid := fmt.Sprintf("c%d", m.cids)
	m.say(`{"t":"cmd","g":%q,"cid":%q,"rev":%d,"d":{"action":%s}}`, m.game, cid, m.Rev, action)
	return cid
}

// decide sends one of what is legal, if anything is, or now and then a
// substitution.
func (m *manager) decide() {
	m.t.Helper()
	if len(m.Legal) == 0 {
		return
	}
	choose := m.Legal[0]
	if m.dice != nil && m.dice.IntN(3) == 0 {
		choose = m.Legal[m.dice.IntN(len(m.Legal))]
	}
	if m.dice != nil && m.dice.IntN(20) == 0 {
		for _, o := range m.Offers {
			if o.Group == "substitution" && m.dice.IntN(5) == 0 {
				choose = o
			}
		}
	}
	m.Legal, m.Offers = nil, nil
	m.command(choose.Action)
}

// playOut joins and plays to the end.
func (m *manager) playOut() {
	m.t.Helper()
	m.join()
	for !m.Over {
		m.follow(m.next())
		m.decide()
	}
}
