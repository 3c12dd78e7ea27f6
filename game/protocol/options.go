package protocol

import (
	"fmt"
	"slices"
	"strings"

	"pressbox/game"
)

// A Request asks for a new game.
type Request struct {
	HomeTeam string  `json:"home_team"`
	AwayTeam string  `json:"away_team"`
	Season   int     `json:"season"` // 0 means the default
	Options  Options `json:"options"`
}

// Options hold the options of a game. Start from [Defaults].
type Options struct {
	DH           bool              `json:"dh"`
	Innings      int               `json:"innings"` // 3, 5, 7 or 9
	ExtraInnings game.ExtraInnings `json:"extra_innings"`
	Side         string            `json:"side"` // the creator's: "home" or "away"
	Opponent     Opponent          `json:"opponent"`
	TurnSeconds  int               `json:"turn_seconds"` // for each decision, 1–86,400; 0: no clock
	Announce     Announce          `json:"announce"`
	Visibility   Visibility        `json:"visibility"`

	Mercy          game.Mercy          `json:"mercy,omitzero"`          // "" of a request: on in private games
	Disengagements game.Disengagements `json:"disengagements,omitzero"` // "" of a request and of older games: unlimited
	BotLevel       int                 `json:"bot_level,omitzero"`      // 1–3, see bot.Level; 0 of a request: 3
	CallTurn       bool                `json:"call_turn,omitzero"`      // the loudspeaker says whose turn it is
}

// An Opponent is the kind of manager of the other side.
type Opponent string

// The opponents.
const (
	Open    Opponent = "open"    // the first person who joins
	Bot     Opponent = "bot"     // the bot
	HotSeat Opponent = "hotseat" // the creator too, on one screen
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
	Private Visibility = "private" // only its managers, and people who know its id
)

// Defaults returns the default options.
func Defaults() Options {
	return Options{
		DH: true, Innings: 9, ExtraInnings: game.AutomaticRunner, Side: "home", Opponent: Open,
		Announce: AnnounceScoring, Visibility: Listed,
	}
}

// MaxBotLevel is the highest level of the bot, and the default.
const MaxBotLevel = 3

// maxTurnSeconds is the longest time for a decision: a day.
const maxTurnSeconds = 86_400

// Check returns everything that is wrong with the request.
func (r *Request) Check() []game.Violation {
	var found []game.Violation
	wrong := func(path, code, detail string) {
		found = append(found, game.Violation{Path: path, Code: game.ViolationCode(code), Detail: detail})
	}
	if r.HomeTeam == "" {
		wrong("/home_team", "required", "home_team is required")
	}
	switch r.AwayTeam {
	case "":
		wrong("/away_team", "required", "away_team is required")
	case r.HomeTeam:
		wrong("/away_team", "same_team", "a club cannot play itself")
	}
	return append(found, r.Options.Check()...)
}

// Check returns everything that is wrong with the options.
func (o *Options) Check() []game.Violation {
	var found []game.Violation
	wrong := func(path, code, format string, args ...any) {
		found = append(found,
			game.Violation{Path: path, Code: game.ViolationCode(code), Detail: fmt.Sprintf(format, args...)})
	}
	oneOf := func(name, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			wrong("/options/"+name, "not_an_option", "%.20q is not one of %s", value, strings.Join(allowed, ", "))
		}
	}
	if !slices.Contains([]int{3, 5, 7, 9}, o.Innings) {
		wrong("/options/innings", "not_an_option", "%d is not one of 3, 5, 7, 9", o.Innings)
	}
	oneOf("extra_innings", string(o.ExtraInnings), string(game.AutomaticRunner), string(game.Standard))
	oneOf("side", o.Side, "home", "away")
	oneOf("opponent", string(o.Opponent), string(Open), string(Bot), string(HotSeat))
	oneOf("announce", string(o.Announce), string(AnnounceOff), string(AnnounceScoring), string(AnnounceAll))
	oneOf("visibility", string(o.Visibility), string(Listed), string(Private))
	oneOf("mercy", string(o.Mercy), "", string(game.MercyOff), string(game.MercyOn))
	oneOf("disengagements", string(o.Disengagements), "", string(game.Unlimited), string(game.Limit2023))
	if o.BotLevel < 0 || o.BotLevel > MaxBotLevel {
		wrong("/options/bot_level", "not_an_option", "%d is not one of 1, 2, 3", o.BotLevel)
	}
	if o.TurnSeconds < 0 || o.TurnSeconds > maxTurnSeconds {
		wrong("/options/turn_seconds", "out_of_range", "%d is not between 0 and %d", o.TurnSeconds, maxTurnSeconds)
	}
	return found
}

// Complete sets the options that a request left to the server.
func (o *Options) Complete() {
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
