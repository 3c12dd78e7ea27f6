package leagues

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/game"
	"pressbox/game/protocol"
	"pressbox/game/season"
)

// Terms are what a new series and a new league have in common.
type Terms struct {
	Name   string `json:"name" required:"true" minLength:"1" maxLength:"60"`
	Season int    `json:"season" minimum:"1" maximum:"9999"` // season of the clubs; default DEFAULT_SEASON
	// Time of the day such as 20:00, by the host's clock, at which games between bots are played, one day of the
	// calendar each day. Default: at once.
	PlayAt string `json:"play_at"`
	// Hours after the beginning of a day of the calendar from which the bot acts for managers who are not
	// connected; after twice the time, for all.
	CoverHours int     `json:"cover_hours" minimum:"1" maximum:"144" default:"48"`
	Options    Options `json:"options"`
}

// A Request asks for a new league.
//
//	{"name": "Kitchen league", "meetings": 2, "best_of": 3, "play_at": "20:00", "options": {"innings": 5},
//	 "seats": [{"team": "BWH", "manager": "me"}, {"team": "CPR", "manager": "open"},
//	           {"team": "DUN", "manager": "bot"}, {"team": "FEN", "manager": "bot"}]}
type Request struct {
	Terms
	// The clubs and who manages them; the order decides the calendar, and ties that nothing else breaks.
	Seats    []SeatRequest `json:"seats" required:"true" minItems:"2" maxItems:"8"`
	Meetings int           `json:"meetings" minimum:"1" maximum:"6" default:"2"` // games of each pair
	// Most games of the play-off between the first two; 0: no play-off.
	BestOf int `json:"best_of" enum:"[0,1,3,5,7]" default:"3"`
}

// A SeriesRequest asks for a new series.
//
//	{"name": "Sunday series", "best_of": 3,
//	 "seats": [{"team": "BWH", "manager": "me"}, {"team": "CPR", "manager": "bot"}]}
type SeriesRequest struct {
	Terms
	// The clubs and who manages them; the order decides the calendar, and ties that nothing else breaks.
	Seats []SeatRequest `json:"seats" required:"true" minItems:"2" maxItems:"2"`
	// Most games: the series ends when a manager has won more than half of them.
	BestOf int `json:"best_of" enum:"[1,3,5,7]" default:"7"`
}

// A SeatRequest is a seat of a new league.
type SeatRequest struct {
	Team string `json:"team" required:"true"` // id of the team in GET /api/teams; each has one seat
	// me: your own, at most one. open: the first account that joins.
	Manager string `json:"manager" required:"true" enum:"me,open,bot"`
}

// Options are the options of each game of a league.
type Options struct {
	DH           bool              `json:"dh" default:"true"` // permit a designated hitter for the pitcher
	Innings      int               `json:"innings" enum:"[3,5,7,9]" default:"9"`
	ExtraInnings game.ExtraInnings `json:"extra_innings" default:"runner"`
	// Seconds for each decision; 0: no clock.
	TurnSeconds int `json:"turn_seconds" minimum:"0" maximum:"86400" default:"0"`
	// Events that the loudspeaker announces. Games between bots are not announced.
	Announce       protocol.Announce   `json:"announce" default:"scoring"`
	Visibility     protocol.Visibility `json:"visibility" default:"listed"` // of the league and its games
	Mercy          game.Mercy          `json:"mercy"`                       // default: on if private, off if listed
	Disengagements game.Disengagements `json:"disengagements" default:"unlimited"`
	// Strength of the bots, and of the bot that covers a manager.
	BotLevel int `json:"bot_level" enum:"[1,2,3]" default:"3"`
}

// Limits of [Request].
const (
	MaxCoverHours     = 6 * 24
	defaultCoverHours = 48
)

// Defaults returns a request with the default options.
func Defaults(k Kind) Request {
	o := protocol.Defaults()
	r := Request{BestOf: 7, Terms: Terms{CoverHours: defaultCoverHours, Options: Options{
		DH: o.DH, Innings: o.Innings, ExtraInnings: o.ExtraInnings, Announce: o.Announce, Visibility: o.Visibility,
	}}}
	if k == RoundRobin {
		r.Meetings, r.BestOf = 2, 3
	}
	return r
}

// complete returns the options with those that a request left to the server.
func (o Options) complete() Options {
	all := o.game()
	all.Complete()
	o.Mercy, o.Disengagements, o.BotLevel = all.Mercy, all.Disengagements, all.BotLevel
	return o
}

// game returns the options of a game whose creator manages the home side against a person.
func (o *Options) game() protocol.Options {
	all := protocol.Defaults()
	all.Rest = false // what the pitchers did in the league counts
	all.DH, all.Innings, all.ExtraInnings, all.TurnSeconds = o.DH, o.Innings, o.ExtraInnings, o.TurnSeconds
	all.Announce, all.Visibility, all.Mercy, all.Disengagements, all.BotLevel = o.Announce, o.Visibility, o.Mercy,
		o.Disengagements, o.BotLevel
	return all
}

// Check returns everything that is wrong with the request.
func (r *Request) Check(k Kind) []game.Violation {
	var found game.Violations
	if n := utf8.RuneCountInString(strings.TrimSpace(r.Name)); n == 0 || n > season.MaxName ||
		strings.ContainsFunc(r.Name, unicode.IsControl) {
		found.Add("/name", "out_of_range", "must have 1 to %d characters", season.MaxName)
	}
	if (r.Meetings == 0) != (k == Series) {
		found.Add("/meetings", "out_of_range", "must be 1 to %d", season.MaxMeetings)
	} else if err := (season.Format{Meetings: r.Meetings, BestOf: r.BestOf}).Check(len(r.Seats)); err != nil {
		found.Add("", "not_possible", "%v", err)
	}
	if _, ok := minuteOf(r.PlayAt); !ok && r.PlayAt != "" {
		found.Add("/play_at", "invalid", "%.20q is not a time such as 20:00", r.PlayAt)
	}
	if r.CoverHours < 1 || r.CoverHours > MaxCoverHours {
		found.Add("/cover_hours", "out_of_range", "must be 1 to %d", MaxCoverHours)
	}
	options := r.Options.game()
	return slices.Concat(found, r.checkSeats(), options.Check())
}

// checkSeats returns everything that is wrong with the seats.
func (r *Request) checkSeats() (found game.Violations) {
	taken, own := map[string]bool{}, false
	for i, s := range r.Seats {
		wrong := func(name, code, detail string) { found.Add(fmt.Sprintf("/seats/%d/%s", i, name), code, "%s", detail) }
		switch {
		case s.Team == "":
			wrong("team", "required", "team is required")
		case taken[s.Team]:
			wrong("team", "same_team", "a club cannot have two seats")
		}
		taken[s.Team] = true
		switch {
		case s.Manager == "me" && own:
			wrong("manager", "seat_taken", "you cannot have two seats")
		case !slices.Contains([]string{"me", "open", "bot"}, s.Manager):
			wrong("manager", "not_an_option", "must be me, open or bot")
		}
		own = own || s.Manager == "me"
	}
	return found
}

var timeOfDay = regexp.MustCompile(`^([01]\d|2[0-3]):([0-5]\d)$`)

// minuteOf returns the minute of the day of a time such as "20:00".
func minuteOf(text string) (minute int, ok bool) {
	if !timeOfDay.MatchString(text) {
		return 0, false
	}
	digit := func(i int) int { return int(text[i] - '0') }
	return (digit(0)*10+digit(1))*60 + digit(3)*10 + digit(4), true
}
