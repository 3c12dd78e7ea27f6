package bot

import (
	"math"

	"pressbox/game"
	"pressbox/game/chance"
)

// An OffenseValue is what a call of the side at bat is worth.
type OffenseValue struct {
	Call chance.Offense
	Value
}

// A DefenseValue is what a call of the side in the field is worth.
type DefenseValue struct {
	Call chance.Defense
	Value
}

// A Turn is a position in which both sides make a call. What an [Expert] and a [Regular] expect of both is
// computed once, when it is first asked for. It must not be used by several goroutines at once.
type Turn struct {
	sim      *chance.Simulator
	state    game.State
	progress chance.Progress
	tables   [Expert + 1]*callTable // by level; nil: not computed yet
}

// NewTurn returns the turn that follows in a state.
func NewTurn(sim *chance.Simulator, s *game.State, progress chance.Progress) *Turn {
	return &Turn{sim: sim, state: *s, progress: progress}
}

// table returns the calls with those that a manager of a level makes, Regular or Expert.
func (turn *Turn) table(level Level) *callTable {
	if turn.tables[level] == nil {
		turn.tables[level] = newCallTable(turn, level)
	}
	return turn.tables[level]
}

// OffenseValues returns what each legal call of the side at bat is worth to it, in the order of [chance.LegalOffense].
func (turn *Turn) OffenseValues() []OffenseValue {
	t := turn.table(Expert)
	all := make([]OffenseValue, len(t.offense))
	for i, call := range t.offense {
		all[i] = OffenseValue{
			call, t.expected(func(j int) (Value, float64) { return t.value(i, j), t.defenseMix[j] }, len(t.defense)),
		}
	}
	return all
}

// DefenseValues returns what each legal call of the side in the field is worth to it, in the order of
// [chance.LegalDefense].
func (turn *Turn) DefenseValues() []DefenseValue {
	t := turn.table(Expert)
	all := make([]DefenseValue, len(t.defense))
	for j, call := range t.defense {
		v := t.expected(func(i int) (Value, float64) { return t.value(i, j), t.offenseMix[i] }, len(t.offense))
		all[j] = DefenseValue{call, v.forSide(turn.state.Fielding(), turn.state.Batting())}
	}
	return all
}

// A callTable holds the calls that both sides may make in a turn, what their pairs are worth to the side at bat,
// and how often each is expected: so often that no other call pays more, and none can be exploited. It draws
// nothing; see [Manager.draw].
type callTable struct {
	*Turn

	level   Level
	horizon horizon

	offense                []chance.Offense
	defense                []chance.Defense
	values                 []Value // by offense and defense, NaN if it is not computed
	offenseHabit           []float64
	defenseHabit           []float64
	offenseMix, defenseMix []float64 // shares, which sum to one
}

func newCallTable(turn *Turn, level Level) *callTable {
	batters := 0
	if level == Expert {
		batters = lookAhead
	}
	s, progress := &turn.state, turn.progress
	t := &callTable{
		Turn: turn, level: level, offense: chance.LegalOffense(s), defense: chance.LegalDefense(s, progress),
	}
	t.horizon.look(turn.sim, s, progress, batters)
	t.values = make([]Value, len(t.offense)*len(t.defense))
	for i := range t.values {
		t.values[i].Runs = math.NaN()
	}
	shares := make([]float64, 2*(len(t.offense)+len(t.defense)))
	t.offenseMix, shares = shares[:len(t.offense)], shares[len(t.offense):]
	t.defenseMix, shares = shares[:len(t.defense)], shares[len(t.defense):]
	t.offenseHabit, t.defenseHabit = shares[:len(t.offense)], shares[len(t.offense):]
	t.setHabits()
	if level == Expert {
		t.solve()
	} else {
		t.answerUsual()
	}
	return t
}

// value returns what a pair of calls is worth to the side at bat.
func (t *callTable) value(i, j int) Value {
	v := &t.values[i*len(t.defense)+j]
	if math.IsNaN(v.Runs) {
		o := t.sim.Outlook(&t.state, t.progress, chance.Tactics{Offense: t.offense[i], Defense: t.defense[j]})
		*v = t.horizon.turn(&o)
	}
	return *v
}

// utility returns what a pair of calls is worth with the habits of managers.
func (t *callTable) utility(i, j int) float64 {
	v := t.value(i, j)
	if t.level == Regular {
		v.WinProbability = regularRun * v.Runs
	}
	return v.utility() + t.offenseHabit[i] - t.defenseHabit[j]
}

// expected returns the mean of n values with weights.
func (t *callTable) expected(of func(i int) (Value, float64), n int) Value {
	var sum Value
	for i := range n {
		if v, share := of(i); share > 0 {
			sum.Runs += share * v.Runs
			sum.WinProbability += share * v.WinProbability
		}
	}
	return sum
}

// regularRun is the worth of a run to a Regular manager, whatever the score.
const regularRun = .1
