package push

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/olebedev/when"
	"github.com/olebedev/when/rules/en"

	"pressbox/voice/announce"
)

// delayForms is what is expected of a delay.
const delayForms = "must be a duration such as 30m, 1h30m or 2 hours, seconds, a Unix time, or a time such as " +
	"tomorrow, 10am"

// firstTime is the smallest number that is a Unix time; smaller ones are seconds.
const firstTime = 1_000_000_000

// A delay is when a message is to be spoken: at a time, or in so many seconds.
type delay struct {
	at time.Time
	in int
}

// parseDelay reads a delay as ntfy does (its documentation, "Scheduled delivery"): the whole text or nothing. A time of
// day that has passed is that of tomorrow.
func parseDelay(text string, now time.Time) (d delay, ok bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= firstTime {
		return delay{at: time.Unix(n, 0)}, true
	}
	if duration, ok := parseDuration(text); ok {
		return delay{in: int(math.Ceil(duration.Seconds()))}, duration > 0 && duration <= announce.MaxAhead
	}
	english := when.New(nil)
	english.Add(en.All...)
	found, err := english.Parse(text, now)
	if err != nil || found == nil || found.Text != text {
		return delay{}, false
	}
	d.at = found.Time
	if clockTime.MatchString(text) && !d.at.After(now) {
		d.at = d.at.AddDate(0, 0, 1)
	}
	return d, d.at.After(now)
}

// clockTime matches a time of day without a day.
var clockTime = regexp.MustCompile(`(?i)^(at )?\d{1,2}(:\d{2})? *([ap]\.?m\.?)?$`)

// counted matches a number and a unit.
var counted = regexp.MustCompile(`^(\d+) *([A-Za-z]*)$`)

// parseDuration reads a duration of Go, or a number and a unit, by default seconds.
func parseDuration(text string) (time.Duration, bool) {
	if parts := counted.FindStringSubmatch(text); parts != nil {
		n, err := strconv.ParseInt(parts[1], 10, 64)
		unit := units(strings.ToLower(parts[2]))
		if err != nil || n > int64(2*announce.MaxAhead/time.Second) {
			return math.MaxInt64, unit > 0
		}
		return time.Duration(min(float64(n)*float64(unit), math.MaxInt64/2)), unit > 0
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// units returns a unit of time by its name; 0 if it is unknown.
func units(name string) time.Duration {
	switch name {
	case "", "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "h", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	case "w", "week", "weeks":
		return 7 * 24 * time.Hour
	}
	return 0
}
