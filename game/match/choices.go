package match

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/game"
	"pressbox/game/bot"
	"pressbox/game/chance"
	"pressbox/game/protocol"
)

// Groups of choices.
const (
	groupOffense      = "offense"
	groupDefense      = "defense"
	groupAnswer       = "answer"
	groupSubstitution = "substitution"
	groupGame         = "game"
)

// choices collects what the manager of sides may do.
type choices struct {
	*engine
	*Position
	sides   []game.Side
	hotSeat bool
	turn    *bot.Turn
	all     []protocol.Choice
}

func (m *Match) choices(sides []game.Side) choices {
	return choices{
		engine: m.engine, Position: &m.Position, sides: sides, hotSeat: len(sides) > 1, all: []protocol.Choice{},
	}
}

// decisionChoices holds the choices of one decision, which are made for the first viewer who receives them. They follow
// from the state alone: a call that is submitted does not change them.
type decisionChoices struct {
	decision       uint64
	hotSeat        bool
	turn           *bot.Turn
	legal, changes [2][]protocol.Choice // by side; nil: not made yet
}

// made returns the choices of the open decision.
func (m *Match) made(hotSeat bool) *decisionChoices {
	if m.open == nil || m.open.decision != m.Decision || m.open.hotSeat != hotSeat {
		m.open = &decisionChoices{
			decision: m.Decision, hotSeat: hotSeat, turn: bot.NewTurn(m.engine.table, &m.state, m.moment),
		}
	}
	return m.open
}

// Legal returns the decisions that the match waits for from the manager of sides, the default first.
func (m *Match) Legal(sides []game.Side) []protocol.Choice {
	c := m.choices(sides)
	made := m.made(c.hotSeat)
	for _, side := range m.Awaited() {
		if !slices.Contains(sides, side) {
			continue
		}
		if made.legal[side] == nil {
			own := m.choices(sides)
			own.turn = made.turn
			own.decisions(side)
			made.legal[side] = own.all
		}
		c.all = append(c.all, made.legal[side]...)
	}
	return c.all
}

// decisions adds the choices of a side that has yet to decide.
func (c *choices) decisions(side game.Side) {
	switch {
	case c.question != nil:
		c.answers(side)
	case !c.fielded():
		c.fillField(side)
	case side == c.state.Batting():
		c.offense(side)
	default:
		c.defense(side)
	}
}

// changes returns the substitutions that a side is offered.
func (m *Match) changes(side game.Side, sides []game.Side) []protocol.Choice {
	c := m.choices(sides)
	made := m.made(c.hotSeat)
	if made.changes[side] == nil {
		c.substitutions(side)
		c.valueChanges(side)
		made.changes[side] = c.all
	}
	return made.changes[side]
}

// addGameAction adds an action about the game as a whole.
func (c *choices) addGameAction(side game.Side, label string, a protocol.Action) {
	c.add(side, protocol.Choice{Action: a, Label: label, Group: groupGame})
}

// add adds a choice for a side.
func (c *choices) add(side game.Side, choice protocol.Choice) {
	if c.hotSeat {
		choice.Side, choice.Action.Side = side.String(), side.String()
	}
	c.all = append(c.all, choice)
}

func (c *choices) offense(side game.Side) {
	worths := c.worthOffense(side)
	for i, call := range chance.LegalOffense(&c.state) {
		calls := chance.Tactics{Offense: call}
		o := c.table.Odds(&c.state, c.moment, calls)
		choice := protocol.Choice{
			Action: offenseAction(call, c.Decision), Label: offenseLabel(call), Group: groupOffense,
			Odds: map[string]float64{"success": rounded(o.Chance)}, Success: o.Goal, Worth: worths[i],
		}
		if call == chance.SwingAway || call == chance.HitAndRun {
			addRates(choice.Odds, c.table.ExpectedRates(&c.state, c.moment, calls))
		}
		c.add(side, choice)
	}
}

func (c *choices) defense(side game.Side) {
	worths := c.worthDefense(side)
	for i, call := range chance.LegalDefense(&c.state, c.moment) {
		choice := protocol.Choice{
			Action: protocol.Action{Verb: protocol.DoDefense, Decision: c.Decision, Defense: call},
			Label:  defenseLabel(call), Group: groupDefense,
			Odds: map[string]float64{}, Success: batterOut, Worth: worths[i],
		}
		addOuts(choice.Odds, c.table.ExpectedRates(&c.state, c.moment, chance.Tactics{Defense: call}))
		if call.Pitch == chance.IntentionalWalk {
			choice.Odds, choice.Success = nil, ""
		}
		c.add(side, choice)
	}
}

// batterOut is the success of the side in the field.
const batterOut = "the batter is out"

// addOuts adds the probabilities of how the plate appearance ends, with an out as success.
func addOuts(odds map[string]float64, r chance.Rates) {
	addRates(odds, r)
	odds["success"] = rounded(r.K + r.Out())
}

// addRates adds the probabilities of how the plate appearance ends.
func addRates(odds map[string]float64, r chance.Rates) {
	odds["hit"] = rounded(r.Single + r.Double + r.Triple + r.HR)
	odds["home_run"] = rounded(r.HR)
	odds["walk"] = rounded(r.BB + r.HBP)
	odds["strikeout"] = rounded(r.K)
	odds["out"] = rounded(r.K + r.Out())
}

// rounded rounds a probability to 0.0001: the model is not more accurate.
func rounded(p float64) float64 { return math.Round(p*1e4) / 1e4 }

