package clock

import "time"

// FirstAt returns the first instant at which the wall clock of a time zone
// shows the given minute of a day or a later time; 24·60 is the end of the day. For a time that
// a change of the zone's offset skips, that is the instant of the change; for a time that it
// repeats, the first.
func FirstAt(year int, month time.Month, day, minute int, zone *time.Location) time.Time {
	shown := time.Date(year, month, day, 0, minute, 0, 0, time.UTC)
	t := time.Date(year, month, day, 0, minute, 0, 0, zone)
	begin, end := t.ZoneBounds()
	switch face := wallFace(t); {
	case face.After(shown): // skipped, and t is in the new offset
		return begin
	case face.Before(shown): // skipped, and t is in the old one
		return end
	}
	if begin.IsZero() {
		return t
	}
	_, before := begin.Add(-1).Zone()
	_, now := t.Zone()
	if first := t.Add(time.Duration(now-before) * time.Second); first.Before(begin) {
		return first
	}
	return t
}

// wallFace returns what the wall clock shows at t, as a time in UTC.
func wallFace(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}
