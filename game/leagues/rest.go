package leagues

import (
	"pressbox/game"
	"pressbox/game/card"
	"pressbox/game/chance"
)

// Rest returns the season of a league or a series, and a function that sets a player's rest days and fatigue to
// those before the league's next games.
func (l *Leagues) Rest(id string) (season int, set func(*card.Player), err error) {
	league, err := l.find("", id)
	if err != nil {
		return 0, nil, err
	}
	return league.Season, league.rest, nil
}

// rest sets a player's rest days and fatigue to those before the games of the present day; only those who pitch
// are ever tired.
func (l *League) rest(p *card.Player) {
	if !p.CanPitch() {
		return
	}
	club := game.Club{Players: []game.Player{p.Player.Player}}
	sim := chance.NewSimulator(chance.Setup{
		Clubs: [2]game.Club{club}, Ratings: chance.Ratings{p.ID: p.Rating}, Recent: l.Work,
	})
	p.Form = card.FormOf(&game.TeamBoxScore{}, p.ID, sim.Spent(&game.State{}, chance.Progress{}, p.ID))
	p.RestDays = l.Work.RestDays(p.ID)
}
