package game

// Apply returns the state after a play. A play that breaks a rule gives an [*IllegalError] and s unchanged.
func (s State) Apply(p Play) (State, error) {
	if err := s.check(&p); err != nil {
		return s, err
	}
	s.moveRunners(&p)
	s.endTurn(&p)
	if s.isLastHalf() && s.Lead() > 0 {
		s.End = Final
	} else if s.Options.Mercy == MercyOn && s.isDecided() {
		s.End = CalledGame
	} else if s.Outs == 3 {
		s.endHalfInning()
	}
	return s, nil
}

// Leads at which the mercy rule calls a game: at any time, and at the end of an inning, or before a bottom half,
// from the third-last scheduled inning on, the seventh of nine.
const (
	mercyLead     = 20
	mercyLeadLate = 10
)

// isDecided reports whether the mercy rule calls the game after a play.
func (s *State) isDecided() bool {
	lead := s.Lead()
	return max(lead, -lead) >= mercyLead ||
		s.Outs == 3 && s.Inning >= s.Options.ScheduledInnings()-2 &&
			(-lead >= mercyLeadLate || s.Half == Bottom && lead >= mercyLeadLate)
}

func (s *State) moveRunners(p *Play) {
	var bases [3]Runner
	for from := AtBat; from <= Third; from++ {
		switch to := s.destination(p, from); to {
		case AtBat:
		case HomePlate:
			s.Score[s.Batting()]++
		default:
			bases[to-1] = s.runnerFrom(p, from)
		}
	}
	s.Bases = bases
	s.Outs = min(s.Outs+p.Outs.Count(), 3)
}

func (s *State) endTurn(p *Play) {
	s.Count = p.countAfter()
	if !p.Kind.EndsPlateAppearance() {
		return
	}
	s.Count = Count{}
	bats, fields := &s.Teams[s.Batting()], &s.Teams[s.Fielding()]
	at := bats.NextBatter
	if p.Flags.Has(OutOfTurn) {
		at = bats.orderIndex(p.Batter)
	}
	bats.DHBatted = bats.DHBatted || at == bats.DH-1
	bats.NextBatter = (at + 1) % 9
	for s.baseOf(bats.Order[bats.NextBatter].Player) >= 0 {
		// A runner on base, after batting out of turn, is skipped (6.03(b)(7)).
		bats.NextBatter = (bats.NextBatter + 1) % 9
	}
	fields.BattersFaced = min(fields.BattersFaced+1, 3)
}

// endHalfInning ends a half-inning, and the game if that decides it (7.01(g)).
func (s *State) endHalfInning() {
	s.Teams[s.Fielding()].BattersFaced = 3 // the minimum of 5.10(g) ends with the inning
	if s.Inning >= s.Options.ScheduledInnings() {
		lead := s.Lead()
		if s.Half == Top && lead < 0 || s.Half == Bottom && lead != 0 {
			s.End = Final
			return
		}
	}
	s.Outs, s.Count, s.Bases = 0, Count{}, [3]Runner{}
	if s.Half == Bottom {
		s.Inning++
	}
	s.Half = 1 - s.Half
	if s.Inning > s.Options.ScheduledInnings() && s.Options.ExtraInnings != Standard {
		t := &s.Teams[s.Batting()]
		s.Bases[Second-1] = Runner{Player: t.Order[(t.NextBatter+8)%9].Player, Automatic: true}
	}
}

// runnerFrom returns the runner who starts the play at a base, the batter at AtBat.
func (s *State) runnerFrom(p *Play, b Base) Runner {
	switch {
	case b != AtBat:
		return s.Bases[b-1]
	case p.Batter != "":
		return Runner{Player: p.Batter}
	default:
		return Runner{Player: s.Batter()}
	}
}

// OutIndex returns the index in Outs of the player who started at b, -1 for none.
func (p *Play) OutIndex(b Base) int {
	for i := range p.Outs {
		if p.Outs[i].Kind != NotOut && p.Outs[i].Runner == b {
			return i
		}
	}
	return -1
}

func (p *Play) runCount() int {
	n := 0
	for _, r := range p.Advances {
		if r.To == HomePlate {
			n++
		}
	}
	return n
}
