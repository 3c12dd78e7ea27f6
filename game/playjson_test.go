package game_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"pressbox/game"
)

// On the wire and in the journal an enumeration is its name, flags are a list, and lists end with their last entry.
// Journals of version 1 hold numbers and lists of four.
func TestPlay_jsonVersions(t *testing.T) {
	t.Parallel()
	want := `{"kind":"strikeout","also":"wild pitch","flags":["sacrifice hit","foul","as ruled"],` +
		`"ball":{"contact":"bunt line drive","place":"2","force":"soft"},` +
		`"runs":[{},{"why":"picked off stealing"},{"to":"third","why":"wild pitch"},{"to":"home","why":"error","earned":"team only","rbi":"no"}],` +
		`"outs":[{"who":"batter","how":"strikeout","by":"2"},{"who":"first","at":"second","how":"tag out","by":"24"}],` +
		`"errors":[{"by":2,"kind":"throwing","who":"third","after":"1"}]}`
	for _, text := range []string{
		want,
		`{"kind":"strikeout","also":"wild pitch","flags":8209,"ball":{"contact":7,"place":"2","force":-1},` +
			`"runs":[{},{"why":4},{"to":3,"why":5},{"to":4,"why":7,"earned":3,"rbi":2}],` +
			`"outs":[{"who":0,"at":0,"how":1,"by":"2"},{"who":1,"at":2,"how":5,"by":"24"},{"who":0,"at":0,"how":0,"by":""},{"who":0,"at":0,"how":0,"by":""}],` +
			`"errors":[{"by":2,"kind":1,"who":3,"after":"1"},{"by":0,"who":0},{"by":0,"who":0},{"by":0,"who":0}]}`,
	} {
		var p game.Play
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if p.Outs[1] != (game.Out{Runner: game.First, At: game.Second, Kind: game.TagOut, Fielders: "24"}) {
			t.Errorf("%s\nis read as %+v", text, p)
		}
		if got, err := json.Marshal(p); err != nil || string(got) != want {
			t.Errorf("%s\nis written as %s, %v\nwant %s", text, got, err, want)
		}
	}
}

// Every value of an enumeration has a name of its own; the name and the number of version 1 read as the value.
func TestPlay_jsonNames(t *testing.T) {
	t.Parallel()
	checkNames[game.Base](t, 0, 1, 2, 3, 4)
	checkNames[game.AdvanceReason](t, 0, 1, 2, 3, 4, 5, 6, 7, 8)
	checkNames[game.Ruling](t, 0, 1, 2, 3)
	checkNames[game.OutKind](t, 0, 1, 2, 3, 4, 5, 6, 7)
	checkNames[game.ErrorKind](t, 0, 1)
	checkNames[game.Contact](t, 0, 1, 2, 3, 4, 5, 6, 7)
	checkNames[game.Strength](t, -1, 0, 1)
	checkNames[game.Flags](t, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
}

func checkNames[T comparable](t *testing.T, numbers ...int) {
	t.Helper()
	seen := map[string]bool{}
	for _, n := range numbers {
		var value, again T
		if err := json.Unmarshal([]byte(strconv.Itoa(n)), &value); err != nil {
			t.Errorf("%T: %d: %v", value, n, err)
		}
		name, err := json.Marshal(value)
		if err != nil || seen[string(name)] || strings.ContainsAny(string(name), "0123456789?") {
			t.Errorf("%T: %d is written as %s, %v; want a name of its own", value, n, name, err)
		}
		seen[string(name)] = true
		if err := json.Unmarshal(name, &again); err != nil || again != value {
			t.Errorf("%T: %s is read as %v, %v; want %v", value, name, again, err, value)
		}
	}
	for _, text := range []string{`"nonsense"`, `99999`, `-7`, `{}`, `1.5`} {
		var value T
		if err := json.Unmarshal([]byte(text), &value); err == nil {
			t.Errorf("%T: %s is read as %v, want an error", value, text, value)
		}
	}
}
