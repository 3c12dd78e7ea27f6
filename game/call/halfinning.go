package call

import (
	"maps"
	"strconv"

	"pressbox/game"
)

func (c *Commentator) scoreValues(score [2]int) values {
	leader := game.Away
	if score[game.Home] > score[game.Away] {
		leader = game.Home
	}
	return values{
		"leader": c.clubs[leader].Name, "trailer": c.clubs[leader.Other()].Name,
		"hi": c.phrasebook.runs(score[leader]), "lo": c.phrasebook.runs(score[leader.Other()]),
		"awayabbrev": c.clubs[game.Away].Abbrev, "awayruns": strconv.Itoa(score[game.Away]),
		"homeabbrev": c.clubs[game.Home].Abbrev, "homeruns": strconv.Itoa(score[game.Home]),
	}
}

// addScore adds the values of a score to the line, with the score in words.
func (b *lineBuilder) addScore(score [2]int) {
	g := b.scoreValues(score)
	key := "score.leads"
	switch {
	case score == [2]int{}:
		key = "score.none"
	case score[0] == score[1]:
		key = "score.tied"
	}
	maps.Copy(b.shared, g)
	b.shared["scorewords"] = b.phrase(speak, key, g)
}

func countText(c game.Count) string {
	return strconv.Itoa(int(c.Balls)) + "-" + strconv.Itoa(int(c.Strikes))
}

func (b *lineBuilder) addHalfInning(s *game.State) {
	b.shared["half"] = b.phrasebook.word("halves", int(s.Half))
	b.shared["inning"] = b.phrasebook.ordinal(s.Inning)
	b.shared["club"] = b.clubs[s.Batting()].Name
	if !s.Over() && s.Batter() != "" {
		b.shared["batter"] = b.Name(s.Batter())
	}
}

// Start returns the line at the start of a game.
func (c *Commentator) Start(rev uint64, s *game.State) Line {
	d := c.newLine(rev)
	d.add("start", values{
		"away": c.clubs[game.Away].Name, "home": c.clubs[game.Home].Name,
		"awaypitcher": c.fullName(s.Teams[game.Away].Pitcher), "homepitcher": c.fullName(s.Teams[game.Home].Pitcher),
	})
	return d.line()
}

// Awaited returns the line that calls managers by their names: the game waits for their decisions.
func (c *Commentator) Awaited(rev uint64, managers []string) Line {
	d := c.newLine(rev)
	d.add("awaited", values{"managers": c.phrasebook.joinNames(managers)})
	return d.line()
}

// HalfInning returns the line at the start of the half-inning of s: the score, the batter and the automatic runner.
func (c *Commentator) HalfInning(rev uint64, s *game.State) Line {
	d := c.newLine(rev)
	d.addHalfInning(s)
	d.addScore(s.Score)
	if r := s.RunnerOn(game.Second); r.Automatic {
		d.shared["runner"] = d.Name(r.Player)
	}
	if s.Inning == 7 && s.Half == game.Bottom && s.Options.ScheduledInnings() == 9 {
		d.add("stretch", nil)
	}
	d.add("turn", nil)
	return d.line()
}

// Stop returns the line where a game stops after a number of plays that were skipped: the situation.
func (c *Commentator) Stop(rev uint64, s *game.State, skipped int) Line {
	d := c.newLine(rev)
	d.addHalfInning(s)
	d.addScore(s.Score)
	on := 0
	for i, runner := range s.Bases {
		if runner.Player != "" {
			on |= 1 << i
		}
	}
	v := values{"out": c.phrasebook.word("out", s.Outs), "on": c.phrasebook.word("on", on)}
	if skipped > 0 {
		v["plays"] = c.phrasebook.plural("plays", skipped)
	}
	d.add("stop", v)
	return d.line()
}

// HalfTotals counts the half-inning of one side, for [Commentator.HalfSummary]. The zero value is its start.
type HalfTotals struct {
	Runs   int `json:"runs"`
	Hits   int `json:"hits"`
	Errors int `json:"errors"`
	Left   int `json:"left"` // on base; valid after the half-inning
}

// Add returns the totals with a play of the half-inning, which must be legal in s.
func (h HalfTotals) Add(s *game.State, p game.Play) HalfTotals {
	t := s.Tally(p)
	h.Runs += t.Runs
	h.Errors += t.Errors
	if t.HitBases > 0 {
		h.Hits++
	}
	h.Left = -t.Runs - t.Outs
	for _, r := range s.Bases {
		if r.Player != "" {
			h.Left++
		}
	}
	if t.PlateAppearance {
		h.Left++
	}
	return h
}

// HalfSummary returns the line that sums up a side's half-inning.
func (c *Commentator) HalfSummary(rev uint64, side game.Side, h HalfTotals) Line {
	d := c.newLine(rev)
	d.add("summary", values{
		"club": c.clubs[side].Name,
		"runs": c.phrasebook.plural("runs", h.Runs), "hits": c.phrasebook.plural("hits", h.Hits),
		"errors": c.phrasebook.plural("errors", h.Errors), "left": c.phrasebook.plural("left", h.Left),
	})
	return d.line()
}

// End returns the line at the end of a game, with the winning, losing and saving pitchers of the box score.
func (c *Commentator) End(rev uint64, s *game.State, box *game.BoxScore) Line {
	d := c.newLine(rev)
	d.addScore(s.Score)
	switch s.End {
	case game.Playing:
		return Line{}
	case game.Final:
		if s.Inning != s.Options.ScheduledInnings() {
			d.shared["innings"], d.shared["inningswords"] = strconv.Itoa(s.Inning), c.phrasebook.number(s.Inning)
		}
		d.add("final", nil)
	case game.CalledGame:
		d.add("called game", values{"inning": c.phrasebook.ordinal(s.Inning)})
	case game.AwayForfeit, game.HomeForfeit:
		d.add("forfeit", d.scoreValues(s.Result()))
		return d.line()
	}
	if box != nil && box.WinningPitcher != "" && box.LosingPitcher != "" {
		more := values{"winner": c.Name(box.WinningPitcher), "loser": c.Name(box.LosingPitcher)}
		if box.SavingPitcher != "" {
			more["saver"] = c.Name(box.SavingPitcher)
		}
		d.add("decision", more)
	}
	return d.line()
}
