package live

// InMemory returns how many games have a table in memory.
func (h *Games) InMemory() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.tables)
}

// Seasons returns how many seasons' statistics are remembered.
func (h *Games) Seasons() int {
	h.season.mu.Lock()
	defer h.season.mu.Unlock()
	return len(h.season.kept)
}
