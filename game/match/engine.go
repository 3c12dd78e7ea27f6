package match

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
	"pressbox/game/odds"
	"pressbox/game/protocol"
)

// Rules is the version of the rules that matches use.
const Rules = chance.Rules

// An engine draws outcomes and decides for the bot in one match. It never changes.
type engine struct {
	table    *chance.Simulator
	odds     *odds.Model
	managers [2]*bot.Manager
	coaches  [2]*bot.Manager // who advise people, whatever the level of the bot
}

func newEngine(o *Origin) (*engine, error) {
	if err := checkVersion("rules", o.Rules, Rules); err != nil {
		return nil, err
	}
	ratings := chance.Ratings{}
	for i := range o.Clubs {
		maps.Copy(ratings, o.Clubs[i].Ratings)
	}
	clubs := o.clubs()
	e := &engine{odds: odds.For(o.Options.Rules()), table: chance.NewSimulator(chance.Setup{
		Seed: chance.Seed(o.Seed), Clubs: clubs, Ratings: ratings, Park: o.Clubs[game.Home].Park, Recent: o.Recent,
	})}
	for side := range e.managers {
		manage := func(level bot.Level) *bot.Manager {
			return bot.New(game.Side(side), clubs[side], ratings, e.table, level) //nolint:gosec // 0 and 1
		}
		e.managers[side] = manage(bot.Level(cmp.Or(o.Options.BotLevel, protocol.MaxBotLevel)))
		e.coaches[side] = manage(bot.Expert)
	}
	return e, nil
}

// suggest returns the bot's line-up for a side.
func suggest(o *Origin, side game.Side) (game.Lineup, error) {
	c := &o.Clubs[side]
	l, err := bot.SuggestLineup(c.Club, c.Ratings, o.Recent, o.Options.DH)
	if wrong, ok := errors.AsType[*game.LineupError](err); ok {
		return l, &protocol.Error{Code: protocol.Invalid, Detail: wrong.Error(), Errors: wrong.Violations}
	} else if err != nil {
		return l, fmt.Errorf("suggest a line-up: %w", err)
	}
	return l, nil
}

// takeField returns the substitutions by which the bot fills every fielding position; nil if there are none.
func takeField(m *bot.Manager, p *Position) []game.Substitution {
	next := *p
	var all []game.Substitution
	for !next.fielded() {
		subs := m.Substitutions(&next.state, next.moment)
		state, err := next.state.Substitute(subs...)
		if len(subs) == 0 || err != nil {
			return nil
		}
		all, next.state = append(all, subs...), state
	}
	return all
}
