package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pressbox/daemon/web"
)

// Whatever a client sends, it is taken or refused with a code that is
// documented; what is taken is an object as encoding/json knows it, with a
// game, and a command has an id.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"t":"join","g":"x","d":{"since":7}}`, `{"t":"cmd","g":"x","cid":"c","rev":3,"d":{"action":{"a":"offence","call":"swing","d":1}}}`,
		`{"t":"ping","d":{"ts":1.5e300,"lag":-0}}`, `{"t":"leave","g":"x"}`, `{"t":"sync","g":"x"}`, `{"t":"auth","d":{"token":"x"}}`,
		`{"t":"cmd","g":"x","cid":"c","d":{"action":{"a":"substitute","subs":[{"player_id":"p","slot":1,"position":"QB"}]}}}`,
		`{"t":"cmd","g":"x","cid":"\u0000","d":{}}`, `{"T":"ping"}`, `{"t":"ping"}{`, `[]`, `null`, "\xff", `{"t":"join","g":"x","d":[]}`,
	} {
		f.Add([]byte(seed))
	}
	known := map[string]bool{"malformed": true, "unknown_type": true, "unknown_game": true}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, code := web.ParseFrame(text)
		if code != "" {
			if !known[code] {
				t.Fatalf("refused with %s", code)
			}
			return
		}
		var want struct {
			T   string
			G   string
			CID string
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("taken, but %v", err)
		}
		if got != (web.Request{Kind: want.T, Game: want.G, CID: want.CID}) {
			t.Fatalf("read %+v, want %+v", got, want)
		}
		odd := func(r rune) bool { return r < ' ' || r > '~' }
		if got.Kind != "ping" && got.Game == "" || got.Kind == "cmd" && got.CID == "" ||
			len(got.Game) > 64 || len(got.CID) > 64 || strings.ContainsFunc(got.CID, odd) {
			t.Fatalf("taken: %s", text)
		}
	})
}
