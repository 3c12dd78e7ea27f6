package retro

import "pressbox/game"

// A Game is one game of an event file.
type Game struct {
	ID         string
	Info       []Info
	Starts     []LineupEntry
	Records    []Record
	EarnedRuns []EarnedRuns
}

// Info is an info record.
type Info struct{ Key, Value string }

// A LineupEntry is a start or sub record.
type LineupEntry struct {
	Player   game.PlayerID
	Name     string
	Side     game.Side
	Slot     int // 1–9; 0 for a pitcher who does not bat
	Position game.Position
}

// A Record is one play, substitution, adjustment or comment; exactly one of its parts is set.
type Record struct {
	Line         int // in the file, from 1
	Play         *PlayRecord
	Substitution *LineupEntry
	Adjustment   *Adjustment
	Comment      string
}

// A PlayRecord is a play record.
type PlayRecord struct {
	Inning  int
	Side    game.Side // at bat
	Batter  game.PlayerID
	Count   game.Count
	Pitches string
	Event   string
}

// An Adjustment is a badj, padj, ladj, presadj or radj record.
type Adjustment struct {
	Kind string // "radj": Args are the player and the base on which that runner begins the half-inning
	Args [2]string
}

// EarnedRuns is a data,er record: the official number of earned runs against a pitcher.
type EarnedRuns struct {
	Pitcher game.PlayerID
	Runs    int
}

// InfoValue returns the value of an info record, "" for none.
func (g *Game) InfoValue(key string) string {
	for _, i := range g.Info {
		if i.Key == key {
			return i.Value
		}
	}
	return ""
}
