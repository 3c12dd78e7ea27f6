package game_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/packaging/check"
)

// On the wire and in the journal an enumeration is its name, flags are a list, and lists end with their last entry.
func TestPlay_json(t *testing.T) {
	t.Parallel()
	const text = `{"kind":"strikeout","also":"wild pitch","flags":["sacrifice hit","foul","as ruled"],` +
		`"ball":{"contact":"bunt line drive","place":"2","force":"soft"},` +
		`"runs":[{},{"why":"picked off stealing"},{"to":"third","why":"wild pitch"},` +
		`{"to":"home","why":"error","earned":"team only","rbi":"no"}],` +
		`"outs":[{"who":"batter","how":"strikeout","by":"2"},{"who":"first","at":"second","how":"tag out",` +
		`"by":"24"}],` +
		`"errors":[{"by":2,"kind":"throwing","who":"third","after":"1"}]}`
	var p game.Play
	check.NoError(t, json.Unmarshal([]byte(text), &p))
	check.That(t, p.Outs[1] == (game.Out{Runner: game.First, At: game.Second, Kind: game.TagOut, Fielders: "24"}),
		"read as %+v", p)
	got, err := json.Marshal(p)
	check.That(t, err == nil && string(got) == text, "%s\nis written as %s, %v", text, got, err)
}

// Every value of an enumeration has a name of its own, which is read as the value; nothing else is read.
func TestPlay_jsonNames(t *testing.T) {
	t.Parallel()
	checkNames(t, upTo(game.HomePlate)...)
	checkNames(t, upTo(game.OnThrow)...)
	checkNames(t, upTo(game.TeamOnly)...)
	checkNames(t, upTo(game.CalledOut)...)
	checkNames(t, upTo(game.ThrowingError)...)
	checkNames(t, upTo(game.BuntLineDrive)...)
	checkNames(t, game.Soft, game.Unmarked, game.Hard)
	flags := []game.Flags{0}
	for f := game.SacrificeHit; f <= game.AsRuled; f <<= 1 {
		flags = append(flags, f)
	}
	checkNames(t, flags...)
}

// upTo returns the values of an enumeration up to the last.
func upTo[T ~uint8](last T) (all []T) {
	for v := T(0); v <= last; v++ {
		all = append(all, v)
	}
	return all
}

func checkNames[T comparable](t *testing.T, values ...T) {
	t.Helper()
	seen := map[string]bool{}
	for _, v := range values {
		name, err := json.Marshal(v)
		check.That(t, err == nil && !seen[string(name)] && !strings.ContainsAny(string(name), "0123456789?"),
			"%T: %v is written as %s, %v; want a name of its own", v, v, name, err)
		seen[string(name)] = true
		var again T
		err = json.Unmarshal(name, &again)
		check.That(t, err == nil && again == v, "%T: %s is read as %v, %v", v, name, again, err)
	}
	for _, text := range []string{`"nonsense"`, `["nonsense"]`, `1`, `{}`} {
		if value := values[0]; json.Unmarshal([]byte(text), &value) == nil {
			t.Errorf("%T: %s is read as %v, want an error", value, text, value)
		}
	}
}
