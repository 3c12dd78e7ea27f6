package pagetest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Clubs, rosters and figures are asked for with the season that the appliance
// names, which is 3 if nobody has said otherwise.
func TestTheSeasonIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		season   string
		settings []string
	}{{"3", nil}, {"2", []string{"DEFAULT_SEASON=2"}}} {
		t.Run(tt.season, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, newAppliance(t, tt.settings...))
			b.join("Anna")
			b.open("/new")
			b.await(`document.querySelectorAll(".clubs .hint").length === 2`) // of both rosters
			b.open("/standings")
			b.await(`document.querySelector("main .empty")`)
			b.open("/players")
			b.await(`document.querySelector("main .empty")`)
			seasons := value[[]string](b, `[...document.querySelectorAll("main select")].at(-1).innerText.split(/\s+/)`)
			if seasons[0] != tt.season || seasons[len(seasons)-1] != "1" {
				t.Errorf("the seasons %q can be chosen", seasons)
			}
			b.checkSeason(tt.season)
		})
	}
}

var ofASeason = regexp.MustCompile(`^/api/(teams|teams/[^/]+/roster|stats/standings|stats/players)(\?|$)`)

// checkSeason looks at all that was asked for.
func (b *tab) checkSeason(season string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	kinds := map[string]int{}
	for _, path := range b.asked {
		found := ofASeason.FindStringSubmatch(path)
		if found == nil {
			continue
		}
		kinds[strings.Split(found[1], "/")[len(strings.Split(found[1], "/"))-1]]++
		_, query, _ := strings.Cut(path, "?")
		if !slices.Contains(strings.Split(query, "&"), "season="+season) {
			b.t.Errorf("asked for %s, want season %s", path, season)
		}
	}
	for _, kind := range []string{"teams", "roster", "standings", "players"} {
		if kinds[kind] == 0 {
			b.t.Errorf("no %s were asked for: %q", kind, b.asked)
		}
	}
}
