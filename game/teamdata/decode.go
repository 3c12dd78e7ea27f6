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
	"pressbox/game/chance"
	"pressbox/game/teams"
)

// maxText is the maximum number of characters of a name or an id.
const maxText = 80

// looseText is a JSON string or number as text, "" for other values. It has only printable characters.
type looseText string

// UnmarshalJSON accepts any value; it never fails.
func (w *looseText) UnmarshalJSON(raw []byte) error {
	*w = ""
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*w = looseText(clean(text))
		return nil
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		*w = looseText(formatNumber(n))
	}
	return nil
}

// formatNumber formats a whole number without a fraction: 12 for 12.0.
func formatNumber(n json.Number) string {
	if f, err := n.Float64(); err == nil && f > -1<<53 && f < 1<<53 && f == math.Trunc(f) {
		return strconv.FormatInt(int64(f), 10)
	}
	return clean(n.String())
}

// clean returns s as one line of at most maxText printable characters.
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
	chars := []rune(strings.Join(strings.Fields(s), " "))
	return strings.TrimSpace(string(chars[:min(len(chars), maxText)]))
}

// A teamRef is a player's team: an object in some responses, its id in others.
type teamRef struct{ id looseText }

// UnmarshalJSON accepts any value; it never fails.
func (t *teamRef) UnmarshalJSON(raw []byte) error {
	var object struct {
		ID looseText `json:"id"`
	}
	if json.Unmarshal(raw, &object) == nil {
		t.id = object.ID
		return nil
	}
	return t.id.UnmarshalJSON(raw)
}

// A personRef is the person of a player: an object or an id.
type personRef struct {
	First looseText `json:"first_name"`
	Last  looseText `json:"last_name"`
}

// UnmarshalJSON accepts any value; it never fails.
func (p *personRef) UnmarshalJSON(raw []byte) error {
	type object personRef
	var o object
	_ = json.Unmarshal(raw, &o)
	*p = personRef(o)
	return nil
}

// sbaTeam has the fields of the API's teams that are used.
type sbaTeam struct {
	ID        looseText `json:"id"`
	Season    looseText `json:"season"`
	Abbrev    looseText `json:"abbrev"`
	Short     looseText `json:"sname"`
	Long      looseText `json:"lname"`
	Color     looseText `json:"color"` // rrggbb
	Thumbnail looseText `json:"thumbnail"`
	Stadium   looseText `json:"stadium"` // its name, in some leagues the URL of a picture
}

// sbaPlayer has the fields of the API's players that are used. Bats, throws and number are an extension of some
// leagues.
type sbaPlayer struct {
	ID       looseText `json:"id"`
	Season   looseText `json:"season"`
	Name     looseText `json:"name"`
	Team     teamRef   `json:"team"`
	Person   personRef `json:"sbaplayer"`
	Headshot looseText `json:"headshot"`
	Bats     looseText `json:"bats"`
	Throws   looseText `json:"throws"`
	Number   looseText `json:"number"`
	Pos1     looseText `json:"pos_1"`
	Pos2     looseText `json:"pos_2"`
	Pos3     looseText `json:"pos_3"`
	Pos4     looseText `json:"pos_4"`
	Pos5     looseText `json:"pos_5"`
	Pos6     looseText `json:"pos_6"`
	Pos7     looseText `json:"pos_7"`
	Pos8     looseText `json:"pos_8"`
}

// decode decodes a response body. The error of an empty list is [teams.ErrUnknown].
func (r resource) decode(body []byte) (list, error) {
	entries, err := r.entries(body)
	if err != nil {
		return list{}, err
	}
	var a list
	if r.name == "teams" {
		a.teams, err = decodeEntries(entries, r.club, func(t teams.Team) string { return t.ID })
		slices.SortStableFunc(a.teams, func(x, y teams.Team) int { return cmp.Compare(x.Name, y.Name) })
	} else {
		a.players, err = decodeEntries(entries, r.player, func(p teams.Player) string { return string(p.ID) })
	}
	return a, err
}

