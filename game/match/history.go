package match

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"pressbox/game"
	"pressbox/game/call"
	"pressbox/game/chance"
	"pressbox/game/odds"
	"pressbox/game/protocol"
	"pressbox/game/retro"
)

// A history holds what the moves of a match look like: to spectators, to managers, in words and in the scorebook. It
// depends on the moves alone: a match that was loaded has the same history, byte for byte.
type history struct {
	id       string
	caller   *call.Commentator
	odds     *odds.Model
	moves    []*move
	events   []Rendered         // by revision, from 1
	commands map[command]uint64 // by command, its first revision
	hash     string             // of the present state; "" before the start

	// From the start on:
	book *game.Scorebook
	card *retro.Scorecard
	half call.HalfTotals
	win  protocol.WinProbability
	lead *protocol.GoAhead // nil while the score is tied

	skipped int // plays in a row that were skipped
}

// A command identifies a [Command] for deduplication: who sent it, and its id.
type command struct{ person, id string }

// A Rendered is a move as viewers see it.
type Rendered struct {
	Public   *protocol.Message
	own      [2]*protocol.Message // for a side's manager, if it differs
	decision uint64               // open after the move
	spoken   string               // for the loudspeaker
	scoring  bool                 // spoken when only scoring plays are announced
}

// For returns the move as the manager of sides sees it; a spectator has none.
func (r *Rendered) For(sides []game.Side) *protocol.Message {
	for _, side := range sides {
		if r.own[side] != nil {
			return r.own[side]
		}
	}
	return r.Public
}

// newHistory returns an empty history.
func newHistory(id string, words *call.Phrasebook, o *Origin, table *odds.Model) *history {
	return &history{
		id: id, caller: call.New(words, o.clubs(), id), odds: table, commands: map[command]uint64{},
		win: protocol.WinProbability{Game: id, Points: []protocol.WinProbabilityPoint{}},
	}
}

// enter adds a step that was made from the position before.
func (h *history) enter(before *Position, s *step) {
	m, after := s.move, &s.after
	if m.CommandID != "" {
		h.commands[command{m.By.ID, m.CommandID}] = m.Revision
	}
	r := Rendered{decision: after.Decision}
	h.book = score(h.book, before, s)
	e := &protocol.Event{Kind: m.Kind, At: m.At, Manager: m.By.Name, Text: []string{}}
	switch m.Kind {
	case protocol.Played:
		h.renderPlay(e, &r, before, s)
	case protocol.Created, protocol.Joined, protocol.LineupSubmitted, protocol.Started, protocol.Ended,
		protocol.Conceded, protocol.RematchCreated:
		h.renderMilestone(e, &r, s)
	default:
		h.renderBetweenPlays(e, &r, before, s)
	}
	if after.Status != protocol.Pending {
		if after.state.End != before.state.End || m.Kind == protocol.Played || m.Kind == protocol.Substituted ||
			m.Kind == protocol.Started {
			h.hash = hash(&after.state)
		}
		e.Scoreboard, e.Hash = scoreboard(&after.state), h.hash
	}
	event := &protocol.Message{Type: "event", Game: h.id, Revision: m.Revision, Data: e}
	switch m.Kind {
	case protocol.Sealed, protocol.Unsealed:
		r.Public, r.own[m.Side] = &protocol.Message{Type: "skip", Game: h.id, Revision: m.Revision}, event
	case protocol.LineupSubmitted, protocol.Stopped:
		own := *e
		own.Lineup, own.Reason = m.Lineup, m.Reason
		r.Public, r.own[m.Side] = event, &protocol.Message{Type: "event", Game: h.id, Revision: m.Revision, Data: &own}
	default:
		r.Public = event
	}
	if i := m.Revision - 1; i < uint64(len(h.moves)) {
		h.moves[i], h.events[i] = m, r
		return
	}
	h.moves, h.events = append(h.moves, m), append(h.events, r)
}

// score records a step in the scorebook; the start creates it.
func score(b *game.Scorebook, before *Position, s *step) *game.Scorebook {
	switch s.Kind {
	case protocol.Started:
		b = game.NewScorebook(&s.after.state, s.after.Origin.clubs())
	case protocol.Played:
		b.RecordPlay(&before.state, s.Play, &s.after.state)
	case protocol.Substituted:
		b.RecordSubstitutions(&before.state, s.Subs, &s.after.state)
	case protocol.Conceded:
		b.RecordStoppage(&s.after.state)
	default:
	}
	return b
}

