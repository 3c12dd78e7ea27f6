package bot

import (
	"slices"

	"pressbox/game/chance"
)

// AgainstNothing returns the best calls of both sides against one that calls nothing special.
func (turn *Turn) AgainstNothing() (chance.Offence, chance.Defence) {
	t := *turn.table(Expert)
	t.offenceMix, t.defenceMix = make([]float64, len(t.offence)), make([]float64, len(t.defence))
	t.offenceHabit, t.defenceHabit = slices.Clone(t.offenceMix), slices.Clone(t.defenceMix)
	t.offenceMix[0], t.defenceMix[0] = 1, 1
	row, _ := t.bestOffence()
	column, _ := t.bestDefence()
	return t.offence[row], t.defence[column]
}

// WinProbability returns the chance of the side at bat with a pair of calls, by the exact distribution of the turn.
func (turn *Turn) WinProbability(o chance.Offence, d chance.Defence) float64 {
	t := turn.table(Expert)
	return t.value(slices.Index(t.offence, o), slices.Index(t.defence, d)).WinProbability
}
