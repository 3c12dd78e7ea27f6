package retro

import (
	"fmt"
	"strconv"
	"strings"

	"pressbox/game"
)

// A Scorecard records a game in progress for an event file.
type Scorecard struct {
	id         string
	clubs      [2]game.Club
	start      game.State
	entries    []entry
	halfInning [2]int // inning and half of the last move
	pitches    string // of the current plate appearance
}

// An entry is a record, or a play whose text depends on later rulings.
type entry struct {
	record Record
	before *game.State // nil for other records than plays
	play   game.Play
}

// NewScorecard returns the scorecard of a game that begins in start. The id is Retrosheet's: the home team, the date
// and the number of the game on that day, "HOM202604010".
func NewScorecard(id string, start *game.State, clubs [2]game.Club) *Scorecard {
	return &Scorecard{id: id, clubs: clubs, start: *start}
}

// RecordPlay records a play that was applied to before.
func (c *Scorecard) RecordPlay(before *game.State, p game.Play) {
	c.startHalfInning(before)
	if p.Flags.Has(game.OutOfTurn) {
		c.recordOutOfTurn(before, p.Batter)
	}
	s := *before
	c.entries = append(c.entries, entry{record: Record{Play: playRecord(before, p)}, before: &s, play: p})
	c.pitches = p.Pitches
	if p.Kind.EndsPlateAppearance() {
		c.pitches = ""
	}
}

// RecordSubstitutions records substitutions that were applied to before.
func (c *Scorecard) RecordSubstitutions(before *game.State, subs []game.Substitution) {
	c.startHalfInning(before)
	for _, sub := range subs {
		pause := playRecord(before, game.Play{Kind: game.NoPlay, Count: before.Count})
		pause.Event = "NP"
		if c.pitches != "" {
			pause.Pitches = c.pitches + "."
		}
		c.entries = append(c.entries, entry{record: Record{Play: pause}},
			entry{record: Record{Substitution: &LineupEntry{
				Player: sub.Player, Name: c.playerName(sub.Side, sub.Player), Side: sub.Side, Slot: sub.Slot,
				Position: sub.Position,
			}}})
	}
}

// startHalfInning records the automatic runner at the start of a half-inning.
func (c *Scorecard) startHalfInning(s *game.State) {
	now := [2]int{s.Inning, int(s.Half)}
	if now == c.halfInning {
		return
	}
	c.halfInning, c.pitches = now, ""
	if r := s.RunnerOn(game.Second); r.Automatic {
		c.entries = append(c.entries,
			entry{record: Record{Adjustment: &Adjustment{Kind: "radj", Args: [2]string{string(r.Player), "2"}}}})
	}
}

// recordOutOfTurn records the batter's place in the order.
func (c *Scorecard) recordOutOfTurn(s *game.State, batter game.PlayerID) {
	side := s.Batting()
	for i, slot := range s.Teams[side].Order {
		if slot.Player == batter {
			args := [2]string{strconv.Itoa(int(side)), strconv.Itoa(i + 1)}
			c.entries = append(c.entries, entry{record: Record{Adjustment: &Adjustment{Kind: "ladj", Args: args}}})
		}
	}
}

func playRecord(s *game.State, p game.Play) *PlayRecord {
	batter := p.Batter
	if batter == "" {
		batter = s.Batter()
	}
	return &PlayRecord{Inning: s.Inning, Side: s.Batting(), Batter: batter, Count: p.Count, Pitches: p.Pitches}
}

func (c *Scorecard) playerName(side game.Side, id game.PlayerID) string {
	p, _ := c.clubs[side].Player(id)
	return p.Name
}

// EventFile returns the game so far. Unearned runs are marked by the scorebook's rulings, which exist for completed
// half-innings only.
func (c *Scorecard) EventFile(now *game.State, b *game.Scorebook) (*Game, error) {
	g := &Game{ID: c.id, Info: c.info(now, b), Starts: c.startingLineups()}
	rulings := b.EarnedRunRulings()
	n := 0
	for _, m := range c.entries {
		r := m.record
		if m.before != nil {
			if m.play.Kind != game.NoPlay {
				n++
				applyRulings(&m.play, n, rulings)
			}
			text, err := Format(m.before, m.play)
			if err != nil {
				return nil, fmt.Errorf("format play %d of %s: %w", n, c.id, err)
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

// applyRulings sets the scorebook's rulings on the runs of play n.
func applyRulings(p *game.Play, n int, rulings []game.EarnedRunRuling) {
	for _, r := range rulings {
		if r.Play == n {
			p.Advances[r.From].Earned = r.Earned
		}
	}
}

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
	switch now.End { // the winner's side, as in Retrosheet's game logs
	case game.HomeForfeit:
		all = append(all, Info{"forfeit", "V"})
	case game.AwayForfeit:
		all = append(all, Info{"forfeit", "H"})
	default:
	}
	all = append(all, Info{"pitches", "pitches"})
	if box := b.BoxScore(now); box.WinningPitcher != "" {
		all = append(all, Info{"wp", string(box.WinningPitcher)}, Info{"lp", string(box.LosingPitcher)},
			Info{"save", string(box.SavingPitcher)})
	}
	return all
}

// date returns the date and the number of the game from an id of Retrosheet's form.
func (c *Scorecard) date() (date, number string, ok bool) {
	if len(c.id) != 12 || !isDigits(c.id[3:]) {
		return "", "", false
	}
	return c.id[3:7] + "/" + c.id[7:9] + "/" + c.id[9:11], c.id[11:], true
}

func (c *Scorecard) startingLineups() []LineupEntry {
	var all []LineupEntry
	for _, side := range game.Sides() {
		t := &c.start.Teams[side]
		for i, slot := range t.Order {
			all = append(all, LineupEntry{slot.Player, c.playerName(side, slot.Player), side, i + 1, slot.Position})
		}
		if t.DH != 0 {
			all = append(all, LineupEntry{t.Pitcher, c.playerName(side, t.Pitcher), side, 0, game.Pitcher})
		}
	}
	return all
}

// sanitize replaces quotes and line ends.
func sanitize(text string) string {
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
