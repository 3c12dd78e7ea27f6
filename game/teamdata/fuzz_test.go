package teamdata

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pressbox/game"
	"pressbox/game/chance"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

var (
	hexColor = regexp.MustCompile(`^(#[0-9a-f]{6})?$`)
	roles    = regexp.MustCompile(`^(SP|RP|C|[123]B|SS|[LCR]F|DH)$`)
)

// FuzzDecode checks that a decoded list has entries, each once, with an id, a name and known positions, of the
// requested season and team, and is the same after it was saved.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"count":1,"teams":[{"id":31,"season":3,"abbrev":"ZAP","lname":"Zephyrs","color":"a6ce39"}],` +
		`"players":[{"id":1,"name":"A","team":7,"pos_1":"SP"}]}`))
	f.Add([]byte(`{"teams":[{"id":"31","abbrev":"ÄÖÜ","color":"#FFFFFF","thumbnail":"//x"}],"players":[{"id":1e3,` +
		`"sbaplayer":{"last_name":"B"},"team":{"id":7},"pos_8":"OF"}]}`))
	f.Add([]byte(`{"teams":[7,null,{"id":null}],"players":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, r := range []resource{{name: "teams", season: 3}, {name: "players", season: 3, team: "7"}} {
			a, err := r.decode(body)
			if err != nil {
				continue
			}
			check.That(t, len(a.teams)+len(a.players) != 0, "a list without entries")
			seen := map[string]bool{}
			once := func(id, name string) {
				check.That(t, id != "" && name != "" && !seen[id] && shown(id) && shown(name),
					"id %q, name %q", id, name)
				seen[id] = true
			}
			for _, team := range a.teams {
				once(team.ID, team.Name)
				check.That(t, team.Season == 3 && utf8.RuneCountInString(team.Abbrev) <= 3 &&
					hexColor.MatchString(team.Color), "%+v", team)
			}
			for _, p := range a.players {
				once(string(p.ID), p.Name)
				checkPlayer(t, p)
			}
			again, err := r.decode(saved(t, body))
			check.That(t, err == nil && len(again.teams) == len(a.teams) && len(again.players) == len(a.players),
				"saved, it decodes to %+v, %v, want %+v", again, err, a)
		}
	})
}

func checkPlayer(t *testing.T, p teams.Player) {
	t.Helper()
	check.That(t, len(p.Positions) != 0 && p.Throws != game.Switch && p.Rating == chance.PositionAverage(p.Positions),
		"%+v", p)
	for _, role := range p.Positions {
		check.That(t, roles.MatchString(string(role)), "role %q", role)
	}
}

func shown(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxText && !strings.ContainsAny(s, "\n\x00\u202e")
}

// saved returns a body after it was in a cache entry.
func saved(t *testing.T, body []byte) []byte {
	t.Helper()
	raw := check.Must(json.Marshal(cacheEntry{Body: body}))(t)
	var rec cacheEntry
	check.NoError(t, json.Unmarshal(raw, &rec))
	return rec.Body
}

// FuzzCacheEntry checks that invalid entries do not break the client and no entry is used for another URL.
func FuzzCacheEntry(f *testing.F) {
	f.Add([]byte(`{"address":"a","fetched":"2026-01-02T03:04:05Z","fresh":60,"body":{"teams":[]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := Client{cache: fixed(raw)}
		rec, _, ok := c.cached(t.Context(), resource{name: "teams", season: 3, url: "a"})
		check.That(t, !ok || rec.URL == "a", "entry %+v", rec)
	})
}

func TestColors(t *testing.T) {
	t.Parallel()
	for sent, want := range map[looseText]string{
		"a6ce39": "#a6ce39 #000000", "#00205B": "#00205b #ffffff", "red": " ", "": " ",
	} {
		color, text := colors(sent)
		check.That(t, color+" "+text == want, "%q: %s on %s, want %s", sent, text, color, want)
	}
}

// fixed is a Cache with the same value for each key.
type fixed []byte

func (f fixed) TeamData(context.Context, string) ([]byte, error) { return f, nil }

func (f fixed) SaveTeamData(context.Context, string, []byte) error { return nil }
