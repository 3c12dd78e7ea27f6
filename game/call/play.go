package call

import (
	"strconv"
	"strings"

	"pressbox/game"
)

// Play returns the line of a play: the result, runs, outs, advances, errors and consequences. before and after are the
// states around it; rev is the revision of its event and only selects among phrases.
func (c *Commentator) Play(rev uint64, before *game.State, p *game.Play, after *game.State) Line {
	t := &playBuilder{lineBuilder: c.newLine(rev), before: before, after: after, play: p}
	t.shared["batter"] = t.name(game.AtBat)
	t.shared["pitcher"] = t.fielder(byte('0' + game.Pitcher))
	t.shared["catcher"] = t.fielder(byte('0' + game.Catcher))
	t.batterResult()
	t.baserunning(p.Kind)
	t.baserunning(p.Also)
	t.runs()
	t.remainingOuts()
	t.advances()
	t.remainingErrors()
	if len(t.clauses[screen]) == 0 {
		t.add("no advance", nil)
	}
	t.consequences()
	return t.line()
}

// A playBuilder builds the line of one play.
type playBuilder struct {
	*lineBuilder
	before, after   *game.State
	play            *game.Play
	advanceReported [4]bool // by starting base
	outReported     [4]bool // by index in Outs
	errorReported   [4]bool // by index in Errors
}

// player returns the player who started at a base.
func (b *playBuilder) player(from game.Base) game.PlayerID {
	switch {
	case from != game.AtBat:
		return b.before.RunnerOn(from).Player
	case b.play.Batter != "": // out of turn: named without an appeal
		return b.play.Batter
	default:
		return b.before.Batter()
	}
}

func (b *playBuilder) name(from game.Base) string {
	if id := b.player(from); id != "" {
		return b.Name(id)
	}
	return ""
}

// fielder returns the name of the player at a position digit, "" if there is none.
func (b *playBuilder) fielder(digit byte) string {
	id := b.before.Teams[b.before.Fielding()].Fielder(game.Position(digit - '0'))
	if id == "" {
		return ""
	}
	return b.Name(id)
}

// fielderNames returns the credited fielders in order: "Ono to Hale", "Hale unassisted"; "" if there is none.
func (b *playBuilder) fielderNames(by string) string {
	var names []string
	for i := range len(by) {
		if name := b.fielder(by[i]); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 1 {
		return names[0] + " " + b.phrasebook.word("alone", 0)
	}
	return strings.Join(names, " "+b.phrasebook.word("chain", 0)+" ")
}

func (b *playBuilder) base(at game.Base) string {
	if at == game.AtBat {
		return ""
	}
	return b.phrasebook.word("bases", int(at))
}

// ballDirection returns the direction of the ball: the scorer's zone, or the position of the first fielder. A ball
// to an outfielder has the outfielder's direction even if the scorer noted where it left the infield.
func (b *playBuilder) ballDirection() string {
	zone, first := b.play.Ball.Location, b.play.FieldedBy
	if i := b.play.OutIndex(game.AtBat); first == "" && i >= 0 {
		first = b.play.Outs[i].Fielders
	}
	if first != "" && (zone == "" || zone[0] < '7' && first[0] >= '7') {
		zone = first[:1]
	}
	return b.phrasebook.direction(zone)
}

// batterResult adds the result of the plate appearance.
func (b *playBuilder) batterResult() {
	p := b.play
	more := values{"to": b.ballDirection()}
	switch p.Kind {
	case game.NoPlay:
		b.noPlay()
	case game.BattedOut:
		b.battedOut(more)
	case game.Strikeout:
		b.strikeout()
	case game.Single, game.Double, game.Triple:
		b.hit(more)
	case game.HomeRun:
		b.homer(more)
	case game.ReachedOnError, game.CatchersInterference, game.FoulError:
		b.onError(more)
	case game.FieldersChoice:
		b.addAdvance("choice"+b.sacrifice(), game.AtBat, game.First, nil)
	case game.Walk, game.IntentionalWalk, game.HitByPitch:
		b.addAdvance(p.Kind.String(), game.AtBat, game.First, nil)
	default:
	}
}

// addAdvance adds a clause that brings a player to a base. It reports the advance unless the player went further.
func (b *playBuilder) addAdvance(key string, from, to game.Base, more values) {
	b.add(key, more)
	b.advanceReported[from] = b.play.Advances[from].To == to
}

func (b *playBuilder) noPlay() {
	p := b.play
	if n := len(p.Pitches); n > 0 && p.Pitches[n-1] >= '1' && p.Pitches[n-1] <= '3' {
		b.add("throw over", values{"base": b.base(game.Base(p.Pitches[n-1] - '0'))})
		return
	}
	more := values{}
	if p.Count != (game.Count{}) {
		more["count"] = countText(p.Count)
	}
	b.add("no play", more)
}

func (b *playBuilder) sacrifice() string {
	switch {
	case b.play.Flags.Has(game.SacrificeHit):
		return ".sacrifice"
	case b.play.Flags.Has(game.SacrificeFly):
		return ".fly"
	default:
		return ""
	}
}

func (b *playBuilder) hit(more values) {
	key := b.play.Kind.String()
	if b.play.Flags.Has(game.GroundRuleDouble) {
		key += ".rule"
	} else {
		key += contactKey(b.play.Ball.Contact)
	}
	b.addAdvance(key, game.AtBat, game.Base(b.play.Kind-game.Single)+1, more)
}

func (b *playBuilder) homer(more values) {
	key := "homer.inside"
	if !b.play.Flags.Has(game.InsideTheParkHomeRun) {
		key = "homer." + strconv.Itoa(b.before.Tally(*b.play).Runs)
	}
	b.addAdvance(key, game.AtBat, game.HomePlate, more)
}

func (b *playBuilder) onError(more values) {
	e := b.play.Errors[0]
	key := b.play.Kind.String()
	if b.play.Kind == game.ReachedOnError {
		key += b.sacrifice()
		if key == "error" && e.Kind == game.ThrowingError {
			key += ".throw"
		}
	}
	if e.Fielder != 0 {
		more["fielder"], more["position"] = b.fielder('0'+e.Fielder), b.phrasebook.word("positions", int(e.Fielder))
		b.errorReported[0] = more["fielder"] != ""
	}
	b.addAdvance(key, game.AtBat, game.First, more)
}

func contactKey(c game.Contact) string {
	switch c {
	case game.GroundBall:
		return ".ground"
	case game.FlyBall:
		return ".fly"
	case game.LineDrive:
		return ".line"
	case game.BuntGround, game.BuntPopUp, game.BuntLineDrive:
		return ".bunt"
	case game.NoContact, game.PopUp:
	}
	return ""
}

func (b *playBuilder) strikeout() {
	p := b.play
	i := b.play.OutIndex(game.AtBat)
	switch {
	case i < 0:
		b.addAdvance("strikeout safe", game.AtBat, game.First, nil)
	case p.Outs[i].Kind == game.StruckOut:
		b.outReported[i] = true
		b.add("strikeout"+strikeKey(p.Pitches), nil)
	default:
		b.outReported[i] = true
		b.add("strikeout thrown", values{"chain": b.fielderNames(p.Outs[i].Fielders)})
	}
}

// strikeKey returns the key suffix of the third strike, by Retrosheet's letter of the last pitch.
func strikeKey(pitches string) string {
	switch {
	case strings.HasSuffix(pitches, "C"):
		return ".looking"
	case strings.HasSuffix(pitches, "S"), strings.HasSuffix(pitches, "Q"):
		return ".swinging"
	default:
		return ""
	}
}
