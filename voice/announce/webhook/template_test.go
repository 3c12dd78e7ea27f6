package webhook_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pressbox/packaging/check"
	"pressbox/voice/announce/webhook"
)

// body holds what the templates of the tests read.
const body = `{
	"name": "Door", "open": true, "shut": false, "nothing": null, "count": 3, "level": 21.5, "big": 12345678901,
	"tags": ["hall", "north"], "numbers": [1, 2.5], "empty": [], "words": "%9999999d",
	"alerts": [{"name": "A", "items": [1, 2]}, {"name": "B", "items": [3]}], "labels": {"b": "2", "a": "1"}
}`

func TestTemplate_output(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, want string }{
		{"{{.name}} opened.", "Door opened."},
		{"\uFEFF{{/* a comment */}}\n {{- .name}}\n", "Door"},
		{"[{{.missing}}{{.nothing}}{{.nothing.deeper}}]", "[]"},
		{"{{.count}} {{.level}} {{.big}} {{1e6}} {{.open}}", "3 21.5 12345678901 1000000 true"},
		{"{{if .open}}open{{else}}shut{{end}}", "open"},
		{"{{if eq .count 3.0}}three{{end}} {{if gt .level 20}}warm{{end}} {{if lt .count 2.5}}few{{end}}", "three warm"},
		{"{{if eq .name `Gate` `Door`}}known{{end}}{{if ne .name `Gate`}}!{{end}}", "known!"},
		{"{{if and (ge .count 3) (le .count 3) (not .shut)}}yes{{end}}", "yes"},
		{"{{if eq .open true}}a{{end}}{{if eq .missing .nothing}}b{{end}}{{if eq .name .count}}c{{end}}", "ab"},
		{"{{range .tags}}{{.}} {{end}}", "hall north"},
		{"{{range $i, $t := .tags}}{{$i}}{{$t}} {{end}}", "0hall 1north"},
		{"{{range $k, $v := .labels}}{{$k}}={{$v}} {{end}}", "a=1 b=2"},
		{"{{range .empty}}x{{else}}none{{end}}{{range .missing}}x{{else}}none{{end}}", "nonenone"},
		{"{{range .alerts}}{{.name}}{{range .items}}{{.}}{{end}}{{end}}", "A12B3"},
		{"{{range .tags}}{{if eq . `hall`}}{{continue}}{{end}}{{.}}{{break}}{{end}}", "north"},
		{"{{$x := .alerts}}{{range $x}}{{.name}}{{end}}{{range $.tags}}{{.}}{{end}}", "ABhallnorth"},
		{"{{with index .alerts 0}}{{.name}}{{end}}{{(index .alerts 1).name}}", "AB"},
		{"{{join `, ` .tags}} {{join `-` .numbers}}{{join `-` .missing}}", "hall, north 1-2.5"},
		{"{{default `x` .missing}}{{.name | default `x`}}{{default `x` .empty}}", "xDoorx"},
		{"{{printf `%s %d %.1f %5s|%v` .name .count .level .name .open}}", "Door 3 21.5  Door|true"},
		{"{{printf `%100d` 1 | len}} {{printf `%.100s` .name}} {{printf `100%%`}} {{printf `[%s]` .missing}}", "100 Door 100% []"},
		{"{{slice .name 0 2}} {{len .tags}} {{index .labels `a`}} {{index .name 0}}", "Do 2 1 68"},
		{"{{json .labels}}", `{"a":"1","b":"2"}`},
		{"{{if .shut}}never{{end}}  \n ", ""},
	} {
		result, err := check.Must(webhook.ParseTemplate("t", tt.source))(t).Read([]byte(body))
		got := result.Fields["message"]
		if tt.source == "{{json .labels}}" && got == `{"b":"2","a":"1"}` {
			got = tt.want // members have no order
		}
		if err != nil || got != tt.want || (result.Fields == nil) != (tt.want == "") {
			t.Errorf("%s: %q, %v; want %q", tt.source, got, err, tt.want)
		}
	}
}

