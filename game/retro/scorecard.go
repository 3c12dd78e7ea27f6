package retro

import (
	"fmt"
	"strconv"
	"strings"

	"pressbox/game"
)

// A Scorecard keeps a game as it is played, to be written as an event file.
type Scorecard struct {
	id      string
	clubs   [2]game.Club
	start   game.State
	moves   []move
	half    [2]int // inning and half of the last move
	pitches string // of the turn at bat that goes on
}

// A move is a record, or a play whose text waits for the scorer's rulings.
type move struct {
	record Record
	before *game.State // nil for what is not a play
	play   game.Play
}

// NewScorecard opens the card of a game that begins in start. The id is Retrosheet's: the home team, the date and the
// number of the game on that day, "HOM202604010".
func NewScorecard(id string, start *game.State, clubs [2]game.Club) *Scorecard {
	return &Scorecard{id: id, clubs: clubs, start: *start}
}

// RecordPlay notes a play that was applied to before.
func (c *Scorecard) RecordPlay(before *game.State, p game.Play) {
	c.begin(before)
	if p.Flags.Has(game.OutOfTurn) {
		c.outOfTurn(before, p.Batter)
	}
	s := *before
	c.moves = append(c.moves, move{record: Record{Play: line(before, p)}, before: &s, play: p})
	c.pitches = p.Pitches
	if p.Kind.EndsPlateAppearance() {
		c.pitches = ""
	}
}

// RecordSubstitutions notes substitutions that were made in before.
func (c *Scorecard) RecordSubstitutions(before *game.State, subs []game.Substitution) {
	c.begin(before)
	for _, sub := range subs {
		pause := line(before, game.Play{Kind: game.NoPlay, Count: before.Count})
		pause.Event = "NP"
		if c.pitches != "" {
			pause.Pitches = c.pitches + "."
		}
		c.moves = append(c.moves, move{record: Record{Play: pause}}, move{record: Record{Substitution: &LineupEntry{
			Player: sub.Player, Name: c.name(sub.Side, sub.Player), Side: sub.Side, Slot: sub.Slot, Position: sub.Position,
		}}})
	}
}

// begin notes the automatic runner when a half-inning begins.
func (c *Scorecard) begin(s *game.State) {
	now := [2]int{s.Inning, int(s.Half)}
	if now == c.half {
		return
	}
	c.half, c.pitches = now, ""
	if r := s.RunnerOn(game.Second); r.Automatic {
		c.moves = append(c.moves, move{record: Record{Adjustment: &Adjustment{Kind: "radj", Args: [2]string{string(r.Player), "2"}}}})
	}
}

// outOfTurn notes which place in the order bats.
func (c *Scorecard) outOfTurn(s *game.State, batter game.PlayerID) {
	side := s.Batting()
	for i, slot := range s.Teams[side].Order {
		if slot.Player == batter {
			args := [2]string{strconv.Itoa(int(side)), strconv.Itoa(i + 1)}
			c.moves = append(c.moves, move{record: Record{Adjustment: &Adjustment{Kind: "ladj", Args: args}}})
		}
	}
}

func line(s *game.State, p game.Play) *PlayRecord {
	batter := p.Batter
	if batter == "" {
		batter = s.Batter()
	}
	return &PlayRecord{Inning: s.Inning, Side: s.Batting(), Batter: batter, Count: p.Count, Pitches: p.Pitches}
}

func (c *Scorecard) name(side game.Side, id game.PlayerID) string {
	p, _ := c.clubs[side].Player(id)
	return p.Name
}

// EventFile returns the game so far as an event file holds it. The book rules which runs are unearned; those of a
// half-inning that still goes on are not marked.
func (c *Scorecard) EventFile(now *game.State, b *game.Scorebook) (*Game, error) {
	g := &Game{ID: c.id, Info: c.info(now, b), Starts: c.starts()}
	rulings := b.EarnedRunRulings()
	n := 0
	for _, m := range c.moves {
		r := m.record
		if m.before != nil {
			if m.play.Kind != game.NoPlay {
				n++
				rule(&m.play, n, rulings)
			}
			text, err := Format(m.before, m.play)
			if err != nil {
				return nil, fmt.Errorf("scorecard of %s, play %d: %w", c.id, n, err)
			}
			line := *r.Play
			line.Event = text
			r.Play = &line
		}
		g.Records = append(g.Records, r)
	}
	for _, t := range b.BoxScore(now).Teams {
		for _, l := range t.Pitching {
			g.EarnedRuns = append(g.EarnedRuns, EarnedRuns{Pitcher: l.Player, Runs: l.EarnedRuns})
		}
	}
	return g, nil
}

// rule writes the book's rulings on the runs of play n into it.
func rule(p *game.Play, n int, rulings []game.EarnedRunRuling) {
	for _, r := range rulings {
		if r.Play == n {
			p.Advances[r.From].Earned = r.Earned
		}
	}
}

// info is what the file says of the game as a whole.
func (c *Scorecard) info(now *game.State, b *game.Scorebook) []Info {
	o := c.start.Options
	all := []Info{{"visteam", c.clubs[game.Away].Abbrev}, {"hometeam", c.clubs[game.Home].Abbrev}}
	if date, number, ok := c.date(); ok {
		all = append(all, Info{"date", date}, Info{"number", number})
	}
	all = append(all, Info{"usedh", strconv.FormatBool(o.DH)}, Info{"innings", strconv.Itoa(o.ScheduledInnings())})
	if o.ExtraInnings != game.Standard {
		all = append(all, Info{"tiebreaker", "2"})
	}
	if o.HomeBatsFirst {
		all = append(all, Info{"htbf", "true"})
	}
	switch now.End { // to whom, as in Retrosheet's game logs
	case game.HomeForfeit:
		all = append(all, Info{"forfeit", "V"})
	case game.AwayForfeit:
		all = append(all, Info{"forfeit", "H"})
	default:
	}
	all = append(all, Info{"pitches", "pitches"})
	if box := b.BoxScore(now); box.WinningPitcher != "" {
		all = append(all, Info{"wp", string(box.WinningPitcher)}, Info{"lp", string(box.LosingPitcher)}, Info{"save", string(box.SavingPitcher)})
	}
	return all
}

// date reads the date and the number of the game from an id of Retrosheet's form.
func (c *Scorecard) date() (date, number string, ok bool) {
	if len(c.id) != 12 || !digits(c.id[3:]) {
		return "", "", false
	}
	return c.id[3:7] + "/" + c.id[7:9] + "/" + c.id[9:11], c.id[11:], true
}

func (c *Scorecard) starts() []LineupEntry {
	var all []LineupEntry
	for side := game.Away; side <= game.Home; side++ {
		t := &c.start.Teams[side]
		for i, slot := range t.Order {
			all = append(all, LineupEntry{slot.Player, c.name(side, slot.Player), side, i + 1, slot.Position})
		}
		if t.DH != 0 {
			all = append(all, LineupEntry{t.Pitcher, c.name(side, t.Pitcher), side, 0, game.Pitcher})
		}
	}
	return all
}

// field keeps a text inside its field of a record.
func field(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '"' {
			return '\''
		}
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, text)
}
