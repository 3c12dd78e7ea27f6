package bot

import (
	"slices"

	"pressbox/game/chance"
)

// AgainstNothing returns the best calls of both sides against one that calls nothing special.
func (turn *Turn) AgainstNothing() (chance.Offense, chance.Defense) {
	t := *turn.table(Expert)
	t.offenseMix, t.defenseMix = make([]float64, len(t.offense)), make([]float64, len(t.defense))
	t.offenseHabit, t.defenseHabit = slices.Clone(t.offenseMix), slices.Clone(t.defenseMix)
	t.offenseMix[0], t.defenseMix[0] = 1, 1
	row, _ := t.bestOffense()
	column, _ := t.bestDefense()
	return t.offense[row], t.defense[column]
}

// WinProbability returns the chance of the side at bat with a pair of calls, by the exact distribution of the turn.
func (turn *Turn) WinProbability(o chance.Offense, d chance.Defense) float64 {
	t := turn.table(Expert)
	return t.value(slices.Index(t.offense, o), slices.Index(t.defense, d)).WinProbability
}

// Shares returns how often an expert makes the calls that both sides make, the usual ones first.
func (turn *Turn) Shares() (offense, defense []float64) {
	t := turn.table(Expert)
	return t.offenseMix, t.defenseMix
}