// A template whose text begins with a brace writes JSON; what a field contains
// never makes it one, or less of one.
func TestTemplate_json(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, body, want string }{
		{`{"message": {{json .m}}, "priority": {{.p}}}`, `{"m": "a \"b\" {", "p": 4}`, `map[message:a "b" { priority:4]`},
		{`{{if .p}} {{- /* not for tests */ -}} {"message": "x", "rate": 1.5, "a": null, "b": true, "repeat": {"times": 2}} {{end}}`, `{"p": 4}`, `map[b:true message:x rate:1.5 repeat:{"times": 2}]`},
		{`{{if .p}}{"message": "x"}{{end}}`, `{}`, `map[]`},
		{`{{with .p}}{{else}}x{{end}}{"message": "x"}`, `{"p": 1}`, `map[message:x]`},
		{`{{range .p}}{"message": {{json .}}}{{break}}{{end}}`, `{"p": ["y"]}`, `map[message:y]`},
		{`{{$x := .m}}{"message": {{json $x}}}`, `{"m": "z"}`, `map[message:z]`},
		{`{{.m}}`, `{"m": "{\"message\": \"x\", \"urgent\": true}"}`, `map[message:{"message": "x", "urgent": true}]`},
		{`{{.m}}{"a": 1}`, `{"m": ""}`, `map[message:{"a": 1}]`},
	} {
		result, err := check.Must(webhook.ParseTemplate("t", tt.source))(t).Read([]byte(tt.body))
		if got := fmt.Sprint(result.Fields); err != nil || got != tt.want {
			t.Errorf("%s of %s: %s, %v; want %s", tt.source, tt.body, got, err, tt.want)
		}
	}
	_, err := check.Must(webhook.ParseTemplate("t", `{"message": {{.m}}}`))(t).Read([]byte(`{"m": "x"}`))
	if err == nil || !strings.HasPrefix(err.Error(), "t: what the template writes is not a JSON object:") {
		t.Errorf("a template that writes wrong JSON: %v", err)
	}
}