// renderPlay renders a play and adds it to the scorecard and the win probabilities.
func (h *history) renderPlay(e *protocol.Event, r *Rendered, before *Position, s *step) {
	play, was, is := s.Play, &before.state, &s.after.state
	side := was.Batting()
	e.Side, e.Play, e.Calls = &side, play, (*protocol.Calls)(s.Calls)
	if text, err := retro.Format(was, *play); err == nil {
		e.Notation = text
	}
	runs := was.Tally(*play).Runs
	h.half = h.half.Add(was, *play)
	r.add(e, h.caller.Play(s.Revision, was, play, is))
	if is.Half != was.Half || is.Over() {
		if !is.Over() {
			r.add(e, h.caller.HalfSummary(s.Revision, side, h.half))
			r.add(e, h.caller.HalfInning(s.Revision, is))
		}
		h.half = call.HalfTotals{}
	}
	r.scoring = runs > 0
	if e.Skipped = s.Skipped; !s.Skipped {
		h.skipped = 0
	} else if h.skipped++; !r.scoring {
		r.spoken = "" // the next stop sums up
	}
	if leader(is) != leader(was) {
		h.lead = &protocol.GoAhead{Revision: s.Revision, Inning: was.Inning, Half: was.Half, Text: e.Text[0]}
	}
	if leader(is) == 0 {
		h.lead = nil
	}
	h.card.RecordPlay(was, *play)
	win := h.odds.HomeWin(is)
	e.HomeWin = &win
	last := h.win.Start
	if n := len(h.win.Points); n > 0 {
		last = h.win.Points[n-1].Home
	}
	h.win.Points = append(h.win.Points, protocol.WinProbabilityPoint{
		Revision: s.Revision, Inning: was.Inning, Half: was.Half, Home: win, Added: win - last,
	})
}

// leader compares the score of the home side with the visitors': 1, 0 or -1.
func leader(s *game.State) int { return cmp.Compare(s.Score[game.Home], s.Score[game.Away]) }

// add adds a line to an event.
func (r *Rendered) add(e *protocol.Event, l call.Line) {
	if l.Screen != "" {
		e.Text = append(e.Text, l.Screen)
	}
	r.spoken = strings.TrimSpace(r.spoken + " " + l.Speak)
}

// renderMilestone renders a move that is about the match as a whole.
func (h *history) renderMilestone(e *protocol.Event, r *Rendered, s *step) {
	m, p := s.move, &s.after
	line := func(format string, args ...any) { e.Text = append(e.Text, fmt.Sprintf(format, args...)) }
	club := p.Origin.Clubs[m.Side].Name
	switch m.Kind {
	case protocol.Created:
		line("%s at %s.", p.Origin.Clubs[game.Away].Name, p.Origin.Clubs[game.Home].Name)
	case protocol.Joined:
		e.Side = &m.Side
		line("%s manages %s.", m.By.Name, club)
	case protocol.LineupSubmitted:
		e.Side = &m.Side
		line("The line-up of %s is in.", club)
	case protocol.Started:
		e.Lineups = &protocol.BySide[game.Lineup]{Home: *p.seats[game.Home].lineup, Away: *p.seats[game.Away].lineup}
		h.card = retro.NewScorecard(scorecardID(p, m.Number), &p.state, p.Origin.clubs())
		h.win.Start = h.odds.HomeWin(&p.state)
		r.add(e, h.caller.Start(m.Revision, &p.state))
		r.scoring = true
	case protocol.Conceded:
		e.Side, e.Reason = &m.Side, m.Reason
		switch m.Reason {
		case tooFewPlayers:
			line("%s cannot field nine players.", club)
		case leftTheGame:
			line("The manager of %s has left. %s forfeits.", club, club)
		case claimed:
			line("The time of %s is over. %s claims the game.", club, m.By.Name)
		default:
			line("%s concedes.", club)
		}
	case protocol.Ended:
		box := h.book.BoxScore(&p.state)
		e.Result, e.Seed = p.Result, p.Origin.Seed.String()
		r.add(e, h.caller.End(m.Revision, &p.state, &box))
		r.scoring = true
	default:
		e.Rematch = m.Game
		line("There is a rematch.")
	}
}

