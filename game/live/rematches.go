package live

import (
	"slices"

	"pressbox/game/match"
	"pressbox/game/protocol"
)

// WatchRematches subscribes send to the rematches of a person: "rematch" with the game when one is offered to the
// person, "gone" when an offer has ended, and "declined" when another person declines the person's own. It returns
// the present offers, oldest first.
func (g *Games) WatchRematches(person protocol.Person, send Send) (offers []protocol.Game, leave func()) {
	s := &subscriber{person: person, send: send}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, known := range g.summaries {
		if known.Offered(person) {
			offers = append(offers, known.Game(person))
		}
	}
	slices.SortFunc(offers, func(a, b protocol.Game) int { return byTime(a.Created, b.Created, a.ID, b.ID) })
	g.rematches[s] = struct{}{}
	return offers, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.rematches, s)
	}
}

// publishRematch publishes a game that may be a rematch: to the person it is offered to, and to both managers that
// it was accepted. g.mu must be held.
func (g *Games) publishRematch(s *match.Summary) {
	if s.Former == "" || s.Status != protocol.Pending {
		return
	}
	accepted := s.Seats[0].Reserved.ID+s.Seats[1].Reserved.ID == ""
	for to := range g.rematches {
		switch {
		case s.Offered(to.person):
			offer := s.Game(to.person)
			g.sendRematch(to, &protocol.Message{Type: "rematch", Game: s.ID, Revision: s.Revision, Data: &offer})
		case accepted && len(s.Sides(to.person)) > 0:
			g.sendRematch(to, &protocol.Message{Type: "gone", Game: s.ID})
		}
	}
}

// withdrawRematch publishes the end of a game that may be a rematch; declined is the account that declined it, nil
// if none did. g.mu must be held.
func (g *Games) withdrawRematch(s *match.Summary, declined *protocol.Declined) {
	if s.Former == "" {
		return
	}
	for to := range g.rematches {
		switch {
		case declined != nil && to.person.ID == s.Creator.ID:
			g.sendRematch(to, &protocol.Message{Type: "declined", Game: s.ID, Data: declined})
		case s.Involves(to.person):
			g.sendRematch(to, &protocol.Message{Type: "gone", Game: s.ID})
		}
	}
}

// sendRematch sends a message to one of g.rematches. g.mu must be held.
func (g *Games) sendRematch(to *subscriber, m *protocol.Message) {
	if !to.send(m) {
		delete(g.rematches, to)
	}
}
