package retro

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"pressbox/game"
)

// A Step is one move of a replayed game: a play, or a substitution if Substitutions is not empty.
type Step struct {
	Line               int // in the file
	Event              string
	Before             game.State
	Play               game.Play
	Substitutions      []game.Substitution
	After              game.State
	ResponsiblePitcher game.PlayerID // charged with the plate appearance
	RuleConflict       error         // the rule that the recorded move breaks; it was applied as ruled
}

// A ReplayResult is a replayed game.
type ReplayResult struct {
	Start, End game.State
	Scorebook  *game.Scorebook
}

// Setup returns the options of the game, and each side's club (all players who appear) and line-up.
func (g *Game) Setup() (game.Options, [2]game.Club, [2]game.Lineup) {
	innings, _ := strconv.Atoi(g.InfoValue("innings"))
	o := game.Options{
		DH:                   g.usesDH(),
		Innings:              innings,
		ExtraInnings:         game.Standard,
		HomeBatsFirst:        g.InfoValue("htbf") == "true",
		NoThreeBatterMinimum: g.year() < 2020,
	}
	if g.usesAutomaticRunner() {
		o.ExtraInnings = game.AutomaticRunner
	}
	var clubs [2]game.Club
	var lineups [2]game.Lineup
	for side, key := range []string{"visteam", "hometeam"} {
		id := g.InfoValue(key)
		clubs[side] = game.Club{ID: id, Abbrev: id, Name: id}
		lineups[side].Order = make([]game.Slot, 9)
	}
	for _, e := range g.Starts {
		addToRoster(&clubs[e.Side], e)
		l := &lineups[e.Side]
		if e.Slot > 0 {
			l.Order[e.Slot-1] = game.Slot{Player: e.Player, Position: e.Position}
		}
		if e.Position == game.Pitcher {
			l.Pitcher = e.Player
		}
	}
	for _, r := range g.Records {
		if r.Substitution != nil {
			addToRoster(&clubs[r.Substitution.Side], *r.Substitution)
		}
	}
	return o, clubs, lineups
}

// usesAutomaticRunner reports whether extra innings begin with a runner, by the info record or by a radj record.
func (g *Game) usesAutomaticRunner() bool {
	return g.InfoValue("tiebreaker") == "2" ||
		slices.ContainsFunc(g.Records,
			func(r Record) bool { return r.Adjustment != nil && r.Adjustment.Kind == "radj" })
}

// usesDH reports whether a line-up has a designated hitter. The info record is less reliable.
func (g *Game) usesDH() bool {
	for _, e := range g.Starts {
		if e.Position == game.DesignatedHitter {
			return true
		}
	}
	return false
}

// year returns the season from the id (ANA202007280), 0 for none.
func (g *Game) year() int {
	if len(g.ID) < 7 {
		return 0
	}
	y, _ := strconv.Atoi(g.ID[3:7])
	return y
}

// addToRoster adds a player, or another position of one, to the club.
func addToRoster(c *game.Club, e LineupEntry) {
	role := game.Role(e.Position.String())
	for i := range c.Players {
		if c.Players[i].ID == e.Player {
			c.Players[i].Positions = append(c.Players[i].Positions, role)
			return
		}
	}
	c.Players = append(c.Players, game.Player{ID: e.Player, Name: e.Name, Positions: []game.Role{role}})
}

// Replay applies all records and calls watch after each play and substitution, NP records included. Earned runs follow
// the record: a run without a mark is earned. A game that was not played out is forfeited if the file says so, else
// called. An error names the line.
func (g *Game) Replay(watch func(*Step, *game.Scorebook)) (*ReplayResult, error) {
	o, clubs, lineups := g.Setup()
	s, err := game.New(o, clubs, lineups)
	if err != nil {
		return nil, fmt.Errorf("game %s: %w", g.ID, err)
	}
	r := &ReplayResult{Start: s, Scorebook: game.NewScorebook(&s, clubs)}
	records := slices.Clone(g.Records)
	for i := range records {
		moveFirst(records[i:], &s)
		step := Step{Line: records[i].Line, Before: s}
		if s, err = step.apply(&records[i], r.Scorebook); err != nil {
			return nil, fmt.Errorf("game %s, line %d: %w", g.ID, step.Line, err)
		}
		if step.Substitutions != nil || step.Play.Kind != game.NoKind {
			watch(&step, r.Scorebook)
		}
	}
	if !s.Over() {
		if s, err = g.endEarly(s); err != nil {
			return nil, fmt.Errorf("game %s: %w", g.ID, err)
		}
		r.Scorebook.RecordStoppage(&s)
	}
	r.Scorebook.ChooseWinner(game.PlayerID(g.InfoValue("wp")))
	r.End = s
	return r, nil
}