// Every bound, at which a template is refused or stopped, with file and line.
func TestTemplate_bounds(t *testing.T) {
	t.Parallel()
	elements := func(n int) string { return `{"a": [` + strings.Repeat("1,", n-1) + "1], " }
	long := strings.Repeat("é", webhook.MaxOutput)
	for _, tt := range []struct{ source, body, want string }{ // want "" is accepted
		// The language.
		{"{{define `x`}}{{end}}", body, "t: define and block are not allowed"},
		{"{{define `t`}}{{.name}}{{end}}", body, "t: define and block are not allowed"},
		{"x{{define `t`}}y{{end}}", body, "t:1: template: multiple definition"},
		{"{{block `x` .}}{{end}}", body, "t: define and block are not allowed"},
		{"\n\n{{template `t` .}}", body, "t:3:11: template is not allowed"},
		{"{{if .open}}{{range .tags}}{{template `t`}}{{end}}{{end}}", body, "t:1:38: template is not allowed"},
		{"{{call .name}}", body, "t:1:2: the function call is not allowed"},
		{"{{$f := .name}}{{with call $f}}{{end}}", body, "t:1:22: the function call is not allowed"},
		{"{{if (len (html .name))}}{{end}}", body, "t:1:11: the function html is not allowed"},
		{"{{.name | js}}", body, "t:1:10: the function js is not allowed"},
		{"{{urlquery .name}}", body, "t:1:2: the function urlquery is not allowed"},
		{"{{print .}}", body, "t:1:2: the function print is not allowed"},
		{"{{println 1}}", body, "t:1:2: the function println is not allowed"},
		{"{{(call .name).x}}", body, "t:1:3: the function call is not allowed"},
		{"{{each .tags}}", body, `t:1: function "each" not defined`},
		{"{{text .name}}", body, `t:1: function "text" not defined`},
		{"{{env `HOME`}}", body, `t:1: function "env" not defined`},
		{"{{.name", body, "t:1: unclosed action"},
		{"\n{{if .name}}", body, "t:2: unexpected EOF"},
		{"{{break}}", body, "t:1: {{break}} outside {{range}}"},
		// Methods.
		{"{{.name.Len}}", body, "t:1:7: executing"},
		{"{{.count.String}}", body, "t:1:8: executing"},
		{"{{.Execute}}", body, ""},
		{"{{$.alerts.Len}}", body, "t:1:3: executing"},
		// Ranges.
		{"{{range 9999999}}x{{end}}", body, "t:1:8: range is allowed over fields of the body only"},
		{"{{range len .tags}}{{end}}", body, "t:1:8: range is allowed over fields of the body only"},
		{"{{range (len .tags)}}{{end}}", body, "t:1:8: range is allowed over fields of the body only"},
		{"{{range .tags | len}}{{end}}", body, "t:1:8: range is allowed over fields of the body only"},
		{"{{range `text`}}{{end}}", body, "t:1:8: range is allowed over fields of the body only"},
		{"{{range index .alerts 0}}{{end}}", body, "t:1:8: range is allowed over fields of the body only"},
		{"{{range (index .alerts 0).items}}{{end}}", body, "t:1:8: range is allowed over fields of the body only"},
		{"{{range .count}}{{end}}", body, "range over a number"},
		{"{{range .big}}{{end}}", body, "range over a number"},
		{"{{$n := 5}}{{range $n}}{{end}}", body, "range over a number"},
		{"{{range .name}}{{end}}", body, "range over a string"},
		{"{{range .open}}{{end}}", body, "range over true or false"},
		{"{{range .alerts}}{{range .items}}{{end}}{{end}}", body, ""},
		{"{{range .alerts}}{{range .items}}{{range $.tags}}{{end}}{{end}}{{end}}", body, "t:1:41: range is allowed inside one other range"},
		{"{{range .alerts}}{{else}}{{range .tags}}{{range .tags}}{{end}}{{end}}{{end}}", body, ""},
		{"{{range .alerts}}{{if .}}{{with .}}{{range .items}}{{if .}}{{range $.tags}}{{end}}{{end}}{{end}}{{end}}{{end}}{{end}}", body, "not deeper"},
		{"{{range .a}}{{end}}", elements(1000) + `"b": 1}`, ""},
		{"{{range .a}}{{end}}", elements(1001) + `"b": 1}`, "t:1:8: executing \"t\" at <each>: error calling each: range over more than 1000 elements"},
		{"{{range .a}}{{break}}{{end}}{{range .b}}{{end}}", elements(999) + `"b": [1]}`, ""},
		{"{{range .a}}{{range $.a}}{{end}}{{end}}", elements(31) + `"b": 1}`, ""},
		{"{{range .a}}{{range $.a}}{{end}}{{end}}", elements(32) + `"b": 1}`, "range over more than 1000 elements"},
		// Widths.
		{"{{printf `%100d` 1}}", body, ""},
		{"{{printf `%101d` 1}}", body, "width or precision 101 of printf is above 100"},
		{"{{printf `%9999999d` 1}}", body, "is above 100"},
		{"{{printf .words 1}}", body, "is above 100"},
		{"{{printf `%-0+ #999d` 1}}", body, "is above 100"},
		{"{{printf `%.101f` 1.0}}", body, "is above 100"},
		{"{{printf `%1.101f` 1.0}}", body, "is above 100"},
		{"{{printf `%99999999999999999999d` 1}}", body, "is above 100"},
		{"{{printf `%*d` 9999999 1}}", body, "printf takes no *"},
		{"{{printf `%.*f` 9999999 1.0}}", body, "printf takes no *"},
		{"{{printf `%[1]d` 1}}", body, "printf takes no *"},
		{"{{printf `%[2]*[1]d` 1 9999999}}", body, "printf takes no *"},
		{"{{printf `%d` .tags}}", body, "printf of a list"},
		{"{{printf `%v` .}}", body, "printf of an object"},
		{"{{printf `" + strings.Repeat("%d", 20) + "` " + strings.Repeat("1 ", 20) + "}}", body, ""},
		{"{{printf `" + strings.Repeat("%d", 21) + "` " + strings.Repeat("1 ", 21) + "}}", body, "printf of 21 values"},
		{"{{printf .a}}", `{"a": "` + strings.Repeat("x", 5001) + `"}`, "the format of printf has more than 5000 bytes"},
		// Output.
		{"{{.a}}", `{"a": "` + long + `"}`, ""},
		{"{{.a}}!", `{"a": "` + long + `"}`, "t: the template writes more than 5000"},
		{"{{printf `%s!` .a | len}}", `{"a": "` + long + `"}`, "writes more than 5000 characters"},
		{"{{$x := .a}}{{$x = printf `%s%s` $x $x}}{{$x = printf `%s%s` $x $x}}", `{"a": "` + long + `"}`, "writes more than 5000"},
		{"{{join .a .b | len}}", `{"a": "` + long + `", "b": [1, 2]}`, "writes more than 5000 characters"},
		{"{{json .a | len}}", `{"a": "` + long + `"}`, "writes more than 5000 characters"},
		{"{{if eq .a .a}}{{end}}", `{"a": "` + strings.Repeat(long, 3) + `"}`, "cannot compare strings of more than 20000 bytes"},
		{"{{.tags}}", body, "cannot write a list"},
		{"{{.}}", body, "cannot write an object"},
		{"{{1i}}", body, "cannot write a number"},
		{strings.Repeat("x", 16<<10), body, "more than 5000 characters"},
		{strings.Repeat("x", 16<<10+1), body, "t: the template has 16385 bytes, at most 16384 are allowed"},
		{"{{\xff}}", body, "t: the template is not UTF-8"},
		// Wrong values.
		{"{{index .tags 2}}", body, "index out of range"},
		{"{{index .tags .count .count}}", body, "index out of range"},
		{"{{index .name .name}}", body, "cannot index slice/array with type string"},
		{"{{index .missing 1}}", body, "index of untyped nil"},
		{"{{slice .name 3 99}}", body, "index out of range: 99"},
		{"{{len .count}}", body, "len of type int64"},
		{"{{join `,` .name}}", body, "cannot join a string"},
		{"{{join `,` .alerts}}", body, "cannot write an object"},
		{"{{gt .name 1}}", body, "cannot compare a string with a number"},
		{"{{lt .missing 1}}", body, "cannot compare a missing field with a number"},
		{"{{eq .tags .tags}}", body, "cannot compare a list"},
		{"\n\n  {{.name.deeper}}", body, "t:3:9: executing"},
	} {
		began := time.Now()
		parsed, err := webhook.ParseTemplate("t", tt.source)
		if err == nil {
			_, err = parsed.Read([]byte(tt.body))
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%.100s: %v", tt.source, took)
		}
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "t:")) {
			t.Errorf("%.100s: error %v, want %q", tt.source, err, tt.want)
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for _, source := range []string{
		"{{.name}} {{range .tags}}{{.}}{{end}}", "{{printf `%5.2f` .level}}", `{"message": {{json .name}}}`,
		"{{range $i, $a := .alerts}}{{range $a.items}}{{$i}}{{.}}{{else}}-{{end}}{{end}}", "{{with index .alerts 0}}{{default 1 .x}}{{end}}",
		"{{if and (gt .count 2) (ne .name `x`)}}{{join `,` .tags}}{{else if .open}}{{slice .name 1}}{{end}}", "{{printf .words 1}}",
	} {
		f.Add(source, body)
	}
	f.Fuzz(func(t *testing.T, source, body string) {
		parsed, err := webhook.ParseTemplate("t", source)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "t:") {
				t.Fatalf("an error without the name: %v", err)
			}
			return
		}
		result, err := parsed.Read([]byte(body))
		if err != nil && result.Fields != nil {
			t.Fatalf("fields with an error: %v", err)
		}
		if message := result.Fields["message"]; utf8.RuneCountInString(message) > webhook.MaxOutput {
			t.Fatalf("%d characters", utf8.RuneCountInString(message))
		}
	})
}
