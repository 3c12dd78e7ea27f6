package live

import (
	"fmt"
	"slices"
	"strings"

	"pressbox/game"
)

// A Request is the wish for a new game.
type Request struct {
	HomeTeam string  `json:"home_team"`
	AwayTeam string  `json:"away_team"`
	Season   int     `json:"season"` // 0 means the default
	Options  Options `json:"options"`
}

// Options say how a game is to be played. Begin with [Defaults].
type Options struct {
	DH           bool              `json:"dh"`
	Innings      int               `json:"innings"` // 3, 5, 7 or 9
	ExtraInnings game.ExtraInnings `json:"extra_innings"`
	Side         string            `json:"side"` // the creator's: "home" or "away"
	Opponent     Opponent          `json:"opponent"`
	TurnSeconds  int               `json:"turn_seconds"` // 0 no clock, else 1–86,400 for each decision
	Announce     Announce          `json:"announce"`
	Visibility   Visibility        `json:"visibility"`
}

// Opponent is who manages the other side.
type Opponent string

// The opponents.
const (
	Open    Opponent = "open"    // whoever joins
	Bot     Opponent = "bot"     // the appliance
	HotSeat Opponent = "hotseat" // the creator himself, on one screen
)

// Announce is what the loudspeaker tells of a game.
type Announce string

// The levels.
const (
	AnnounceOff     Announce = "off"
	AnnounceScoring Announce = "scoring" // the start, plays on which somebody scores, the end
	AnnounceAll     Announce = "all"
)

// Visibility is who finds a game.
type Visibility string

// The visibilities.
const (
	Listed  Visibility = "listed"
	Private Visibility = "private" // only who knows its id, and its managers
)

// Defaults returns the options of who wishes nothing.
func Defaults() Options {
	return Options{
		DH: true, Innings: 9, ExtraInnings: game.AutomaticRunner, Side: "home", Opponent: Open,
		Announce: AnnounceScoring, Visibility: Listed,
	}
}

// mostSeconds for a decision: a day.
const mostSeconds = 86_400

// check returns everything that is wrong with the request.
func (r *Request) check() []game.Violation {
	var found []game.Violation
	wrong := func(path, code, detail string) {
		found = append(found, game.Violation{Path: path, Code: game.ViolationCode(code), Detail: detail})
	}
	if r.HomeTeam == "" {
		wrong("/home_team", "required", "no home team")
	}
	switch r.AwayTeam {
	case "":
		wrong("/away_team", "required", "no visiting team")
	case r.HomeTeam:
		wrong("/away_team", "same_team", "a club cannot play against itself")
	}
	return append(found, r.Options.check()...)
}

// check returns everything that is wrong with the options.
func (o *Options) check() []game.Violation {
	var found []game.Violation
	wrong := func(path, code, format string, args ...any) {
		found = append(found, game.Violation{Path: path, Code: game.ViolationCode(code), Detail: fmt.Sprintf(format, args...)})
	}
	oneOf := func(name, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			wrong("/options/"+name, "not_an_option", "%.20q is none of %s", value, strings.Join(allowed, ", "))
		}
	}
	if !slices.Contains([]int{3, 5, 7, 9}, o.Innings) {
		wrong("/options/innings", "not_an_option", "%d is none of 3, 5, 7, 9", o.Innings)
	}
	oneOf("extra_innings", string(o.ExtraInnings), string(game.AutomaticRunner), string(game.Standard))
	oneOf("side", o.Side, "home", "away")
	oneOf("opponent", string(o.Opponent), string(Open), string(Bot), string(HotSeat))
	oneOf("announce", string(o.Announce), string(AnnounceOff), string(AnnounceScoring), string(AnnounceAll))
	oneOf("visibility", string(o.Visibility), string(Listed), string(Private))
	if o.TurnSeconds < 0 || o.TurnSeconds > mostSeconds {
		wrong("/options/turn_seconds", "out_of_range", "%d is not 0 to %d", o.TurnSeconds, mostSeconds)
	}
	return found
}

// side is the creator's.
func (o *Options) side() game.Side {
	if o.Side == "away" {
		return game.Away
	}
	return game.Home
}

// rules are the options as the rules know them.
func (o *Options) rules() game.Options {
	return game.Options{DH: o.DH, Innings: o.Innings, ExtraInnings: o.ExtraInnings}
}
