package session

import "pressbox/auth"

// Counters returns the number of entries in the largest table of a throttle, and
// of waiting clients in its longest line.
func Counters(t *Throttle) (entries, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.names {
		waiting = max(waiting, len(n.line.waiting))
	}
	return max(len(t.names), len(t.hosts), len(t.networks), len(t.guesses), len(t.known)), waiting
}

// Tables returns all tables.
func Tables() []auth.Table {
	return []auth.Table{
		tableFlow, tableFlowOrder, tableAccess, tableRefresh, tableSession, tableUser,
		tableIdentity, tableAPIToken, tableInvite, tableLocal, tableBoot, tableBootOrder,
	}
}
