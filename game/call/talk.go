package call

import (
	"maps"
	"strconv"

	"pressbox/game"
)

// scoreGaps are the gaps about a score: who leads, how many each has.
func (c *Commentator) scoreGaps(score [2]int) gaps {
	leader := game.Away
	if score[game.Home] > score[game.Away] {
		leader = game.Home
	}
	return gaps{
		"leader": c.clubs[leader].Name, "trailer": c.clubs[leader.Other()].Name,
		"hi": c.book.runs(score[leader]), "lo": c.book.runs(score[leader.Other()]),
		"awayabbrev": c.clubs[game.Away].Abbrev, "awayruns": strconv.Itoa(score[game.Away]),
		"homeabbrev": c.clubs[game.Home].Abbrev, "homeruns": strconv.Itoa(score[game.Home]),
	}
}

// score adds the gaps about a score to a line, with the whole of it in words.
func (d *draft) score(score [2]int) {
	g := d.scoreGaps(score)
	key := "score.leads"
	switch {
	case score == [2]int{}:
		key = "score.none"
	case score[0] == score[1]:
		key = "score.tied"
	}
	maps.Copy(d.gaps, g)
	d.gaps["scorewords"] = d.choose(speak, key, g)
}

func countText(c game.Count) string {
	return strconv.Itoa(int(c.Balls)) + "-" + strconv.Itoa(int(c.Strikes))
}

// when adds the half-inning to a line.
func (d *draft) when(s *game.State) {
	d.gaps["half"] = d.book.word("halves", int(s.Half))
	d.gaps["inning"] = d.book.ordinal(s.Inning)
	d.gaps["club"] = d.clubs[s.Batting()].Name
	if !s.Over() && s.Batter() != "" {
		d.gaps["batter"] = d.Name(s.Batter())
	}
}

// Start calls the beginning of a game.
func (c *Commentator) Start(rev uint64, s *game.State) Line {
	d := c.draft(rev)
	d.add("start", gaps{
		"away": c.clubs[game.Away].Name, "home": c.clubs[game.Home].Name,
		"awaypitcher": c.fullName(s.Teams[game.Away].Pitcher), "homepitcher": c.fullName(s.Teams[game.Home].Pitcher),
	})
	return d.line()
}

// HalfInning calls the beginning of the half-inning that s stands at: score, who is up, and the automatic runner if there is one.
func (c *Commentator) HalfInning(rev uint64, s *game.State) Line {
	d := c.draft(rev)
	d.when(s)
	d.score(s.Score)
	if r := s.RunnerOn(game.Second); r.Automatic {
		d.gaps["runner"] = d.Name(r.Player)
	}
	if s.Inning == 7 && s.Half == game.Bottom && s.Options.ScheduledInnings() == 9 {
		d.add("stretch", nil)
	}
	d.add("turn", nil)
	return d.line()
}

// A HalfTotals adds up the half-inning of one side, for [Commentator.HalfSummary]. The zero value is its start.
type HalfTotals struct {
	Runs   int `json:"runs"`
	Hits   int `json:"hits"`
	Errors int `json:"errors"`
	Left   int `json:"left"` // on base; known once the half-inning is over
}

// Add returns the half-inning with a play that is legal in s and belongs to it.
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

// HalfSummary calls what a side did in its half-inning.
func (c *Commentator) HalfSummary(rev uint64, side game.Side, h HalfTotals) Line {
	d := c.draft(rev)
	d.add("summary", gaps{
		"club": c.clubs[side].Name,
		"runs": c.book.counted("runs", h.Runs), "hits": c.book.counted("hits", h.Hits),
		"errors": c.book.counted("errors", h.Errors), "left": c.book.counted("left", h.Left),
	})
	return d.line()
}

// End calls the end of a game that is over, with the pitchers of decision as far as the box score names them.
func (c *Commentator) End(rev uint64, s *game.State, box *game.BoxScore) Line {
	d := c.draft(rev)
	d.score(s.Score)
	switch s.End {
	case game.Playing:
		return Line{}
	case game.Final:
		if s.Inning != s.Options.ScheduledInnings() {
			d.gaps["innings"], d.gaps["inningswords"] = strconv.Itoa(s.Inning), c.book.number(s.Inning)
		}
		d.add("final", nil)
	case game.CalledGame:
		d.add("called game", gaps{"inning": c.book.ordinal(s.Inning)})
	case game.AwayForfeit, game.HomeForfeit:
		d.add("forfeit", d.scoreGaps(s.Result()))
		return d.line()
	}
	if box != nil && box.WinningPitcher != "" && box.LosingPitcher != "" {
		more := gaps{"winner": c.Name(box.WinningPitcher), "loser": c.Name(box.LosingPitcher)}
		if box.SavingPitcher != "" {
			more["saver"] = c.Name(box.SavingPitcher)
		}
		d.add("decision", more)
	}
	return d.line()
}

// Count tells balls and strikes of the batter who is due.
func (c *Commentator) Count(s *game.State) Line {
	words := c.book.number(int(s.Count.Balls)) + " " + c.book.word("and", 0) + " " + c.book.number(int(s.Count.Strikes))
	return c.ask("ask count", gaps{"count": countText(s.Count), "countwords": words})
}

// Outs tells how many are out.
func (c *Commentator) Outs(s *game.State) Line { return c.ask("ask outs", gaps{"outs": c.outs(s)}) }

// Bases tells which bases are held.
func (c *Commentator) Bases(s *game.State) Line { return c.ask("ask bases", gaps{"bases": c.bases(s)}) }

// Score tells the score.
func (c *Commentator) Score(s *game.State) Line {
	d := c.draft(0)
	d.score(s.Score)
	d.add("ask score", nil)
	return d.line()
}

// Situation tells the half-inning, the outs, the bases and who is up.
func (c *Commentator) Situation(s *game.State) Line {
	d := c.draft(0)
	d.when(s)
	d.add("ask situation", gaps{"outs": c.outs(s), "bases": c.bases(s)})
	return d.line()
}

func (c *Commentator) ask(key string, g gaps) Line {
	d := c.draft(0)
	d.add(key, g)
	return d.line()
}

func (c *Commentator) outs(s *game.State) string { return c.book.word("outs", s.Outs) }

func (c *Commentator) bases(s *game.State) string {
	held := 0
	for i, r := range s.Bases {
		if r.Player != "" {
			held |= 1 << i
		}
	}
	return c.book.word("on."+strconv.Itoa(held), 0)
}
