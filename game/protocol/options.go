package protocol

import (
	"math"
	"slices"
	"strings"

	"pressbox/game"
)

// A Request asks for a new game.
//
//	{"home_team": "BWH", "away_team": "CPR", "options": {"opponent": "bot", "innings": 3}}
type Request struct {
	HomeTeam string  `json:"home_team" required:"true"` // id of the team in GET /api/teams
	AwayTeam string  `json:"away_team" required:"true"`
	Season   int     `json:"season" minimum:"1" maximum:"9999"` // default DEFAULT_SEASON
	Options  Options `json:"options"`
}

// Options hold the options of a game.
type Options struct {
	DH           bool              `json:"dh" default:"true"` // permit a designated hitter for the pitcher
	Innings      int               `json:"innings" enum:"[3,5,7,9]" default:"9"`
	ExtraInnings game.ExtraInnings `json:"extra_innings" default:"runner"`
	Side         string            `json:"side" enum:"home,away" default:"home"` // side of the creator
	Opponent     Opponent          `json:"opponent" default:"open"`
	// Seconds for each decision, after which the default is taken; 0: no clock. Above 3,600 the game is played by
	// correspondence: nothing is decided when the time is over, and no manager is replaced, but the other one may claim
	// the game. Default: 86,400 in open games, 0 in others.
	TurnSeconds int        `json:"turn_seconds" minimum:"0" maximum:"86400"`
	Announce    Announce   `json:"announce" default:"scoring"` // events that the loudspeaker announces
	Visibility  Visibility `json:"visibility" default:"listed"`

	// Default: on in private games, off in listed ones. Missing in games of older versions: off.
	Mercy game.Mercy `json:"mercy,omitzero"`
	// Pick-off throws to a batter. Missing in games of older versions: unlimited.
	Disengagements game.Disengagements `json:"disengagements,omitzero" default:"unlimited"`
	// Strength of the bot. 1: it relieves exhausted pitchers and only bunts. 2: it weighs the runs of the turn. 3:
	// it looks ahead, by the chance to win. Missing in games of older versions: 3.
	BotLevel int `json:"bot_level,omitzero" enum:"[1,2,3]" default:"3"`
	// Pitchers have thrown on the days before a game that is of no league: drawn from the seed, shown as rest_days and
	// fatigue. Missing in games of older versions: all have rested.
	Rest bool `json:"rest,omitzero" default:"true"`
	// The loudspeaker says whose turn it is: once for each decision, and not for the bot. Missing: false.
	CallTurn bool `json:"call_turn,omitzero" default:"false"`
}

// An Opponent is the kind of manager of the other side.
type Opponent string

// The opponents.
const (
	Open    Opponent = "open"    // the first player who joins
	Bot     Opponent = "bot"     // the server
	HotSeat Opponent = "hotseat" // the creator manages both sides
)

// Announce selects what the loudspeaker says about a game.
type Announce string

// The levels.
const (
	AnnounceOff     Announce = "off"
	AnnounceScoring Announce = "scoring" // the start, scoring plays, the end
	AnnounceAll     Announce = "all"
)

// Visibility selects who can find a game.
type Visibility string

// The visibilities.
const (
	Listed  Visibility = "listed"
	Private Visibility = "private" // not listed; anyone with the id can open it
)

// Defaults returns the default options.
func Defaults() Options {
	return Options{
		DH: true, Innings: 9, ExtraInnings: game.AutomaticRunner, Side: "home", Opponent: Open,
		Announce: AnnounceScoring, Visibility: Listed, TurnSeconds: unset, Rest: true,
	}
}

// unset is the time for a decision that a request does not have.
const unset = math.MinInt

// ByCorrespondence reports whether the managers need not be there at the same time.
func (o *Options) ByCorrespondence() bool { return o.TurnSeconds > 3600 }

// MaxBotLevel is the highest level of the bot, and the default.
const MaxBotLevel = 3

// maxTurnSeconds is the longest time for a decision: a day.
const maxTurnSeconds = 86_400

// Check returns everything that is wrong with the request.
func (r *Request) Check() []game.Violation {
	var found game.Violations
	if r.HomeTeam == "" {
		found.Add("/home_team", "required", "home_team is required")
	}
	switch r.AwayTeam {
	case "":
		found.Add("/away_team", "required", "away_team is required")
	case r.HomeTeam:
		found.Add("/away_team", "same_team", "a club cannot play itself")
	}
	return append(found, r.Options.Check()...)
}

// Check returns everything that is wrong with the options.
func (o *Options) Check() []game.Violation {
	var found game.Violations
	oneOf := func(name, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			found.Add("/options/"+name, "not_an_option", "%.20q is not one of %s", value, strings.Join(allowed, ", "))
		}
	}
	if !slices.Contains([]int{3, 5, 7, 9}, o.Innings) {
		found.Add("/options/innings", "not_an_option", "%d is not one of 3, 5, 7, 9", o.Innings)
	}
	oneOf("extra_innings", string(o.ExtraInnings), string(game.AutomaticRunner), string(game.Standard))
	oneOf("side", o.Side, "home", "away")
	oneOf("opponent", string(o.Opponent), string(Open), string(Bot), string(HotSeat))
	oneOf("announce", string(o.Announce), string(AnnounceOff), string(AnnounceScoring), string(AnnounceAll))
	oneOf("visibility", string(o.Visibility), string(Listed), string(Private))
	oneOf("mercy", string(o.Mercy), "", string(game.MercyOff), string(game.MercyOn))
	oneOf("disengagements", string(o.Disengagements), "", string(game.Unlimited), string(game.Limit2023))
	if o.BotLevel < 0 || o.BotLevel > MaxBotLevel {
		found.Add("/options/bot_level", "not_an_option", "%d is not one of 1, 2, 3", o.BotLevel)
	}
	if o.TurnSeconds != unset && (o.TurnSeconds < 0 || o.TurnSeconds > maxTurnSeconds) {
		found.Add("/options/turn_seconds", "out_of_range", "%d is not between 0 and %d", o.TurnSeconds, maxTurnSeconds)
	}
	return found
}

// Complete sets the options that a request left to the server.
func (o *Options) Complete() {
	switch {
	case o.TurnSeconds != unset:
	case o.Opponent == Open:
		o.TurnSeconds = maxTurnSeconds
	default:
		o.TurnSeconds = 0
	}
	if o.Mercy == "" {
		o.Mercy = game.MercyOff
		if o.Visibility == Private {
			o.Mercy = game.MercyOn
		}
	}
	if o.Disengagements == "" {
		o.Disengagements = game.Unlimited
	}
	if o.BotLevel == 0 {
		o.BotLevel = MaxBotLevel
	}
}

// CreatorSide returns the creator's side.
func (o *Options) CreatorSide() game.Side {
	if o.Side == "away" {
		return game.Away
	}
	return game.Home
}

// Rules returns the options that concern the rules.
func (o *Options) Rules() game.Options {
	return game.Options{
		DH: o.DH, Innings: o.Innings, ExtraInnings: o.ExtraInnings, Disengagements: o.Disengagements, Mercy: o.Mercy,
	}
}
