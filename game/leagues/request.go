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

// A Request asks for a new series or league. Start from [Defaults].
type Request struct {
	Name     string        `json:"name"`
	Season   int           `json:"season"`   // 0 means the default
	Meetings int           `json:"meetings"` // of each pair of a league, 1–6; 0 of a series
	BestOf   int           `json:"best_of"`  // games of the series, or of the play-off: 1, 3, 5 or 7; 0: no play-off
	Seats    []SeatRequest `json:"seats"`
	PlayAt   string        `json:"play_at"` // "20:00", by the host's clock; "": at once
	// CoverHours is the time after which the bot acts for absent managers. A game that has not started is deleted
	// after seven days, so that it is less.
	CoverHours int     `json:"cover_hours"`
	Options    Options `json:"options"`
}

// A SeatRequest is a seat of a new league.
type SeatRequest struct {
	Team    string `json:"team"`
	Manager string `json:"manager"` // "me", "open" or "bot"
}

// Options are the options of each game of a league, see [protocol.Options].
type Options struct {
	DH             bool                `json:"dh"`
	Innings        int                 `json:"innings"`
	ExtraInnings   game.ExtraInnings   `json:"extra_innings"`
	TurnSeconds    int                 `json:"turn_seconds"`
	Announce       protocol.Announce   `json:"announce"`
	Visibility     protocol.Visibility `json:"visibility"` // of the league, too
	Mercy          game.Mercy          `json:"mercy"`
	Disengagements game.Disengagements `json:"disengagements"`
	BotLevel       int                 `json:"bot_level"`
}

// Limits of [Request].
const (
	MaxCoverHours     = 6 * 24
	defaultCoverHours = 48
)

// Defaults returns a request with the default options.
func Defaults(k Kind) Request {
	o := protocol.Defaults()
	r := Request{BestOf: 7, CoverHours: defaultCoverHours, Options: Options{
		DH: o.DH, Innings: o.Innings, ExtraInnings: o.ExtraInnings, TurnSeconds: o.TurnSeconds, Announce: o.Announce,
		Visibility: o.Visibility,
	}}
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
	all.DH, all.Innings, all.ExtraInnings, all.TurnSeconds = o.DH, o.Innings, o.ExtraInnings, o.TurnSeconds
	all.Announce, all.Visibility, all.Mercy, all.Disengagements, all.BotLevel = o.Announce, o.Visibility, o.Mercy,
		o.Disengagements, o.BotLevel
	return all
}

// Check returns everything that is wrong with the request.
func (r *Request) Check(k Kind) []game.Violation {
	var found []game.Violation
	wrong := func(path, code, format string, args ...any) {
		found = append(found,
			game.Violation{Path: path, Code: game.ViolationCode(code), Detail: fmt.Sprintf(format, args...)})
	}
	if n := utf8.RuneCountInString(strings.TrimSpace(r.Name)); n == 0 || n > season.MaxName ||
		strings.ContainsFunc(r.Name, unicode.IsControl) {
		wrong("/name", "out_of_range", "must have 1 to %d characters", season.MaxName)
	}
	if (r.Meetings == 0) != (k == Series) {
		wrong("/meetings", "out_of_range", "must be 1 to %d", season.MaxMeetings)
	} else if err := (season.Format{Meetings: r.Meetings, BestOf: r.BestOf}).Check(len(r.Seats)); err != nil {
		wrong("", "not_possible", "%v", err)
	}
	if _, ok := minuteOf(r.PlayAt); !ok && r.PlayAt != "" {
		wrong("/play_at", "invalid", "%.20q is not a time such as 20:00", r.PlayAt)
	}
	if r.CoverHours < 1 || r.CoverHours > MaxCoverHours {
		wrong("/cover_hours", "out_of_range", "must be 1 to %d", MaxCoverHours)
	}
	options := r.Options.game()
	return slices.Concat(found, r.checkSeats(), options.Check())
}

// checkSeats returns everything that is wrong with the seats.
func (r *Request) checkSeats() (found []game.Violation) {
	taken, own := map[string]bool{}, false
	for i, s := range r.Seats {
		wrong := func(name, code, detail string) {
			found = append(found, game.Violation{
				Path: fmt.Sprintf("/seats/%d/%s", i, name), Code: game.ViolationCode(code), Detail: detail,
			})
		}
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