// answers adds both answers to the open question, the one that the percentages favor first.
func (c *choices) answers(side game.Side) {
	q := c.question
	bold, safe := q.Ask.Labels()
	worths := c.worthAnswers(side)
	add := func(isBold bool, label string) {
		a := protocol.Action{Verb: protocol.DoAnswer, Decision: c.Decision, Bold: &isBold}
		choice := protocol.Choice{Action: a, Label: capitalize(label), Group: groupAnswer, Worth: worths[0]}
		worths = worths[1:]
		if isBold {
			choice.Odds, choice.Success = map[string]float64{"success": rounded(q.Odds)}, "it succeeds"
		}
		c.add(side, choice)
	}
	if q.Usual {
		add(true, bold)
		add(false, safe)
		return
	}
	add(false, safe)
	add(true, bold)
}

// Offers returns what else the manager of sides may do. absent holds the absence of both managers.
func (m *Match) Offers(sides []game.Side, absent [2]Absence) []protocol.Choice {
	c, p := m.choices(sides), &m.Position
	if p.Status != protocol.Active || len(sides) == 0 {
		return c.all
	}
	if p.Pause == nil && p.question == nil {
		for _, side := range sides {
			if p.sealed[side] != nil && !p.BotDecides(side) && !p.delayed(side) {
				c.addGameAction(side, "Take the call back",
					protocol.Action{Verb: protocol.DoUndo, Decision: p.Decision})
			}
		}
		for _, side := range sides {
			if !p.BotDecides(side) {
				c.all = append(c.all, m.changes(side, sides)...)
			}
		}
	}
	c.gameActions(absent)
	return c.all
}

// gameActions adds the actions that are about the game as a whole.
func (c *choices) gameActions(absent [2]Absence) {
	own := c.sides[0]
	switch {
	case c.Pause != nil:
		c.addGameAction(own, "Resume", protocol.Action{Verb: protocol.DoResume})
	case !c.delayed(own):
		c.addGameAction(own, "Pause the game", protocol.Action{Verb: protocol.DoPause})
	}
	on, off := true, false
	switch other := own.Other(); {
	case c.hotSeat:
	case c.seats[own].replaced != "":
		c.addGameAction(own, "Take your side back from the bot",
			protocol.Action{Verb: protocol.DoTakeover, Side: own.String(), On: &off})
	case c.BotDecides(other):
	case absent[other] != Present && !c.Origin.Options.ByCorrespondence():
		club := c.Origin.Clubs[other].Name
		c.addGameAction(own, "Let the bot manage "+club,
			protocol.Action{Verb: protocol.DoTakeover, Side: other.String(), On: &on})
	case c.delayed(own):
	default:
		c.addGameAction(own, "Let the bot manage for you",
			protocol.Action{Verb: protocol.DoTakeover, Side: own.String(), On: &on})
	}
	c.skipActions()
	if other := own.Other(); !c.hotSeat && c.leftBy(other, absent[other]) {
		c.addGameAction(own, "End the game: "+c.Origin.Clubs[other].Name+" has left",
			protocol.Action{Verb: protocol.DoEnd})
	}
	if c.claimable(own, absent) {
		c.addGameAction(own, "Claim the game: the time of "+c.Origin.Clubs[own.Other()].Name+" is over",
			protocol.Action{Verb: protocol.DoClaim})
	}
	for _, side := range c.sides {
		c.addGameAction(side, c.concedeLabel(side), protocol.Action{Verb: protocol.DoConcede})
	}
}

// skipActions adds the ways to leave turns to the usual calls, with the default margin: of both sides in hot seat.
func (c *choices) skipActions() {
	own := c.sides[0]
	if c.Pause != nil || c.BotDecides(own) || c.delayed(own) {
		return
	}
	add := func(label string, a protocol.Action) {
		a.Verb = protocol.DoSkipUntil
		c.addGameAction(own, label, a)
	}
	if off := false; c.skips[own].Skip != nil {
		add("Decide every turn", protocol.Action{On: &off})
	}
	for _, until := range [...]protocol.SkipUntil{protocol.UntilLeverage, protocol.UntilInning, protocol.UntilNever} {
		add(until.Label(), protocol.Action{Skip: &protocol.Skip{Until: until, Margin: protocol.DefaultMargin}})
	}
}

func (c *choices) concedeLabel(side game.Side) string {
	if c.hotSeat {
		return "Concede for " + c.Origin.Clubs[side].Name
	}
	return "Concede the game"
}

// swing is the empty call in an action.
const swing = "swing"

func offenseAction(o chance.Offense, decision uint64) protocol.Action {
	a := protocol.Action{Verb: protocol.DoOffense, Decision: decision, Call: string(o)}
	if o == chance.SwingAway {
		a.Call = swing
	}
	return a
}

func offenseLabel(o chance.Offense) string {
	switch o {
	case chance.SwingAway:
		return "Swing away"
	case chance.Take:
		return "Take the pitch"
	case chance.Sacrifice:
		return "Sacrifice bunt"
	default:
		return capitalize(string(o))
	}
}

// defenseLabel returns what a call changes, in words.
func defenseLabel(d chance.Defense) string {
	var parts []string
	if d.Pitch != chance.PitchTo {
		parts = append(parts, string(d.Pitch))
	}
	switch d.Infield {
	case chance.NormalDepth:
	case chance.InfieldIn:
		parts = append(parts, "infield in")
	default:
		parts = append(parts, string(d.Infield))
	}
	if d.Outfield != chance.NormalOutfield {
		parts = append(parts, "outfield "+string(d.Outfield))
	}
	if d.PlayBehind {
		parts = append(parts, "play behind the runner")
	}
	if d.GuardLines {
		parts = append(parts, "guard the lines")
	}
	if len(parts) == 0 {
		return "Pitch to the batter"
	}
	return capitalize(strings.Join(parts, ", "))
}

func capitalize(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}
