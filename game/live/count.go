package live

// Counts returns how many games there are of each status, whoever may see them.
func (h *Games) Counts() map[Status]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	counts := map[Status]int{Pending: 0, Active: 0, Finished: 0}
	for _, head := range h.heads {
		counts[head.Game.Status]++
	}
	return counts
}
