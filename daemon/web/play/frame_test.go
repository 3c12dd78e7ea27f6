package play_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/daemon/web/play"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// A frame is decoded or refused with a documented code. A decoded one is an object that encoding/json decodes
// equally; it has a game, if its type needs one, and a command has an id.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"t":"join","g":"x","d":{"since":7}}`,
		`{"t":"cmd","g":"x","cid":"c","rev":3,"d":{"action":{"a":"offense","call":"swing","d":1}}}`,
		`{"t":"ping","d":{"ts":1.5e300,"lag":-0}}`, `{"t":"leave","g":"x"}`, `{"t":"sync","g":"x"}`,
		`{"t":"auth","d":{"token":"x"}}`,
		`{"t":"cmd","g":"x","cid":"c","d":{"action":{"a":"substitute","subs":[{"player_id":"p","slot":1,` +
			`"position":"QB"}]}}}`,
		`{"t":"cmd","g":"x","cid":"\u0000","d":{}}`, `{"T":"ping"}`, `{"t":"ping"}{`, `[]`, `null`, "\xff",
		`{"t":"join","g":"x","d":[]}`,
	} {
		f.Add([]byte(seed))
	}
	known := map[string]bool{"malformed": true, "unknown_type": true, "unknown_game": true}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, code := play.ParseFrame(text)
		if code != "" {
			check.Require(t, known[code], "unknown code %s", code)
			return
		}
		var want struct{ T, G, CID string }
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("decoded, but %v", err)
		}
		check.Require(t, got == (play.Request{Kind: want.T, Game: want.G, CID: want.CID}),
			"decoded %+v, want %+v", got, want)
		invalid := func(r rune) bool { return r < ' ' || r > '~' }
		if got.Kind != "ping" && got.Kind != "auth" && got.Game == "" || got.Kind == "cmd" && got.CID == "" ||
			len(got.Game) > 64 || len(got.CID) > 64 || strings.ContainsFunc(got.CID, invalid) {
			t.Fatalf("not refused: %s", text)
		}
	})
}

// The decoder and the documented schemas accept the same frames.
func TestParseFrame_matchesSchemas(t *testing.T) {
	t.Parallel()
	for _, row := range check.Table(t, "testdata/frames.txt") {
		frame, valid := strings.Replace(row[0], "LONG", strings.Repeat("x", 64), 1), row[1] == "true"
		_, code := play.ParseFrame([]byte(frame))
		check.That(t, (code == "") == valid, "%s: code %q, want valid %t", frame, code, valid)
		value := check.Must(jsonschema.UnmarshalJSON(strings.NewReader(frame)))(t)
		kind, _, _ := strings.Cut(strings.TrimPrefix(frame, `{"t":"`), `"`)
		check.Equal(t, webtest.FrameSchemas()(kind).Validate(value) == nil, valid, "%s: the schema has it valid", frame)
	}
}
