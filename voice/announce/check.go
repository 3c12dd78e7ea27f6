package announce

// Check returns the notice that [Announcer.Announce] would keep for r, without
// its number and place, or the [*RequestError] that it would answer. It
// accepts nothing.
func (a *Announcer) Check(r Request) (Notice, error) { return a.check(r) }
