package device

import "pressbox/game/protocol"

// The kinds of events of games.
const (
	gameStarted  = "started"
	gameYourTurn = "your_turn"
	gameScored   = "scored"
	gameOver     = "over"
)

func gameEvents() []string { return []string{gameStarted, gameYourTurn, gameScored, gameOver} }

// A gameEvent is the payload of an event of a listed game.
type gameEvent struct {
	Type    string          `json:"event_type"`
	Game    string          `json:"game"`
	Side    string          `json:"side,omitzero"`    // your_turn: "home" or "away"
	Manager string          `json:"manager,omitzero"` // your_turn: who is to decide
	Score   *protocol.Score `json:"score,omitzero"`
}

// scores are the last scores of listed games that are not finished.
type scores map[string]protocol.Score

func newScores(games []protocol.Game) scores {
	s := scores{}
	for _, g := range games {
		if g.Score != nil {
			s[g.ID] = *g.Score
		}
	}
	return s
}

// events returns what a message of the lobby means to listeners.
func (s scores) events(m *protocol.Message) []gameEvent {
	switch data := m.Data.(type) {
	case *protocol.Event:
		if data.Kind == protocol.Started {
			s[m.Game] = protocol.Score{}
			return []gameEvent{{Type: gameStarted, Game: m.Game}}
		}
	case *protocol.Turn:
		return []gameEvent{{Type: gameYourTurn, Game: m.Game, Side: data.Side.String(), Manager: data.Manager}}
	case *protocol.Game:
		return s.compare(data)
	case *protocol.LiveScore: // for displays
	default: // cancelled
		delete(s, m.Game)
	}
	return nil
}

// compare returns what has changed since the game's entry before.
func (s scores) compare(g *protocol.Game) []gameEvent {
	if g.Score == nil {
		return nil
	}
	before, known := s[g.ID]
	s[g.ID] = *g.Score
	var all []gameEvent
	if known && *g.Score != before {
		all = append(all, gameEvent{Type: gameScored, Game: g.ID, Score: g.Score})
	}
	if g.Status == protocol.Finished {
		delete(s, g.ID)
		if known {
			all = append(all, gameEvent{Type: gameOver, Game: g.ID, Score: g.Score})
		}
	}
	return all
}
