package live

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"pressbox/game"
	"pressbox/game/call"
	"pressbox/game/chance"
	"pressbox/game/odds"
	"pressbox/game/retro"
)

// A history is what a game's moves look like: to spectators, to managers, in words and in the scorer's book. It is
// derived from the moves alone, so that a game that was loaded has the same history, byte for byte.
type history struct {
	id       string
	caller   *call.Commentator // nil before the game is made
	odds     *odds.Model
	moves    []*move
	events   []told             // by revision, from 1
	commands map[command]uint64 // revision of each
	hash     string             // of the state now; "" before the start

	// Since the start:
	book *game.Scorebook
	card *retro.Scorecard
	half call.HalfTotals
	win  WinProb
}

// A command is whose it was and the id he gave it.
type command struct{ person, cid string }

// Told is an event as it is told: to everybody, and to the manager of each side.
type told struct {
	public   *Message
	own      [2]*Message
	decision uint64 // that was open after it
	speak    string // for the loudspeaker
	scoring  bool   // worth saying when only scoring is announced
}

// to returns what somebody who manages these sides is told.
func (t *told) to(sides []game.Side) *Message {
	for _, side := range sides {
		if t.own[side] != nil {
			return t.own[side]
		}
	}
	return t.public
}

// newHistory returns an empty history. book holds the words, tables the win probabilities.
func newHistory(id string, words *call.Phrasebook, o *origin, table *odds.Model) *history {
	clubs := [2]game.Club{o.Clubs[0].Club, o.Clubs[1].Club}
	return &history{
		id: id, caller: call.New(words, clubs, id), odds: table, commands: map[command]uint64{},
		win: WinProb{Game: id, Points: []WinPoint{}},
	}
}

// enter notes a move that led from before to after.
func (h *history) enter(before *position, a *act) {
	m, after := a.move, &a.after
	if m.CID != "" {
		h.commands[command{m.By.ID, m.CID}] = m.Rev
	}
	t := told{decision: after.decision}
	h.moves = append(h.moves, m)
	h.book = score(h.book, before, a)
	e := &Event{Kind: m.Kind, At: m.At, Manager: m.By.Name, Text: []string{}}
	switch m.Kind {
	case Played:
		h.play(e, &t, before, a)
	case Created, Joined, LineupSubmitted, Started, Ended, Conceded, RematchCreated:
		h.milestone(e, &t, a)
	default:
		h.aside(e, &t, before, a)
	}
	if after.status != Pending {
		if after.state.End != before.state.End || m.Kind == Played || m.Kind == Substituted || m.Kind == Started {
			h.hash = hash(&after.state)
		}
		e.Scoreboard, e.Hash = scoreboard(&after.state), h.hash
	}
	event := &Message{Type: "event", Game: h.id, Revision: m.Rev, Data: e}
	switch m.Kind {
	case Sealed, Unsealed:
		t.public, t.own[m.Side] = &Message{Type: "skip", Game: h.id, Revision: m.Rev}, event
	case LineupSubmitted:
		own := *e
		own.Lineup = m.Lineup
		t.public, t.own[m.Side] = event, &Message{Type: "event", Game: h.id, Revision: m.Rev, Data: &own}
	default:
		t.public = event
	}
	h.events = append(h.events, t)
}

// score has the official scorer note a move; the start opens his book.
func score(b *game.Scorebook, before *position, a *act) *game.Scorebook {
	switch a.Kind {
	case Started:
		b = game.NewScorebook(&a.after.state, a.after.clubs())
	case Played:
		b.RecordPlay(&before.state, a.Play, &a.after.state)
	case Substituted:
		b.RecordSubstitutions(&before.state, a.Subs, &a.after.state)
	case Conceded:
		b.RecordStoppage(&a.after.state)
	default:
	}
	return b
}

// play notes a play: in the scorer's book, on the card, in words.
func (h *history) play(e *Event, t *told, before *position, a *act) {
	play, was, is := a.Play, &before.state, &a.after.state
	side := was.Batting()
	e.Side, e.Play, e.Calls = &side, play, a.Calls
	if text, err := retro.Format(was, *play); err == nil {
		e.Notation = text
	}
	runs := was.Tally(*play).Runs
	h.half = h.half.Add(was, *play)
	h.say(e, t, h.caller.Play(a.Rev, was, play, is))
	if is.Half != was.Half || is.Over() {
		if !is.Over() {
			h.say(e, t, h.caller.HalfSummary(a.Rev, side, h.half))
			h.say(e, t, h.caller.HalfInning(a.Rev, is))
		}
		h.half = call.HalfTotals{}
	}
	t.scoring = runs > 0
	h.card.RecordPlay(was, *play)
	win := h.odds.HomeWin(is)
	e.HomeWin = &win
	last := h.win.Start
	if n := len(h.win.Points); n > 0 {
		last = h.win.Points[n-1].Home
	}
	h.win.Points = append(h.win.Points, WinPoint{a.Rev, was.Inning, was.Half, win, win - last})
}

// say adds a line to an event.
func (h *history) say(e *Event, t *told, l call.Line) {
	if l.Screen != "" {
		e.Text = append(e.Text, l.Screen)
	}
	t.speak = strings.TrimSpace(t.speak + " " + l.Speak)
}

