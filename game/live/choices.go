package live

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/game"
	"pressbox/game/chance"
)

// Groups of choices.
const (
	groupOffence      = "offence"
	groupDefence      = "defence"
	groupAnswer       = "answer"
	groupSubstitution = "substitution"
	groupGame         = "game"
)

// A menu lists what the manager of some sides may do.
type menu struct {
	*dugout
	*position
	sides   []game.Side
	hotSeat bool
	all     []Choice
}

// legal returns the decisions that the game waits for from who manages these sides, the default first.
func legal(d *dugout, p *position, sides []game.Side) []Choice {
	m := menu{dugout: d, position: p, sides: sides, hotSeat: len(sides) > 1, all: []Choice{}}
	for _, side := range p.awaited() {
		if !m.manages(side) {
			continue
		}
		switch {
		case p.question != nil:
			m.answers(side)
		case !p.fielded():
			m.fillField(side)
		case side == p.state.Batting():
			m.offence(side)
		default:
			m.defence(side)
		}
	}
	return m.all
}

func (m *menu) manages(side game.Side) bool { return slices.Contains(m.sides, side) }

// add lists a choice of a side.
func (m *menu) add(side game.Side, c Choice) {
	if m.hotSeat {
		c.Side, c.Action.Side = side.String(), side.String()
	}
	m.all = append(m.all, c)
}

func (m *menu) offence(side game.Side) {
	for _, call := range chance.LegalOffence(&m.state) {
		calls := chance.Tactics{Offence: call}
		o := m.table.Odds(&m.state, m.moment, calls)
		c := Choice{
			Action: offenceAction(call, m.decision), Label: offenceLabel(call), Group: groupOffence,
			Odds: map[string]float64{"success": shown(o.Chance)}, Success: o.Goal,
		}
		if call == chance.SwingAway || call == chance.HitAndRun {
			rates(c.Odds, m.table.ExpectedRates(&m.state, m.moment, calls))
		}
		m.add(side, c)
	}
}

func (m *menu) defence(side game.Side) {
	for _, call := range chance.LegalDefence(&m.state, m.moment) {
		c := Choice{
			Action: Action{Verb: doDefence, Decision: m.decision, Defence: call}, Label: defenceLabel(call), Group: groupDefence,
			Odds: map[string]float64{}, Success: "the batter is out",
		}
		r := m.table.ExpectedRates(&m.state, m.moment, chance.Tactics{Defence: call})
		rates(c.Odds, r)
		c.Odds["success"] = shown(r.K + r.Out())
		if call.Pitch == chance.IntentionalWalk {
			c.Odds, c.Success = nil, ""
		}
		m.add(side, c)
	}
}

// rates adds how the batter's turn is likely to end.
func rates(odds map[string]float64, r chance.Rates) {
	odds["hit"] = shown(r.Single + r.Double + r.Triple + r.HR)
	odds["home_run"] = shown(r.HR)
	odds["walk"] = shown(r.BB + r.HBP)
	odds["strikeout"] = shown(r.K)
	odds["out"] = shown(r.K + r.Out())
}

// shown rounds a chance to the hundredth of a per cent; the model is not finer, and people do not read more.
func shown(p float64) float64 { return math.Round(p*1e4) / 1e4 }

// answers lists both answers to a question, what the percentages say first.
func (m *menu) answers(side game.Side) {
	q := m.question
	bold, safe := q.Ask.Labels()
	list := func(is bool, label string) {
		c := Choice{Action: Action{Verb: doAnswer, Decision: m.decision, Bold: &is}, Label: capital(label), Group: groupAnswer}
		if is {
			c.Odds, c.Success = map[string]float64{"success": shown(q.Odds)}, "it succeeds"
		}
		m.add(side, c)
	}
	if q.Usual {
		list(true, bold)
		list(false, safe)
		return
	}
	list(false, safe)
	list(true, bold)
}

// offers returns what else who manages these sides may do.
func offers(d *dugout, p *position, sides []game.Side, gone [2]bool) []Choice {
	m := menu{dugout: d, position: p, sides: sides, hotSeat: len(sides) > 1, all: []Choice{}}
	if p.status != Active || len(sides) == 0 {
		return m.all
	}
	if p.pause == nil && p.question == nil {
		for _, side := range sides {
			if p.sealed[side] != nil && !p.bot(side) && !p.spent(side) {
				m.add(side, Choice{Action: Action{Verb: doUndo, Decision: p.decision}, Label: "Take the call back", Group: groupGame})
			}
		}
		for _, side := range sides {
			if !p.bot(side) {
				m.substitutions(side)
			}
		}
	}
	m.conduct(gone)
	return m.all
}

// conduct lists what concerns the game as such.
func (m *menu) conduct(gone [2]bool) {
	own := m.sides[0]
	switch {
	case m.pause != nil:
		m.add(own, Choice{Action: Action{Verb: doResume}, Label: "Go on", Group: groupGame})
	case !m.spent(own):
		m.add(own, Choice{Action: Action{Verb: doPause}, Label: "Pause the game", Group: groupGame})
	}
	on, off := true, false
	switch other := own.Other(); {
	case m.hotSeat:
	case m.seats[own].taken != "":
		m.add(own, Choice{Action: Action{Verb: doTakeover, Side: own.String(), On: &off}, Label: "Take your side back from the bot", Group: groupGame})
	case m.bot(other):
	case gone[other]:
		club := m.origin.Clubs[other].Name
		m.add(own, Choice{Action: Action{Verb: doTakeover, Side: other.String(), On: &on}, Label: "Let the bot manage " + club, Group: groupGame})
	case m.spent(own):
	default:
		m.add(own, Choice{Action: Action{Verb: doTakeover, Side: own.String(), On: &on}, Label: "Let the bot manage for you", Group: groupGame})
	}
	for _, side := range m.sides {
		m.add(side, Choice{Action: Action{Verb: doConcede}, Label: m.concedeLabel(side), Group: groupGame})
	}
}

func (m *menu) concedeLabel(side game.Side) string {
	if m.hotSeat {
		return "Concede for " + m.origin.Clubs[side].Name
	}
	return "Concede the game"
}

// swing is what a call says that is none.
const swing = "swing"

func offenceAction(o chance.Offence, decision uint64) Action {
	a := Action{Verb: doOffence, Decision: decision, Call: string(o)}
	if o == chance.SwingAway {
		a.Call = swing
	}
	return a
}

func offenceLabel(o chance.Offence) string {
	switch o {
	case chance.SwingAway:
		return "Swing away"
	case chance.Take:
		return "Take the pitch"
	case chance.Sacrifice:
		return "Sacrifice bunt"
	default:
		return capital(string(o))
	}
}

// defenceLabel names what a call changes, in words.
func defenceLabel(d chance.Defence) string {
	var said []string
	if d.Pitch != chance.PitchTo {
		said = append(said, string(d.Pitch))
	}
	switch d.Infield {
	case chance.NormalDepth:
	case chance.InfieldIn:
		said = append(said, "infield in")
	default:
		said = append(said, string(d.Infield))
	}
	if d.Outfield != chance.NormalOutfield {
		said = append(said, "outfield "+string(d.Outfield))
	}
	if d.PlayBehind {
		said = append(said, "play behind the runner")
	}
	if d.GuardLines {
		said = append(said, "guard the lines")
	}
	if len(said) == 0 {
		return "Pitch to him"
	}
	return capital(strings.Join(said, ", "))
}

func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}
