package match

import (
	"math"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
	"pressbox/game/protocol"
)

// minCoachGain is the win probability by which a choice must beat the usual one to be the coach's pick.
const minCoachGain = .001

// worthOffense returns what each call of the side at bat is worth, in the order of [chance.LegalOffense].
func (c *choices) worthOffense(side game.Side) []*protocol.Worth {
	var values []bot.Value
	for _, v := range c.turn.OffenseValues() {
		values = append(values, v.Value)
	}
	return c.rate(side, values)
}

// worthDefense returns what each call of the side in the field is worth, in the order of [chance.LegalDefense].
func (c *choices) worthDefense(side game.Side) []*protocol.Worth {
	var values []bot.Value
	for _, v := range c.turn.DefenseValues() {
		values = append(values, v.Value)
	}
	return c.rate(side, values)
}

// worthAnswers returns what both answers to the open question are worth, in the order of the choices; nil values if the
// question does not follow from the position, as in a journal that was changed.
func (c *choices) worthAnswers(side game.Side) []*protocol.Worth {
	if values, ok := c.answerValues(c.Position, side); ok {
		return c.rate(side, values[:])
	}
	return make([]*protocol.Worth, 2)
}

// answerValues returns what both answers to the open question of a position are worth to a side, the usual one first;
// ok is false if the question does not follow from the position.
func (e *engine) answerValues(p *Position, side game.Side) (values [2]bot.Value, ok bool) {
	q := p.question
	if q.Calls == nil {
		return values, false
	}
	turn, err := e.table.Resolve(&p.state, p.moment, *q.Calls)
	if err != nil || turn.Question != q.Ask {
		return values, false
	}
	risk := e.table.Risk(&p.state, p.moment, *q.Calls, &turn)
	r := e.weigh(&p.state, &risk)
	values = [2]bot.Value{r.safe.of(side, p.state.Batting()), r.bold(q.Odds).of(side, p.state.Batting())}
	if q.Usual {
		values[0], values[1] = values[1], values[0]
	}
	return values, true
}

// of returns a worth as the value to a side, given the side at bat.
func (w worth) of(side, batting game.Side) bot.Value {
	if side != batting {
		w.win = 1 - w.win
	}
	return bot.Value{Runs: w.runs, WinProbability: w.win}
}

// rate returns values to a side as viewers see them, and marks the coach's pick. The usual choice is the first.
func (c *choices) rate(side game.Side, values []bot.Value) []*protocol.Worth {
	all := make([]*protocol.Worth, len(values))
	best := 0
	for i, v := range values {
		all[i] = c.worth(side, v, values[0])
		chance := v.WinProbability
		//nolint:gosec // best is an index of values
		if chance > values[best].WinProbability && chance > values[0].WinProbability+minCoachGain {
			best = i
		}
	}
	all[best].Coach = true
	return all
}

// worth returns a value to a side as viewers see it: the runs that it gains over the usual choice, and the win
// probability. The precision is that of the model.
func (c *choices) worth(side game.Side, v, usual bot.Value) *protocol.Worth {
	gain := v.Runs - usual.Runs
	if side != c.state.Batting() {
		gain = -gain
	}
	return &protocol.Worth{Runs: math.Round(gain*1e3)/1e3 + 0, WinProbability: rounded(v.WinProbability)}
}

// valueChanges adds to the offered substitutions of single players what they are worth and the odds of the turn
// with them, and marks the one that the coach would make now.
func (c *choices) valueChanges(side game.Side) {
	manager := c.coaches[side]
	changes := manager.Changes(&c.state, c.moment)
	usual, err := changes.Value()
	if err != nil {
		return
	}
	pick := manager.Substitutions(&c.state, c.moment)
	for i := range c.all {
		choice := &c.all[i]
		subs := substitutions(side, choice.Action.Subs)
		if len(subs) != 1 {
			continue
		}
		c.addChangeOdds(choice, subs[0])
		v, err := changes.Value(subs...)
		if err != nil {
			continue
		}
		choice.Worth = c.worth(side, v, usual)
		choice.Coach = len(pick) == 1 && pick[0] == subs[0]
	}
}

// valueFillings adds what the ways to fill the field are worth. The first is the coach's.
func (c *choices) valueFillings(side game.Side) {
	var usual bot.Value
	for i := range c.all {
		v, err := c.coaches[side].SubstitutionValue(&c.state, c.moment, substitutions(side, c.all[i].Action.Subs)...)
		if err != nil || len(c.all[i].Action.Subs) == 0 {
			continue
		}
		if i == 0 {
			usual = v
		}
		c.all[i].Worth = c.worth(side, v, usual)
		c.all[i].Coach = i == 0
	}
}

// addChangeOdds adds the odds of the turn with a substitute: of a hitter, that the batter reaches base; of a
// runner, that the next base is stolen, if that is possible; of others, that the batter is out.
func (c *choices) addChangeOdds(choice *protocol.Choice, sub game.Substitution) {
	after, err := c.state.Substitute(sub)
	if err != nil {
		return
	}
	calls := chance.Tactics{}
	if sub.Position == game.PinchRunner {
		calls.Offense = stealOf(&after, sub.Player)
	}
	o := c.table.Odds(&after, c.moment, calls)
	if o.Goal == "" || sub.Position == game.PinchRunner && calls.Offense == chance.SwingAway {
		return // a position is not filled, or the runner cannot steal
	}
	choice.Odds, choice.Success = map[string]float64{"success": rounded(o.Chance)}, o.Goal
	switch {
	case sub.Position == game.PinchRunner:
	case sub.Side == c.state.Batting():
		addRates(choice.Odds, c.table.ExpectedRates(&after, c.moment, calls))
	default:
		choice.Success = batterOut
		addOuts(choice.Odds, c.table.ExpectedRates(&after, c.moment, calls))
	}
}

// stealOf returns the steal of a runner's next base; SwingAway if it is occupied.
func stealOf(s *game.State, runner game.PlayerID) chance.Offense {
	for i, steal := range [...]chance.Offense{chance.StealSecond, chance.StealThird, chance.StealHome} {
		if s.Bases[i].Player == runner && (chance.Tactics{Offense: steal}).Check(s, chance.Progress{}) == nil {
			return steal
		}
	}
	return chance.SwingAway
}

// substitutions returns the substitutions of an action of a side.
func substitutions(side game.Side, subs []protocol.Sub) []game.Substitution {
	all := make([]game.Substitution, len(subs))
	for i, sub := range subs {
		all[i] = game.Substitution{Side: side, Player: sub.Player, Slot: sub.Slot, Position: sub.Position}
	}
	return all
}