// entries returns the list in {"count": …, "<name>": […]}.
func (r resource) entries(body []byte) ([]json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, fmt.Errorf("response is not an object with a list of %s", r.name)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(object[r.name], &entries); err != nil {
		return nil, fmt.Errorf("response has no list of %s", r.name)
	}
	if len(entries) == 0 {
		return nil, teams.ErrUnknown
	}
	return entries, nil
}

// decodeEntries decodes the valid entries, the first of each id.
func decodeEntries[S, T any](entries []json.RawMessage, read func(*S) (T, bool), id func(T) string) ([]T, error) {
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
		return nil, errors.New("response has no valid entry")
	}
	return picked, nil
}

// matches reports whether an entry's season or team is missing or the requested one.
func matches(got looseText, want string) bool { return got == "" || string(got) == want }

// club converts a team and reports whether it is a club of the season. The API lists farm teams and injured lists
// as teams, NYYMIL and NYYIL; a club's abbreviation has at most three letters.
func (r resource) club(t *sbaTeam) (teams.Team, bool) {
	season := strconv.Itoa(r.season)
	if t.Abbrev == "" || utf8.RuneCountInString(string(t.Abbrev)) > 3 || !matches(t.Season, season) {
		return teams.Team{}, false
	}
	team := teams.Team{
		ID: string(t.ID), Season: r.season, Abbrev: string(t.Abbrev), Name: string(cmp.Or(t.Long, t.Short, t.Abbrev)),
		ShortName: string(cmp.Or(t.Short, t.Long, t.Abbrev)), LogoURL: webURL(t.Thumbnail),
	}
	team.Color, team.TextColor = colors(t.Color)
	if webURL(t.Stadium) == "" {
		team.Park.Name = string(t.Stadium)
	}
	return team, true
}

// player converts a player and reports whether the player belongs to the season and team. A player without sides
// bats and throws right. The API has no ratings: everyone is average at the first position.
func (r resource) player(p *sbaPlayer) (teams.Player, bool) {
	name := cmp.Or(string(p.Name), clean(string(p.Person.First+" "+p.Person.Last)))
	if name == "" || !matches(p.Season, strconv.Itoa(r.season)) || !matches(p.Team.id, r.team) {
		return teams.Player{}, false
	}
	roles := positions(p.Pos1, p.Pos2, p.Pos3, p.Pos4, p.Pos5, p.Pos6, p.Pos7, p.Pos8)
	return teams.Player{
		Player: game.Player{
			ID: game.PlayerID(p.ID), Name: name, Number: string(p.Number), Bats: hand(p.Bats, "LRS"),
			Throws: hand(p.Throws, "LR"), Positions: roles,
		},
		ImageURL: webURL(p.Headshot), Rating: chance.PositionAverage(roles),
	}, true
}

func hand(w looseText, known string) game.Hand {
	h := strings.ToUpper(string(w))
	if len(h) != 1 || !strings.Contains(known, h) {
		return game.Right
	}
	return game.Hand(h)
}

// positions returns the roles of the API's positions in order, DH if none is known.
func positions(words ...looseText) []game.Role {
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

// rolesOf returns the roles of one position: CP is a relief pitcher, OF all outfield positions.
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

// pitchesAndHits reports whether the roles include pitching and other positions.
func pitchesAndHits(roles []game.Role) (pitches, hits bool) {
	for _, r := range roles {
		if r == "SP" || r == "RP" {
			pitches = true
		} else {
			hits = true
		}
	}
	return pitches, hits
}

// webURL returns an http or https URL, "" for any other value.
func webURL(w looseText) string {
	u, err := url.Parse(string(w))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return u.String()
}

// colors returns a color as #rrggbb and the color of text on it.
func colors(w looseText) (color, text string) {
	color = "#" + strings.ToLower(strings.TrimPrefix(string(w), "#"))
	if text = teams.TextColor(color); text == "" {
		return "", ""
	}
	return color, text
}
