package game_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pressbox/game"
)

// fullPlay returns a play that uses every enumeration.
func fullPlay() game.Play {
	return game.Play{
		Kind:  game.Strikeout,
		Also:  game.WildPitch,
		Flags: game.SacrificeHit | game.Foul | game.AsRuled,
		Ball:  game.BattedBall{Contact: game.BuntLineDrive, Location: "2", Strength: game.Soft},
		Advances: [4]game.Advance{
			1: {Reason: game.PickedOffStealing},
			2: {To: game.Third, Reason: game.OnWildPitch},
			3: {To: game.HomePlate, Reason: game.OnError, Earned: game.TeamOnly, RBI: game.No},
		},
		Outs: game.Outs{
			{Kind: game.StruckOut, Fielders: "2"},
			{Runner: game.First, At: game.Second, Kind: game.TagOut, Fielders: "24"},
		},
		Errors: game.Errors{{Fielder: 2, Kind: game.ThrowingError, Runner: game.Third, Assists: "1"}},
	}
}

// On the wire and in the journal an enumeration is its name, flags are a list, and lists end with their last entry.
func TestPlay_JSONNames(t *testing.T) {
	t.Parallel()
	want := `{"kind":"strikeout","also":"wild pitch","flags":["sacrifice hit","foul","as ruled"],` +
		`"ball":{"contact":"bunt line drive","place":"2","force":"soft"},` +
		`"runs":[{},{"why":"picked off stealing"},{"to":"third","why":"wild pitch"},{"to":"home","why":"error","earned":"team only","rbi":"no"}],` +
		`"outs":[{"who":"batter","how":"strikeout","by":"2"},{"who":"first","at":"second","how":"tag out","by":"24"}],` +
		`"errors":[{"by":2,"kind":"throwing","who":"third","after":"1"}]}`
	text, err := json.Marshal(fullPlay())
	if err != nil || string(text) != want {
		t.Errorf("got  %s, %v\nwant %s", text, err, want)
	}
	var p game.Play
	if err := json.Unmarshal(text, &p); err != nil || p != fullPlay() {
		t.Errorf("%s\nis read as %+v, %v", text, p, err)
	}
}

// Journals of version 1 hold numbers and lists of four.
func TestPlay_JSONVersion1(t *testing.T) {
	t.Parallel()
	var p game.Play
	if err := json.Unmarshal([]byte(`{"kind":"strikeout","also":"wild pitch","flags":8209,"ball":{"contact":7,"place":"2","force":-1},`+
		`"runs":[{},{"why":4},{"to":3,"why":5},{"to":4,"why":7,"earned":3,"rbi":2}],`+
		`"outs":[{"who":0,"at":0,"how":1,"by":"2"},{"who":1,"at":2,"how":5,"by":"24"},{"who":0,"at":0,"how":0,"by":""},{"who":0,"at":0,"how":0,"by":""}],`+
		`"errors":[{"by":2,"kind":1,"who":3,"after":"1"},{"by":0,"who":0},{"by":0,"who":0},{"by":0,"who":0}]}`), &p); err != nil || p != fullPlay() {
		t.Errorf("read %+v, %v", p, err)
	}
}

// Every value of an enumeration is written as a name of its own, and its name and its number read back.
func TestEnumerations_namesAndNumbers(t *testing.T) {
	t.Parallel()
	all := func(n int, of func(int) any) []any {
		var values []any
		for i := range n {
			values = append(values, of(i))
		}
		return values
	}
	for name, values := range map[string][]any{
		"Base":          all(5, func(i int) any { return game.Base(i) }),
		"AdvanceReason": all(9, func(i int) any { return game.AdvanceReason(i) }),
		"Ruling":        all(4, func(i int) any { return game.Ruling(i) }),
		"OutKind":       all(8, func(i int) any { return game.OutKind(i) }),
		"ErrorKind":     all(2, func(i int) any { return game.ErrorKind(i) }),
		"Contact":       all(8, func(i int) any { return game.Contact(i) }),
		"Strength":      all(3, func(i int) any { return game.Strength(i - 1) }),
		"Flags":         all(14, func(i int) any { return game.Flags(1 << i) }),
	} {
		seen := map[string]bool{}
		for _, v := range values {
			text, err := json.Marshal(v)
			if err != nil || seen[string(text)] || strings.ContainsAny(string(text), "0123456789?") {
				t.Errorf("%s: %s, %v; want a name of its own", name, text, err)
			}
			seen[string(text)] = true
			number, err := json.Marshal(reflect.ValueOf(v).Convert(numberOf(v)).Interface())
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range [][]byte{text, number} {
				read := reflect.New(reflect.TypeOf(v))
				if err := json.Unmarshal(text, read.Interface()); err != nil || read.Elem().Interface() != v {
					t.Errorf("%s: %s is read as %v, %v", name, text, read.Elem(), err)
				}
			}
		}
		for _, text := range []string{`"nonsense"`, `99999`, `-7`, `{}`, `1.5`} {
			if err := json.Unmarshal([]byte(text), reflect.New(reflect.TypeOf(values[0])).Interface()); err == nil {
				t.Errorf("%s: %s is accepted", name, text)
			}
		}
	}
}

// numberOf returns the integer type without methods that an enumeration is made of.
func numberOf(v any) reflect.Type {
	if reflect.TypeOf(v).Kind() == reflect.Int8 {
		return reflect.TypeFor[int8]()
	}
	return reflect.TypeFor[uint16]()
}
