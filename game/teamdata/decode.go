package teamdata

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/game"
	"pressbox/game/teams"
)

// longest is how many letters of a name or an id are taken.
const longest = 80

// A word is a text that may also have been sent as a number, and is "" for anything else. Nothing in it is unprintable.
type word string

// UnmarshalJSON takes whatever there is; it never fails.
func (w *word) UnmarshalJSON(raw []byte) error {
	*w = ""
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*w = word(clean(text))
		return nil
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		*w = word(plain(n))
	}
	return nil
}

// plain writes a whole number as people do, 12 for 12.0.
func plain(n json.Number) string {
	if f, err := n.Float64(); err == nil && f > -1<<53 && f < 1<<53 && f == math.Trunc(f) {
		return strconv.FormatInt(int64(f), 10)
	}
	return clean(n.String())
}

// clean makes a stranger's text fit to be shown: one line of printable letters, none too many.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r), r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
	letters := []rune(strings.Join(strings.Fields(s), " "))
	return strings.TrimSpace(string(letters[:min(len(letters), longest)]))
}

// A team that another thing belongs to is an object on some of the API's pages and its id on others.
type teamRef struct{ id word }

// UnmarshalJSON takes whatever there is; it never fails.
func (t *teamRef) UnmarshalJSON(raw []byte) error {
	var object struct {
		ID word `json:"id"`
	}
	if json.Unmarshal(raw, &object) == nil {
		t.id = object.ID
		return nil
	}
	return t.id.UnmarshalJSON(raw)
}

// A personRef is a player behind his season: an object, or his id.
type personRef struct {
	First word `json:"first_name"`
	Last  word `json:"last_name"`
}

// UnmarshalJSON takes whatever there is; it never fails.
func (p *personRef) UnmarshalJSON(raw []byte) error {
	type object personRef
	var o object
	_ = json.Unmarshal(raw, &o)
	*p = personRef(o)
	return nil
}

// sbaTeam is a team as the API sends it, without what we do not use.
type sbaTeam struct {
	ID        word `json:"id"`
	Season    word `json:"season"`
	Abbrev    word `json:"abbrev"`
	Short     word `json:"sname"`
	Long      word `json:"lname"`
	Color     word `json:"color"` // rrggbb
	Thumbnail word `json:"thumbnail"`
	Stadium   word `json:"stadium"` // its name; a picture's address in some leagues
}

// sbaPlayer is a player as the API sends him, without what we do not use. Hands and number are not in its shape; some
// leagues add them.
type sbaPlayer struct {
	ID       word      `json:"id"`
	Season   word      `json:"season"`
	Name     word      `json:"name"`
	Team     teamRef   `json:"team"`
	Person   personRef `json:"sbaplayer"`
	Headshot word      `json:"headshot"`
	Bats     word      `json:"bats"`
	Throws   word      `json:"throws"`
	Number   word      `json:"number"`
	Pos1     word      `json:"pos_1"`
	Pos2     word      `json:"pos_2"`
	Pos3     word      `json:"pos_3"`
	Pos4     word      `json:"pos_4"`
	Pos5     word      `json:"pos_5"`
	Pos6     word      `json:"pos_6"`
	Pos7     word      `json:"pos_7"`
	Pos8     word      `json:"pos_8"`
}

// decode reads an answer's body. An empty list is [teams.ErrUnknown].
func (r resource) decode(body []byte) (answer, error) {
	entries, err := r.entries(body)
	if err != nil {
		return answer{}, err
	}
	var a answer
	if r.name == "teams" {
		a.teams, err = pick(entries, r.club, func(t teams.Team) string { return t.ID })
		slices.SortStableFunc(a.teams, func(x, y teams.Team) int { return cmp.Compare(x.Name, y.Name) })
	} else {
		a.players, err = pick(entries, r.player, func(p teams.Player) string { return string(p.ID) })
	}
	return a, err
}

// entries returns the list in {"count": …, "<name>": […]}.
func (r resource) entries(body []byte) ([]json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, fmt.Errorf("the answer is no list of %s", r.name)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(object[r.name], &entries); err != nil {
		return nil, fmt.Errorf("the answer has no list of %s", r.name)
	}
	if len(entries) == 0 {
		return nil, teams.ErrUnknown
	}
	return entries, nil
}

// pick reads the entries that are of use, the first of each id.
func pick[S, T any](entries []json.RawMessage, read func(*S) (T, bool), id func(T) string) ([]T, error) {
	var picked []T
	seen := map[string]bool{"": true}
	for _, raw := range entries {
		var sent S
		if json.Unmarshal(raw, &sent) != nil {
			continue
		}
		if t, ok := read(&sent); ok && !seen[id(t)] {
			seen[id(t)] = true
			picked = append(picked, t)
		}
	}
	if picked == nil {
		return nil, errors.New("nothing in the answer is of use")
	}
	return picked, nil
}