// moveFirst reorders the records of a change of pitchers in which one who does not bat goes to the field: files
// name the new pitcher first, whose entry would remove the old one from the game (5.10(d)).
func moveFirst(records []Record, s *game.State) {
	next := records[0].Substitution
	if next == nil || next.Position != game.Pitcher {
		return
	}
	team := &s.Teams[next.Side]
	old := team.Pitcher
	if slices.ContainsFunc(team.Order[:], func(o game.Slot) bool { return o.Player == old }) {
		return
	}
	for i, r := range records[1:] {
		switch sub := r.Substitution; {
		case r.Play != nil && r.Play.Event != "NP":
			return
		case sub == nil || sub.Side != next.Side || sub.Player != old:
		case sub.Position.IsFielder() && sub.Position != game.Pitcher:
			copy(records[1:i+2], records[:i+1])
			records[0] = r
			return
		}
	}
}

// endEarly ends a game that was not played out: by forfeit, else called.
func (g *Game) endEarly(s game.State) (game.State, error) {
	switch g.InfoValue("forfeit") {
	case "V":
		return s.Forfeit(game.Home)
	case "H":
		return s.Forfeit(game.Away)
	default:
		return s.CallGame()
	}
}

func (t *Step) apply(r *Record, b *game.Scorebook) (game.State, error) {
	var err error
	t.After = t.Before
	switch {
	case r.Play != nil:
		if err = t.applyPlay(r.Play); err == nil {
			t.ResponsiblePitcher = b.ResponsiblePitcher(&t.Before, &t.Play)
			b.RecordPlay(&t.Before, &t.Play, &t.After)
		}
	case r.Substitution != nil:
		if err = t.applySubstitution(r.Substitution); err == nil {
			b.RecordSubstitutions(&t.Before, t.Substitutions, &t.After)
		}
	case r.Adjustment != nil:
		err = checkAdjustment(&t.Before, r.Adjustment)
	}
	return t.After, err
}

func (t *Step) applyPlay(l *PlayRecord) error {
	s := &t.Before
	t.Event = l.Event
	if s.Inning != l.Inning || s.Batting() != l.Side {
		return fmt.Errorf("the record is in inning %d with %s at bat, the game in the %s of %d",
			l.Inning, l.Side, s.Half, s.Inning)
	}
	p, err := Parse(s, l.Event)
	if err != nil {
		return err
	}
	p.Count, p.Pitches = l.Count, l.Pitches
	if l.Batter != s.Batter() && p.Kind != game.NoPlay {
		p.Batter = l.Batter
		p.Flags |= game.OutOfTurn
	}
	for i := range p.Advances {
		if r := &p.Advances[i]; r.To == game.HomePlate && r.Earned == game.ByRule {
			r.Earned = game.Yes
		}
	}
	t.After, err = s.Apply(p)
	if broken := (*game.IllegalError)(nil); errors.As(err, &broken) && broken.IsJudgment() {
		t.RuleConflict = err
		p.Flags |= game.AsRuled
		t.After, err = s.Apply(p)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", l.Event, err)
	}
	t.Play = p
	return nil
}

func (t *Step) applySubstitution(e *LineupEntry) error {
	sub := game.Substitution{Side: e.Side, Player: e.Player, Slot: e.Slot, Position: e.Position}
	var err error
	t.After, err = t.Before.Substitute(sub)
	var broken *game.IllegalError
	if errors.As(err, &broken) &&
		(broken.Rule == "5.10(f)" || broken.Rule == "5.10(g)" || broken.Rule == "5.11(a)(2)") {
		sub.Injured = true // the record has no reason, but only an injury allows it
		t.After, err = t.Before.Substitute(sub)
	}
	if errors.As(err, &broken) && broken.Rule == "5.10(d)" {
		t.RuleConflict = err
		sub.AsRuled = true
		t.After, err = t.Before.Substitute(sub)
	}
	t.Substitutions = []game.Substitution{sub}
	if err != nil {
		return fmt.Errorf("%s for place %d at %s: %w", e.Player, e.Slot, e.Position, err)
	}
	return nil
}

// checkAdjustment checks that the runner of a radj record is the automatic runner by rule.
func checkAdjustment(s *game.State, a *Adjustment) error {
	if a.Kind != "radj" {
		return nil
	}
	if on := s.RunnerOn(game.Second); a.Args[1] != "2" || on.Player != game.PlayerID(a.Args[0]) {
		return fmt.Errorf("radj puts %s on base %s; by rule %s is on second", a.Args[0], a.Args[1], on.Player)
	}
	return nil
}
