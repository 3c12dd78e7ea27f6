package session

import "pressbox/auth"

// Counters returns how many names and addresses a throttle counts.
func Counters(t *Throttle) (names, addrs int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.names), len(t.addrs)
}

// Tables returns all tables.
func Tables() []auth.Table {
	return []auth.Table{
		tableFlow, tableFlowOrder, tableAccess, tableRefresh, tableSession, tableUser,
		tableIdentity, tableAPIToken, tableInvite, tableLocal, tableBoot, tableBootOrder,
	}
}
