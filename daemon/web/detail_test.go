package web_test

import (
	"strings"
	"testing"
)

// Of a body that is no JSON, the answer says where and why, and no more of it
// than that.
func TestWhyABodyIsNoJSON(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const one = "the body must be exactly one JSON object"
	for body, want := range map[string]string{
		``:                                      one,
		`[]`:                                    one,
		`{"message": "x"`:                       one + "; at byte 15: unexpected EOF",
		`{"message": "x", "message": "y"}`:      one + "; at byte 17: duplicate object member name",
		`{"message": "x"} x`:                    one + "; at byte 17: invalid character 'x' after top-level value",
		"{\"message\": \"\xff\"}":               one + "; at byte 13: invalid UTF-8",
		`{"x": "` + strings.Repeat("y", 50_000): one + "; at byte 50007: unexpected EOF",
	} {
		w := r.do(t, "POST", "/notify", body).want(400, "not_json")
		if got := w.field("detail"); got != want {
			t.Errorf("POST /notify %.40s: %s, want %s", body, got, want)
		}
	}
}
