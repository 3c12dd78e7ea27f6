package call

import (
	"strconv"
	"strings"

	"pressbox/game"
)

// Play calls a play: what happened, who scored, who was out, who moved up, who erred, and what it means. The states are
// those before and after it. The revision is that of the event; it only varies the words.
func (c *Commentator) Play(rev uint64, before *game.State, p *game.Play, after *game.State) Line {
	t := &teller{draft: c.draft(rev), before: before, after: after, play: p}
	t.gaps["batter"] = t.name(game.AtBat)
	t.gaps["pitcher"] = t.fielder(byte('0' + game.Pitcher))
	t.gaps["catcher"] = t.fielder(byte('0' + game.Catcher))
	t.lead()
	t.onTheBases(p.Kind)
	t.onTheBases(p.Also)
	t.scorers()
	t.outs()
	t.advances()
	t.errors()
	if len(t.clauses[screen]) == 0 {
		t.add("nobody moves", nil)
	}
	t.meaning()
	return t.line()
}

// A teller calls one play.
type teller struct {
	*draft
	before, after *game.State
	play          *game.Play
	runTold       [4]bool // by the base the man started from
	outTold       [4]bool // by place in Outs
	errorTold     [4]bool // by place in Errors
}

// who returns the man who started at a base.
func (t *teller) who(from game.Base) game.PlayerID {
	switch {
	case from != game.AtBat:
		return t.before.RunnerOn(from).Player
	case t.play.Batter != "": // a batter out of turn is called by his name; it is not for the announcer to appeal
		return t.play.Batter
	default:
		return t.before.Batter()
	}
}

func (t *teller) name(from game.Base) string {
	if id := t.who(from); id != "" {
		return t.Name(id)
	}
	return ""
}

// fielder returns the name of who plays a position, by its digit; "" if nobody does.
func (t *teller) fielder(digit byte) string {
	id := t.before.Teams[t.before.Fielding()].Fielder(game.Position(digit - '0'))
	if id == "" {
		return ""
	}
	return t.Name(id)
}

// chain names fielders in order: "Ono to Hale", "Hale unassisted"; "" if nobody is credited.
func (t *teller) chain(by string) string {
	var names []string
	for i := range len(by) {
		if name := t.fielder(by[i]); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 1 {
		return names[0] + " " + t.book.word("alone", 0)
	}
	return strings.Join(names, " "+t.book.word("chain", 0)+" ")
}

func (t *teller) base(b game.Base) string {
	if b == game.AtBat {
		return ""
	}
	return t.book.word("bases", int(b))
}

// to returns where the ball went: the scorer's zone, else the position of who had it first; a ball that an outfielder
// fielded went to him, although the scorer notes where it left the infield.
func (t *teller) to() string {
	zone, first := t.play.Ball.Location, t.play.FieldedBy
	if i := t.out(game.AtBat); first == "" && i >= 0 {
		first = t.play.Outs[i].Fielders
	}
	if first != "" && (zone == "" || zone[0] < '7' && first[0] >= '7') {
		zone = first[:1]
	}
	return t.book.to(zone)
}

// out returns the place in Outs of the man who started at a base, -1 if he is not out.
func (t *teller) out(from game.Base) int {
	for i, o := range t.play.Outs {
		if o.Kind != game.NotOut && o.Runner == from {
			return i
		}
	}
	return -1
}

// lead tells what the batter did, if his turn ended.
func (t *teller) lead() {
	p := t.play
	more := gaps{"to": t.to()}
	switch p.Kind {
	case game.NoPlay:
		t.noPlay()
	case game.BattedOut:
		t.battedOut(more)
	case game.Strikeout:
		t.strikeout()
	case game.Single, game.Double, game.Triple:
		t.hit(more)
	case game.HomeRun:
		t.homer(more)
	case game.ReachedOnError, game.CatchersInterference, game.FoulError:
		t.onError(more)
	case game.FieldersChoice:
		t.told("choice"+t.sacrifice(), game.AtBat, game.First, nil)
	case game.Walk, game.IntentionalWalk, game.HitByPitch:
		t.told(p.Kind.String(), game.AtBat, game.First, nil)
	default:
	}
}

// told adds a clause that brings a man to a base, so that no other needs to, unless he went further.
func (t *teller) told(key string, from, to game.Base, more gaps) {
	t.add(key, more)
	t.runTold[from] = t.play.Advances[from].To == to
}

func (t *teller) noPlay() {
	p := t.play
	if n := len(p.Pitches); n > 0 && p.Pitches[n-1] >= '1' && p.Pitches[n-1] <= '3' {
		t.add("throw over", gaps{"base": t.base(game.Base(p.Pitches[n-1] - '0'))})
		return
	}
	more := gaps{}
	if p.Count != (game.Count{}) {
		more["count"] = countText(p.Count)
	}
	t.add("no play", more)
}

// sacrifice returns the part of a key that says so.
func (t *teller) sacrifice() string {
	switch {
	case t.play.Flags.Has(game.SacrificeHit):
		return ".sacrifice"
	case t.play.Flags.Has(game.SacrificeFly):
		return ".fly"
	default:
		return ""
	}
}

func (t *teller) hit(more gaps) {
	key := t.play.Kind.String()
	if t.play.Flags.Has(game.GroundRuleDouble) {
		key += ".rule"
	} else {
		key += contactKey(t.play.Ball.Contact)
	}
	t.told(key, game.AtBat, game.Base(t.play.Kind-game.Single)+1, more)
}

func (t *teller) homer(more gaps) {
	key := "homer.inside"
	if !t.play.Flags.Has(game.InsideTheParkHomeRun) {
		key = "homer." + strconv.Itoa(t.before.Tally(*t.play).Runs)
	}
	t.told(key, game.AtBat, game.HomePlate, more)
}

func (t *teller) onError(more gaps) {
	e := t.play.Errors[0]
	key := t.play.Kind.String()
	if t.play.Kind == game.ReachedOnError {
		key += t.sacrifice()
		if key == "error" && e.Kind == game.ThrowingError {
			key += ".throw"
		}
	}
	if e.Fielder != 0 {
		more["fielder"], more["position"] = t.fielder('0'+e.Fielder), t.book.word("positions", int(e.Fielder))
		t.errorTold[0] = more["fielder"] != ""
	}
	t.told(key, game.AtBat, game.First, more)
}

// contactKey returns the part of a key that says how the ball left the bat.
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

func (t *teller) strikeout() {
	p := t.play
	i := t.out(game.AtBat)
	switch {
	case i < 0:
		t.told("strikeout safe", game.AtBat, game.First, nil)
	case p.Outs[i].Kind == game.StruckOut:
		t.outTold[i] = true
		t.add("strikeout"+strikeKey(p.Pitches), nil)
	default:
		t.outTold[i] = true
		t.add("strikeout thrown", gaps{"chain": t.chain(p.Outs[i].Fielders)})
	}
}

// strikeKey returns the part of a key that says how the third strike came, by Retrosheet's letter of the last pitch.
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