// belongs says whether an entry that names a season or a team, or does not, may be in the answer.
func belongs(said word, want string) bool { return said == "" || string(said) == want }

// club reads a team, unless it is none of the season's clubs. The API counts farm clubs and injured lists among the
// teams, NYYMIL and NYYIL; a club's abbreviation has three letters at most.
func (r resource) club(t *sbaTeam) (teams.Team, bool) {
	season := strconv.Itoa(r.season)
	if t.Abbrev == "" || utf8.RuneCountInString(string(t.Abbrev)) > 3 || !belongs(t.Season, season) {
		return teams.Team{}, false
	}
	team := teams.Team{
		ID: string(t.ID), Season: r.season, Abbrev: string(t.Abbrev),
		Name:      string(cmp.Or(t.Long, t.Short, t.Abbrev)),
		ShortName: string(cmp.Or(t.Short, t.Long, t.Abbrev)),
		LogoURL:   link(t.Thumbnail),
	}
	team.Color, team.TextColor = colors(t.Color)
	if link(t.Stadium) == "" {
		team.Park.Name = string(t.Stadium)
	}
	return team, true
}

// player reads a player, unless he is somebody else's. Who is not said to be left-handed is right-handed, as most are.
func (r resource) player(p *sbaPlayer) (teams.Player, bool) {
	name := cmp.Or(string(p.Name), clean(string(p.Person.First+" "+p.Person.Last)))
	if name == "" || !belongs(p.Season, strconv.Itoa(r.season)) || !belongs(p.Team.id, r.team) {
		return teams.Player{}, false
	}
	return teams.Player{
		Player: game.Player{
			ID: game.PlayerID(p.ID), Name: name, Number: string(p.Number),
			Bats: hand(p.Bats, "LRS"), Throws: hand(p.Throws, "LR"),
			Positions: positions(p.Pos1, p.Pos2, p.Pos3, p.Pos4, p.Pos5, p.Pos6, p.Pos7, p.Pos8),
		},
		ImageURL: link(p.Headshot),
	}, true
}

func hand(w word, known string) game.Hand {
	h := strings.ToUpper(string(w))
	if len(h) != 1 || !strings.Contains(known, h) {
		return game.Right
	}
	return game.Hand(h)
}

// positions returns the roles that the API's words stand for, in their order. Who has none that is known may hit.
func positions(words ...word) []game.Role {
	var roles []game.Role
	for _, w := range words {
		for _, role := range rolesOf(strings.ToUpper(string(w))) {
			if !slices.Contains(roles, role) {
				roles = append(roles, role)
			}
		}
	}
	if roles == nil {
		return []game.Role{"DH"}
	}
	return roles
}

// rolesOf returns what a single word stands for: a closer relieves, and an outfielder plays all three fields.
func rolesOf(w string) []game.Role {
	switch w {
	case "SP", "RP", "C", "1B", "2B", "3B", "SS", "LF", "CF", "RF", "DH":
		return []game.Role{game.Role(w)}
	case "P":
		return []game.Role{"SP", "RP"}
	case "CP":
		return []game.Role{"RP"}
	case "OF":
		return []game.Role{"LF", "CF", "RF"}
	}
	return nil
}

// duties says whether somebody with these roles pitches, and whether he does anything else.
func duties(roles []game.Role) (pitches, hits bool) {
	for _, r := range roles {
		if r == "SP" || r == "RP" {
			pitches = true
		} else {
			hits = true
		}
	}
	return pitches, hits
}

// link returns a web address, "" for anything else.
func link(w word) string {
	u, err := url.Parse(string(w))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return u.String()
}

// colors returns a color as #rrggbb and black or white, whichever can be read on it (WCAG 2.2, relative luminance).
func colors(w word) (color, text string) {
	hex := strings.ToLower(strings.TrimPrefix(string(w), "#"))
	rgb, err := strconv.ParseUint(hex, 16, 24)
	if err != nil || len(hex) != 6 {
		return "", ""
	}
	light := .2126*linear(rgb>>16) + .7152*linear(rgb>>8&255) + .0722*linear(rgb&255)
	if (light+.05)/.05 > 1.05/(light+.05) {
		return "#" + hex, "#000000"
	}
	return "#" + hex, "#ffffff"
}

// linear undoes the gamma of one of a color's channels, 0–255.
func linear(channel uint64) float64 {
	c := float64(channel) / 255
	if c <= .04045 {
		return c / 12.92
	}
	return math.Pow((c+.055)/1.055, 2.4)
}
