package bot

import (
	"pressbox/game"
	"pressbox/game/chance"
)

// AnswerQuestion reports whether to take the bold choice after contact. Whether to send the lead runner is decided
// by what both choices are worth; what the defense does, and what beginners do, by the percentages.
func (m *Manager) AnswerQuestion(s *game.State, turn *chance.Resolution) bool {
	if m.level == Beginner || turn.Question != chance.SendRunner {
		return turn.Bold
	}
	after, err := s.Apply(turn.Final(false))
	if err != nil || after.Over() || after.Half != s.Half {
		return turn.Bold
	}
	scored := after.Score[s.Batting()] - s.Score[s.Batting()]
	r := risk{at: chance.BaseOut(&after), runs: scored, safe: turn.SuccessChance}
	var h horizon
	return r.pays(h.look(m.sim, s, turn.Next, m.batters()))
}

// A risk is the choice to send the lead runner from a position after a turn.
type risk struct {
	at   int     // base-out state
	runs int     // scored in the turn
	safe float64 // chance of the runner
}

func (r risk) pays(h *horizon) bool {
	lead := leadRunner(r.at)
	if lead == 0 {
		return true
	}
	won, scored := r.at-3<<(lead-1), 1
	out := won + 1
	if lead < 3 {
		won, scored = won+3<<lead, 0
	}
	if r.at%3 == 2 {
		out = sideOut
	}
	success, failure, held := h.of(1, won, r.runs+scored), h.of(1, out, r.runs), h.of(1, r.at, r.runs)
	return r.safe*success.utility()+(1-r.safe)*failure.utility() > held.utility()
}

// batters returns how many batters the manager looks ahead.
func (m *Manager) batters() int {
	if m.level == Expert {
		return lookAhead
	}
	return 0
}

// leadRunner returns the base of the lead runner, 0 if there is none.
func leadRunner(at int) int {
	for base := 3; base > 0; base-- {
		if at/3&(1<<(base-1)) != 0 {
			return base
		}
	}
	return 0
}
