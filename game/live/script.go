package live

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
)

// rules is the version of the rules that new games are played by. A game keeps the version it began with.
const rules = 1

// A resolver draws what comes of a turn, in one version of the rules. A version that has been released is never changed:
// a change of the odds is a new one.
type resolver func(*chance.Simulator, *game.State, chance.Progress, chance.Tactics) (chance.Resolution, error)

// resolverOf returns the resolver of a version; nil for one that this program does not know.
func resolverOf(version int) resolver {
	switch version {
	case 1:
		return (*chance.Simulator).Resolve
	default:
		return nil
	}
}

// A dugout is what decides and draws in one game. It never changes.
type dugout struct {
	table    *chance.Simulator
	resolve  resolver
	managers [2]*bot.Manager
}

func newDugout(o *origin) (*dugout, error) {
	d := &dugout{resolve: resolverOf(o.Rules)}
	if d.resolve == nil {
		return nil, refuse(NewerRules, "the game is played by version %d of the rules, this pressbox knows up to %d", o.Rules, rules)
	}
	ratings := chance.Ratings{}
	for i := range o.Clubs {
		maps.Copy(ratings, o.Clubs[i].Ratings)
	}
	clubs := [2]game.Club{o.Clubs[0].Club, o.Clubs[1].Club}
	d.table = chance.NewSimulator(chance.Seed(o.Seed), clubs, ratings, o.Clubs[game.Home].Park)
	for side := range d.managers {
		d.managers[side] = bot.New(game.Side(side), clubs[side], ratings, d.table)
	}
	return d, nil
}

// A script is what a command does: moves, each applied to a copy of the game, with whatever follows from them. It is
// carried out when the journal has it.
type script struct {
	*dugout
	now  position
	at   time.Time
	by   Person // of the first move
	cid  string
	acts []act
}

// An act is a move and the position after it.
type act struct {
	*move
	after position
}

// newScript begins a command of a person; nobody's is the clock's.
func newScript(d *dugout, p position, by Person, cid string) *script {
	return &script{dugout: d, now: p, at: stamp(time.Now()), by: by, cid: cid}
}

// add makes a move.
func (s *script) add(m move) error {
	m.Rev, m.At, m.By, m.CID = s.now.rev+1, s.at, s.by, s.cid
	next, err := s.now.apply(&m)
	if err != nil {
		if illegal, ok := errors.AsType[*game.IllegalError](err); ok {
			return refuse(IllegalAction, "%s", illegal.Error())
		}
		return err
	}
	s.now, s.by, s.cid = next, Person{}, ""
	s.acts = append(s.acts, act{&m, next})
	return nil
}

// settle does what follows by itself: the bot's moves, the turn once both sides have decided, the end of the game.
func (s *script) settle() error {
	for s.now.status == Active {
		more, err := s.step()
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// step does the next thing that follows; false if the game waits for a person.
func (s *script) step() (more bool, err error) {
	p := &s.now
	switch {
	case p.state.Over():
		return true, s.add(move{Kind: Ended})
	case p.pause != nil, p.bot(game.Away) && p.bot(game.Home):
		return false, nil
	}
	if changed, err := s.botChanges(); changed || err != nil {
		return true, err
	}
	if q := p.question; q != nil {
		if !p.bot(q.Asker) {
			return false, nil
		}
		return true, s.answer(q.Asker, s.managers[q.Asker].AnswerQuestion(&p.state, q.turn()))
	}
	if len(p.awaited()) > 0 {
		return false, nil
	}
	if !p.fielded() { // the bot found nobody (7.03(b))
		return true, s.add(move{Kind: Conceded, Side: p.state.Fielding(), Reason: tooFew})
	}
	return true, s.turn()
}

// botChanges lets the bot replace players, if nobody has decided yet.
func (s *script) botChanges() (changed bool, err error) {
	p := &s.now
	if p.question != nil || p.sealed != [2]*chance.Tactics{} {
		return false, nil
	}
	for side := game.Away; side <= game.Home; side++ {
		if !p.bot(side) {
			continue
		}
		if subs := s.managers[side].Substitutions(&p.state, p.moment); subs != nil {
			return true, s.add(move{Kind: Substituted, Side: side, Subs: subs})
		}
	}
	return false, nil
}

// turn draws what comes of what both sides have decided, the bot here and now.
func (s *script) turn() error {
	p := &s.now
	calls := chance.Tactics{}
	if c := p.sealed[p.state.Batting()]; c != nil {
		calls.Offence = c.Offence
	} else {
		calls.Offence = s.managers[p.state.Batting()].Offence(&p.state, p.moment)
	}
	if c := p.sealed[p.state.Fielding()]; c != nil {
		calls.Defence = c.Defence
	} else {
		calls.Defence = s.managers[p.state.Fielding()].Defence(&p.state, p.moment)
	}
	turn, err := s.resolve(s.table, &p.state, p.moment, calls)
	if err != nil {
		return fmt.Errorf("resolve %+v: %w", calls, err)
	}
	if turn.Question == chance.NoQuestion {
		play := turn.Final(false)
		return s.add(move{Kind: Played, Side: p.state.Batting(), Calls: &calls, Play: &play, Next: &turn.Next})
	}
	q := &question{
		Ask: turn.Question, Asker: turn.Decider, Odds: turn.SuccessChance, Usual: turn.Bold,
		Safe: turn.Final(false), Bold: turn.Final(true), Next: turn.Next, Calls: &calls,
	}
	return s.add(move{Kind: Questioned, Side: turn.Decider, Question: q})
}

// answer answers the question that is open.
func (s *script) answer(side game.Side, bold bool) error {
	if err := s.add(move{Kind: Answered, Side: side, Bold: bold}); err != nil {
		return err
	}
	q := s.now.question
	return s.add(move{Kind: Played, Side: s.now.state.Batting(), Calls: q.Calls, Play: q.play(bold), Next: &q.Next})
}

// byDefault decides for a side whose time is up: as if it had done nothing special.
func (s *script) byDefault(side game.Side) error {
	p := &s.now
	switch {
	case p.question != nil:
		if err := s.add(move{Kind: TimedOut, Side: side}); err != nil {
			return err
		}
		return s.answer(side, s.now.question.Usual)
	case !p.fielded():
		if err := s.add(move{Kind: TimedOut, Side: side}); err != nil {
			return err
		}
		if subs := s.takeField(side); subs != nil {
			return s.add(move{Kind: Substituted, Side: side, Subs: subs})
		}
		return s.add(move{Kind: Conceded, Side: side, Reason: tooFew})
	default:
		return s.add(move{Kind: TimedOut, Side: side, Calls: &chance.Tactics{}})
	}
}

// takeField returns the substitutions with which a side fills every position.
func (s *script) takeField(side game.Side) []game.Substitution {
	return takeField(s.managers[side], &s.now)
}

// takeField returns the substitutions with which the side in the field fills every position: those of the bot.
func takeField(m *bot.Manager, p *position) []game.Substitution {
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