// milestone notes what happens to a game as a whole.
func (h *history) milestone(e *Event, t *told, a *act) {
	m, p := a.move, &a.after
	line := func(format string, args ...any) { e.Text = append(e.Text, fmt.Sprintf(format, args...)) }
	club := p.origin.Clubs[m.Side].Name
	switch m.Kind {
	case Created:
		line("%s at %s.", p.origin.Clubs[game.Away].Name, p.origin.Clubs[game.Home].Name)
	case Joined:
		e.Side = &m.Side
		line("%s manages %s.", m.By.Name, club)
	case LineupSubmitted:
		e.Side = &m.Side
		line("The line-up of %s is in.", club)
	case Started:
		e.Lineups = &BySide[game.Lineup]{Home: *p.seats[game.Home].lineup, Away: *p.seats[game.Away].lineup}
		h.card = retro.NewScorecard(cardID(p, m.Number), &p.state, p.clubs())
		h.win.Start = h.odds.HomeWin(&p.state)
		h.say(e, t, h.caller.Start(m.Rev, &p.state))
		t.scoring = true
	case Conceded:
		e.Side = &m.Side
		if m.Reason == tooFew {
			line("%s cannot field nine players.", club)
		} else {
			line("%s concedes.", club)
		}
	case Ended:
		box := h.book.BoxScore(&p.state)
		e.Result, e.Seed = p.result, p.origin.Seed.String()
		h.say(e, t, h.caller.End(m.Rev, &p.state, &box))
		t.scoring = true
	default:
		e.Rematch = m.Game
		line("There is a rematch.")
	}
}

// aside notes what happens between plays.
func (h *history) aside(e *Event, t *told, before *position, a *act) {
	m := a.move
	e.Side = &m.Side
	club := a.after.origin.Clubs[m.Side].Name
	line := func(format string, args ...any) { e.Text = append(e.Text, fmt.Sprintf(format, args...)) }
	switch m.Kind {
	case Substituted:
		e.Subs = m.Subs
		h.card.RecordSubstitutions(&before.state, m.Subs)
		h.say(e, t, h.caller.Substitutions(m.Rev, &before.state, m.Subs))
	case Sealed:
		e.Call = sealedAction(before, m.Side, m.Calls)
	case Questioned:
		e.Question = asked(&a.after)
		line("%s", e.Question.Text)
	case Answered:
		e.Bold = &m.Bold
		bold, safe := before.question.Ask.Labels()
		if m.Bold {
			safe = bold
		}
		line("%s: %s.", club, safe)
	case TimedOut:
		line("The time of %s is up.", club)
	case Paused:
		line("%s stops the game.", m.By.Name)
	case Resumed:
		line("The game goes on.")
	case BotTookOver:
		e.Reason = m.Reason
		line("The bot manages %s.", club)
	case SideReturned:
		line("%s manages %s again.", a.after.seats[m.Side].manager.Name, club)
	default:
	}
}

// asked returns the question that is open as it is put to people.
func asked(p *position) *QuestionView {
	q := p.question
	ball := q.play(q.Usual).Ball
	text := capital(string(q.Ask)) + "?"
	if in := ballWords(ball); in != "" {
		text = in + ". " + text
	}
	return &QuestionView{ID: p.decision, Asker: q.Asker, Text: text}
}

// ballWords says how the ball left the bat and to whom: "Fly ball to center field"; "" if that is not known.
func ballWords(b game.BattedBall) string {
	contact := map[game.Contact]string{
		game.GroundBall: "Ground ball", game.FlyBall: "Fly ball", game.LineDrive: "Line drive", game.PopUp: "Pop-up",
		game.BuntGround: "Bunt", game.BuntPopUp: "Bunt in the air", game.BuntLineDrive: "Bunt in the air",
	}[b.Contact]
	if contact == "" || b.Location == "" || b.Location[0] < '1' || b.Location[0] > '9' {
		return ""
	}
	return contact + " to " + [...]string{
		"the pitcher", "the catcher", "first base", "second base", "third base", "shortstop", "left field", "center field", "right field",
	}[b.Location[0]-'1']
}

// hash returns the hex SHA-256 of a state's canonical form.
func hash(s *game.State) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // a State is plain data
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// scoreboard returns what a scoreboard shows.
func scoreboard(s *game.State) *Scoreboard {
	n := &Scoreboard{
		Inning: s.Inning, Half: s.Half, Outs: s.Outs, Count: s.Count, Score: Score{Home: s.Score[game.Home], Away: s.Score[game.Away]},
		Batter: s.Batter(), Pitcher: s.Pitcher(),
	}
	for i := range s.Bases {
		n.Bases[i] = s.Bases[i].Player
	}
	return n
}

// cardID returns the game's id on a score card, of Retrosheet's form: home team, date, and which game of that day it is.
func cardID(p *position, number int) string {
	letters := func(r rune) rune {
		if r < 'A' || r > 'Z' {
			return -1
		}
		return r
	}
	team := strings.Map(letters, strings.ToUpper(p.origin.Clubs[game.Home].Abbrev)) + "XXX"
	return fmt.Sprintf("%.3s%s%d", team, p.started.Format("20060102"), number)
}

// sealedAction returns a call as the action that made it.
func sealedAction(p *position, side game.Side, c *chance.Tactics) *Action {
	if side == p.state.Batting() {
		a := offenceAction(c.Offence, p.decision)
		return &a
	}
	return &Action{Verb: doDefence, Decision: p.decision, Defence: c.Defence}
}
