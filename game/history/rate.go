package history

import (
	"math"

	"pressbox/game/chance"
)

// prior is the number of average plate appearances that are added to what a player did: with few of their own, a
// player is rated near the average; a regular of a short season moves by a fifth of a standard error.
const prior = 15

func (c *counts) rate(rated map[*player]*chance.Rating) {
	var pitchers []*player
	var batters []*player
	var mean results
	for p := range rated {
		if p.pitches() {
			pitchers = append(pitchers, p)
		}
		if p.bats() {
			batters = append(batters, p)
			mean.plus(&p.batting)
		}
	}
	average := smoothed(&c.all, chance.LeagueRates())
	for _, p := range pitchers {
		r := rated[p]
		r.Pitching = smoothed(&p.pitching, average)
		r.Stamina = p.stamina()
	}
	for _, p := range batters {
		// The odds ratio compares both sides with the league that was measured, whose rates the season has moved
		// away from. What a batter does against the season's pitchers comes out if only one side carries the
		// difference.
		rated[p].Batting = relativeTo(average, smoothed(&p.batting, smoothed(&mean, average)))
	}
	standardize(batters, func(p *player) ratio { return ratio{p.steals.n, p.batting.onFirst()} }, 1,
		func(p *player, z float64) { rated[p].Speed = z })
	standardize(batters, func(p *player) ratio { return p.errors }, -1,
		func(p *player, z float64) { rated[p].Hands = z })
	standardize(batters, func(p *player) ratio { return p.outfieldAssists }, 1,
		func(p *player, z float64) { rated[p].Arm = z })
	standardize(batters, func(p *player) ratio { return p.caught }, 1, func(p *player, z float64) { rated[p].Arm = z })
	standardize(pitchers, func(p *player) ratio { return ratio{p.held.n, p.pitching.onFirst()} }, -1,
		func(p *player, z float64) { rated[p].Hold = z })
}

func shares(counts chance.Rates, n float64) chance.Rates {
	for _, x := range rates(&counts) {
		*x /= max(n, 1)
	}
	return counts
}

// smoothed returns the shares of what happened and of prior average plate appearances.
func smoothed(r *results, average chance.Rates) chance.Rates {
	sum := r.Rates
	for i, x := range rates(&sum) {
		*x += prior * *rates(&average)[i]
	}
	return shares(sum, r.n+prior)
}

// relativeTo returns the rates that, by the odds ratio against the measured league, make a batter have these rates
// against a pitcher with the season's average ones.
func relativeTo(average, batter chance.Rates) chance.Rates {
	league := chance.LeagueRates()
	out := batter.Out() * league.Out() / average.Out()
	sum := out
	for i, x := range rates(&batter) {
		if mean := *rates(&average)[i]; mean > 0 {
			*x *= *rates(&league)[i] / mean
		}
		sum += *x
	}
	for _, x := range rates(&batter) {
		*x /= sum
	}
	return batter
}

// standardize sets a skill of the players from a share: in standard deviations from the average of those who had
// chances, each moved toward it as if by an average number of average chances, at most 2.5.
func standardize(players []*player, of func(*player) ratio, sign float64, set func(*player, float64)) {
	var total ratio
	var with []*player
	for _, p := range players {
		if r := of(p); r.of > 0 {
			total.n, total.of = total.n+r.n, total.of+r.of
			with = append(with, p)
		}
	}
	if len(with) < 2 || total.n == 0 {
		return
	}
	mean, typical := total.n/total.of, total.of/float64(len(with))
	value := func(p *player) float64 {
		r := of(p)
		return (r.n + typical*mean) / (r.of + typical)
	}
	variance := 0.
	for _, p := range with {
		variance += (value(p) - mean) * (value(p) - mean) / float64(len(with))
	}
	for _, p := range with {
		if variance > 0 {
			set(p, max(-2.5, min(2.5, sign*(value(p)-mean)/math.Sqrt(variance))))
		}
	}
}

// stamina returns the batters that a pitcher faced in an outing, as a starter if they were one.
func (p *player) stamina() int {
	if p.isStarter() {
		return clamp(p.startersBatters/max(p.starts, 1), 12, 32)
	}
	return clamp((int(p.pitching.n)-p.startersBatters)/max(p.outings-p.starts, 1), 3, 12)
}

func clamp(n, low, high int) int { return max(low, min(high, n)) }
