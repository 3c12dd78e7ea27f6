package live

import (
	"context"

	"pressbox/game"
	"pressbox/game/card"
	"pressbox/game/protocol"
	"pressbox/game/stats"
)

// SeasonLines returns what the players of a team did in a season's finished games; of all teams for "".
func (g *Games) SeasonLines(ctx context.Context, season int, team string) (map[game.PlayerID]*card.Season, error) {
	var all map[game.PlayerID]*card.Season
	err := g.readStatistics(ctx, season,
		func(a *stats.Accumulator) { all = card.Seasons(a.Batting(team), a.Pitching(team)) })
	return all, err
}

// Player returns a player of a game with the card as it is now, and the player's side.
func (g *Games) Player(
	ctx context.Context, viewer protocol.Person, id string, player game.PlayerID,
) (card.Player, protocol.Seat, error) {
	v, err := g.Game(ctx, viewer, id)
	if err != nil {
		return card.Player{}, protocol.Seat{}, err
	}
	for _, side := range game.Sides() {
		for _, p := range v.Rosters.Of(side).Players {
			if p.ID == player {
				return p, *v.Seat(side), nil
			}
		}
	}
	return card.Player{}, protocol.Seat{},
		protocol.Refuse(protocol.UnknownPlayer, "there is no such player in the game")
}

// addSeasons completes the cards of a game's players with their seasons. Without the statistics they have none.
func (m *liveMatch) addSeasons(ctx context.Context, v *protocol.Game) {
	for _, side := range game.Sides() {
		seasons, err := m.games.SeasonLines(ctx, v.Season, v.Seat(side).Team.ID)
		if err != nil {
			if ctx.Err() == nil {
				m.games.config.Log.Error("player statistics unavailable", "game", m.id, "err", err)
			}
			return
		}
		players := v.Rosters.Of(side).Players
		for i := range players {
			players[i].Season = seasons[players[i].ID]
		}
	}
}
