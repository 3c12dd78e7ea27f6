package session

// Counters returns how many names and addresses a throttle counts.
func Counters(t *Throttle) (names, addrs int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.names), len(t.addrs)
}
