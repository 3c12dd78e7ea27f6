package live

// InMemory returns how many games have a table in memory.
func (h *Hall) InMemory() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.tables)
}
