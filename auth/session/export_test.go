package session

import "pressbox/auth"

// Counters returns the number of entries in the largest table of a throttle.
func Counters(t *Throttle) (entries int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(len(t.names), len(t.networks), len(t.failures), len(t.known))
}

// Tables returns all tables.
func Tables() []auth.Table {
	return []auth.Table{
		tableFlow, tableFlowOrder, tableAccess, tableRefresh, tableSession, tableUser,
		tableIdentity, tableAPIToken, tableInvite, tableLocal, tableBoot, tableBootOrder,
	}
}
