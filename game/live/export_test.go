package live

// InMemory returns the number of matches in memory.
func (g *Games) InMemory() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.loaded)
}

// Seasons returns the number of seasons whose statistics are cached.
func (g *Games) Seasons() int {
	g.season.mu.Lock()
	defer g.season.mu.Unlock()
	return len(g.season.bySeason)
}