// renderBetweenPlays renders a move between two plays.
func (h *history) renderBetweenPlays(e *protocol.Event, r *Rendered, before *Position, s *step) {
	m := s.move
	e.Side = &m.Side
	club := s.after.Origin.Clubs[m.Side].Name
	line := func(format string, args ...any) { e.Text = append(e.Text, fmt.Sprintf(format, args...)) }
	switch m.Kind {
	case protocol.Substituted:
		e.Subs = m.Subs
		h.card.RecordSubstitutions(&before.state, m.Subs)
		r.add(e, h.caller.Substitutions(m.Revision, &before.state, m.Subs))
	case protocol.Sealed:
		e.Call = sealedAction(before, m.Side, m.Calls)
	case protocol.Questioned:
		e.Question = s.after.questionView()
		line("%s", e.Question.Text)
	case protocol.Answered:
		e.Bold = &m.Bold
		bold, safe := before.question.Ask.Labels()
		if m.Bold {
			safe = bold
		}
		line("%s: %s.", club, safe)
	case protocol.TimedOut:
		line("The time of %s is up.", club)
	case protocol.Paused:
		line("%s stops the game.", m.By.Name)
	case protocol.Resumed:
		line("The game goes on.")
	case protocol.BotTookOver:
		e.Reason = m.Reason
		line("The bot manages %s.", club)
	case protocol.SideReturned:
		line("%s manages %s again.", s.after.seats[m.Side].manager.Name, club)
	case protocol.PlayingOn:
		if e.Skip = m.Skip; m.Skip == nil {
			line("%s decides every turn again.", m.By.Name)
		} else {
			line("%s %s.", m.By.Name, strings.Replace(m.Skip.Until.Label(), "Play", "plays", 1))
		}
	case protocol.Stopped:
		r.add(e, h.caller.Stop(m.Revision, &s.after.state, h.skipped))
		h.skipped = 0
	default:
	}
}

// questionView returns the open question as viewers see it.
func (p *Position) questionView() *protocol.QuestionView {
	q := p.question
	ball := q.play(q.Usual).Ball
	text := capitalize(q.Ask.Text()) + "?"
	if words := ballWords(ball); words != "" {
		text = words + ". " + text
	}
	return &protocol.QuestionView{ID: p.Decision, Asker: q.Asker, Kind: q.Ask, Ball: ball, Text: text}
}

// ballWords returns a batted ball in words: "Fly ball to center field"; "" if its kind or place is unknown.
func ballWords(b game.BattedBall) string {
	contact := map[game.Contact]string{
		game.GroundBall: "Ground ball", game.FlyBall: "Fly ball", game.LineDrive: "Line drive", game.PopUp: "Pop-up",
		game.BuntGround: "Bunt", game.BuntPopUp: "Bunt in the air", game.BuntLineDrive: "Bunt in the air",
	}[b.Contact]
	if contact == "" || b.Location == "" || b.Location[0] < '1' || b.Location[0] > '9' {
		return ""
	}
	return contact + " to " + [...]string{
		"the pitcher", "the catcher", "first base", "second base", "third base", "shortstop", "left field",
		"center field", "right field",
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
func scoreboard(s *game.State) *protocol.Scoreboard {
	n := &protocol.Scoreboard{
		Inning: s.Inning, Half: s.Half, Outs: s.Outs, Count: s.Count,
		Score:  protocol.Score{Home: s.Score[game.Home], Away: s.Score[game.Away]},
		Batter: s.Batter(), Pitcher: s.Pitcher(),
	}
	for i := range s.Bases {
		n.Bases[i] = s.Bases[i].Player
	}
	return n
}

// scorecardID returns the id of a game in Retrosheet's form: home team, date, and number of the game on that day.
func scorecardID(p *Position, number int) string {
	letters := func(r rune) rune {
		if r < 'A' || r > 'Z' {
			return -1
		}
		return r
	}
	team := strings.Map(letters, strings.ToUpper(p.Origin.Clubs[game.Home].Abbrev)) + "XXX"
	return fmt.Sprintf("%.3s%s%d", team, p.Started.Format("20060102"), number)
}

// sealedAction returns the action that submitted a call.
func sealedAction(p *Position, side game.Side, c *chance.Tactics) *protocol.Action {
	if side == p.state.Batting() {
		a := offenseAction(c.Offense, p.Decision)
		return &a
	}
	return &protocol.Action{Verb: protocol.DoDefense, Decision: p.Decision, Defense: c.Defense}
}
