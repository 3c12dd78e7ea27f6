package web_test

import (
	"testing"

	"pressbox/daemon/web"
)

func TestDecodeJSON_rules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"t":"a","d":{"n":1}}`:        true,
		" {\"t\":\"a\"}\n":             true,
		`{}`:                           true,
		``:                             false,
		`null`:                         false,
		`[]`:                           false,
		`{"t":"a"`:                     false,
		`{"t":"a"} {}`:                 false, // trailing data
		`{"t":"a","t":"a"}`:            false, // duplicate names
		`{"d":{"n":1,"n":1}}`:          false,
		`{"d":{"more":{"n":1,"n":2}}}`: false,
		`{"t":"a","u":1}`:              false, // unknown names
		`{"T":"a"}`:                    false,
		"{\"t\":\"\xff\"}":             false, // invalid UTF-8
		`{"t":"\ud800"}`:               false,
		`{"t":1}`:                      false,
		`{"t":"a",}`:                   false,
		`{'t':'a'}`:                    false,
		`{"t":"a","\u0074":"b"}`:       false,
		"\ufeff{}":                     false,
		`{"d":{"n":017}}`:              false,
	} {
		var v struct {
			Type string         `json:"t"`
			Data map[string]any `json:"d"`
		}
		if err := web.DecodeJSON([]byte(text), &v); (err == nil) != want {
			t.Errorf("DecodeJSON(%q): %v, want success: %v", text, err, want)
		}
	}
}
