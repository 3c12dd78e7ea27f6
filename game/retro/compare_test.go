package retro_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pressbox/game"
	"pressbox/game/retro"
)

// comparePlay compares a play with its reference row: the situation before it, and its result.
func (s *season) comparePlay(g *retro.Game, step *retro.Step, want []string) {
	st, p := &step.Before, &step.Play
	tally := st.Tally(*p)
	batter := p.Batter
	if batter == "" {
		batter = st.Batter()
	}
	same := func(column, got string) {
		if w := want[s.playRows.column[column]]; w != got && !isCoding(column, got, w, p) {
			s.addDifference(column, "%s line %d %s: %s, want %s", g.ID, step.Line, step.Event, got, w)
		}
	}
	number := func(column string, got int) { same(column, strconv.Itoa(got)) }
	flag := func(column string, got bool) { same(column, map[bool]string{false: "F", true: "T"}[got]) }
	same("EVENT_TX", step.Event)
	number("INN_CT", st.Inning)
	number("BAT_HOME_ID", int(st.Batting()))
	number("OUTS_CT", st.Outs)
	number("AWAY_SCORE_CT", st.Score[game.Away])
	number("HOME_SCORE_CT", st.Score[game.Home])
	same("BAT_ID", string(batter))
	same("PIT_ID", string(st.Pitcher()))
	same("RESP_PIT_ID", string(step.ResponsiblePitcher))
	number("EVENT_CD", int(p.Kind))
	number("EVENT_OUTS_CT", tally.Outs)
	number("EVENT_RUNS_CT", tally.Runs)
	number("RBI_CT", tally.RBI)
	number("H_CD", tally.HitBases)
	number("ERR_CT", tally.Errors)
	flag("AB_FL", tally.AtBat)
	flag("DP_FL", tally.DoublePlay)
	flag("SH_FL", p.Flags.Has(game.SacrificeHit))
	flag("SF_FL", p.Flags.Has(game.SacrificeFly))
	same("BASE1_RUN_ID", string(st.RunnerOn(game.First).Player))
	same("BASE2_RUN_ID", string(st.RunnerOn(game.Second).Player))
	same("BASE3_RUN_ID", string(st.RunnerOn(game.Third).Player))
	for b, column := range []string{"BAT_DEST_ID", "RUN1_DEST_ID", "RUN2_DEST_ID", "RUN3_DEST_ID"} {
		number(column, destination(st, p, game.Base(b)))
	}
	order := st.Teams[st.Batting()].Order
	place := slices.IndexFunc(order[:], func(o game.Slot) bool { return o.Player == batter })
	number("BAT_LINEUP_ID", place+1)
	number("BAT_FLD_CD", int(order[max(place, 0)].Position))
}

// isCoding reports whether a difference is one of the answers' coding: they call a dropped throw, 6E3, an out, and
// give a pinch hitter or runner who bats again in the inning no position.
func isCoding(column, got, want string, p *game.Play) bool {
	return column == "EVENT_CD" && got == "18" && want == "2" && p.Errors[0].Assists != "" ||
		column == "BAT_FLD_CD" && (got == "11" || got == "12") && want == "0"
}

// destination returns where a player ended, in the reference's numbers: 0 out, 4 an earned run, 5 unearned, 6
// unearned for the team only.
func destination(s *game.State, p *game.Play, from game.Base) int {
	for _, o := range p.Outs {
		if o.Kind != game.NotOut && o.Runner == from {
			return 0
		}
	}
	r := p.Advances[from]
	switch {
	case from != game.AtBat && s.RunnerOn(from).Player == "":
		return 0
	case r.To == game.AtBat:
		return int(from)
	case r.To == game.HomePlate && r.Earned == game.No:
		return 5
	case r.To == game.HomePlate && r.Earned == game.TeamOnly:
		return 6
	}
	return int(r.To)
}

