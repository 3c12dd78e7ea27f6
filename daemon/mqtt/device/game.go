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
	Teams   *teamNames      `json:"teams,omitzero"`
	Score   *protocol.Score `json:"score,omitzero"`
}

// teamNames are the names of a game's teams.
type teamNames struct {
	Home string `json:"home"`
	Away string `json:"away"`
}

// games are the listed games that are not finished.
type games struct{ protocol.Entries }

// event returns an event of a game.
func (all games) event(kind, id string) gameEvent {
	e := gameEvent{Type: kind, Game: id}
	if g := all.Entries[id]; g != nil {
		e.Teams = &teamNames{g.Home.Team.Name, g.Away.Team.Name}
	}
	return e
}

// events returns what a message of the lobby means to listeners.
func (all games) events(m *protocol.Message) []gameEvent {
	switch data := m.Data.(type) {
	case *protocol.Event:
		if data.Kind == protocol.Started {
			return []gameEvent{all.event(gameStarted, m.Game)}
		}
	case *protocol.Turn:
		e := all.event(gameYourTurn, m.Game)
		e.Side, e.Manager = data.Side.String(), data.Manager
		return []gameEvent{e}
	case *protocol.Game:
		return all.compare(data)
	case *protocol.LiveScore, *protocol.Reaction: // for displays
	default: // cancelled
		delete(all.Entries, m.Game)
	}
	return nil
}

// compare returns what has changed since the game's entry before.
func (all games) compare(g *protocol.Game) (changes []gameEvent) {
	before := all.Entries[g.ID]
	all.Entries[g.ID] = g
	if g.Score != nil && before != nil {
		old := protocol.Score{}
		if before.Score != nil {
			old = *before.Score
		}
		if *g.Score != old {
			changes = append(changes, all.event(gameScored, g.ID))
		}
		if g.Status == protocol.Finished {
			changes = append(changes, all.event(gameOver, g.ID))
		}
	}
	for i := range changes {
		changes[i].Score = g.Score
	}
	if g.Status == protocol.Finished {
		delete(all.Entries, g.ID)
	}
	return changes
}
