package events

import (
	"pressbox/game/protocol"
	"pressbox/voice/announce"
)

// A gameEvent is a change of a listed game.
type gameEvent struct {
	header
	Inning int    `json:"inning,omitzero"`
	Home   team   `json:"home"`
	Away   team   `json:"away"`
	Turn   string `json:"turn,omitzero"` // the side that is to decide: "home" or "away"
}

// A team is one side of a game.
type team struct {
	Team string `json:"team"`
	Runs int    `json:"runs"`
}

// gameEvents returns the events of a message of the lobby, whose entries it updates.
func gameEvents(all protocol.Entries, m *protocol.Message) []gameEvent {
	switch data := m.Data.(type) {
	case *protocol.Turn:
		if g := all[m.Game]; g != nil {
			e := eventOf(g)
			e.Turn = data.Side.String()
			return []gameEvent{e}
		}
	case *protocol.Game:
		e, before := eventOf(data), all[data.ID]
		all[data.ID] = data
		if data.Status == protocol.Finished {
			delete(all, data.ID)
		}
		if before == nil || eventOf(before) != e {
			return []gameEvent{e}
		}
	case *protocol.LiveScore, *protocol.Event, *protocol.Reaction: // an entry follows, or nothing is saved
	default: // it was cancelled
		if g := all[m.Game]; g != nil {
			delete(all, m.Game)
			e := eventOf(g)
			e.Status = string(announce.Cancelled)
			return []gameEvent{e}
		}
	}
	return nil
}

// eventOf returns the event of an entry.
func eventOf(g *protocol.Game) gameEvent {
	e := gameEvent{
		header: header{Event: "game", ID: g.ID, Status: string(g.Status)},
		Inning: g.Inning, Home: team{Team: g.Home.Team.Name}, Away: team{Team: g.Away.Team.Name},
	}
	if g.Score != nil {
		e.Home.Runs, e.Away.Runs = g.Score.Home, g.Score.Away
	}
	return e
}