// compareGame compares the box score.
func (s *season) compareGame(g *retro.Game, r *retro.ReplayResult, want []string) {
	box := r.Scorebook.BoxScore(&r.End)
	same := func(class, column, got string) {
		if w := want[s.gameRows.column[column]]; w != got {
			s.addDifference(class, "%s %s: %s, want %s", g.ID, column, got, w)
		}
	}
	number := func(column string, got int) { same(column, column, strconv.Itoa(got)) }
	number("AWAY_SCORE_CT", r.End.Score[game.Away])
	number("HOME_SCORE_CT", r.End.Score[game.Home])
	number("INN_CT", box.Innings)
	outs := 0
	for side, prefix := range []string{"AWAY_", "HOME_"} {
		t := &box.Teams[side]
		earned, doubled := 0, 0
		for _, l := range t.Pitching {
			outs += l.Outs
			earned += l.EarnedRuns
		}
		for _, l := range t.Batting {
			doubled += l.GroundedIntoDoublePlays
		}
		same("LINE_TX", prefix+"LINE_TX", lineText(t.LineScore))
		number(prefix+"HITS_CT", t.Hits)
		number(prefix+"ERR_CT", t.Errors)
		number(prefix+"LOB_CT", t.LeftOnBase)
		number(prefix+"ER_CT", earned)
		number(prefix+"DP_CT", t.DoublePlays)
		number(prefix+"GDP_CT", doubled)
		s.compareEarned(g, t)
	}
	number("OUTS_CT", outs)
	same("LOSE_PIT_ID", "LOSE_PIT_ID", string(box.LosingPitcher))
	same("SAVE_PIT_ID", "SAVE_PIT_ID", string(box.SavingPitcher))
	same("WIN_PIT_ID", "WIN_PIT_ID", string(box.WinningPitcher))
	if !box.WinnerByJudgment {
		return
	}
	r.Scorebook.ChooseWinner("") // compare the scorebook's own choice
	s.count("wins by judgment", 1)
	if own := r.Scorebook.BoxScore(&r.End).WinningPitcher; own != box.WinningPitcher {
		s.addDifference("WIN_PIT_ID by judgment", "%s: %s, want %s", g.ID, own, box.WinningPitcher)
	}
}

// compareEarned compares each pitcher's earned runs with the official record.
func (s *season) compareEarned(g *retro.Game, t *game.TeamBoxScore) {
	for _, e := range g.EarnedRuns {
		for _, l := range t.Pitching {
			if l.Player == e.Pitcher && l.EarnedRuns != e.Runs {
				s.addDifference("pitcher's ER", "%s %s: %d, want %d", g.ID, l.Player, l.EarnedRuns, e.Runs)
			}
		}
	}
}

func lineText(line []int) string {
	var b strings.Builder
	for _, n := range line {
		if n > 9 {
			fmt.Fprintf(&b, "(%d)", n)
		} else {
			fmt.Fprintf(&b, "%d", n)
		}
	}
	return b.String()
}

// recordByRule records a step without the record's rulings on earned runs.
func recordByRule(b *game.Scorebook, step *retro.Step) {
	if step.Substitutions != nil {
		b.RecordSubstitutions(&step.Before, step.Substitutions, &step.After)
		return
	}
	p := step.Play
	for i := range p.Advances {
		p.Advances[i].Earned = game.ByRule
	}
	b.RecordPlay(&step.Before, &p, &step.After)
}

// compareRulings compares the earned runs of reconstructed innings with the scorer's rulings.
func (s *season) compareRulings(g *retro.Game, own *game.Scorebook, end *retro.ReplayResult) {
	if end.End.End == game.CalledGame {
		own.RecordStoppage(&end.End)
	}
	scorer := map[game.EarnedRunRuling]bool{}
	for _, r := range end.Scorebook.EarnedRunRulings() {
		scorer[r] = true
	}
	for _, r := range own.EarnedRunRulings() {
		s.count("runs", 1)
		if !scorer[r] {
			s.addDifference("ER by reconstruction", "%s play %d, from %s: %d", g.ID, r.Play, r.From, r.Earned)
		}
	}
}
