package webhook_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pressbox/packaging/check"
	"pressbox/voice/announce/webhook"
)

// body holds what the templates of the tests read.
const body = `{
	"name": "Door", "open": true, "shut": false, "nothing": null, "count": 3, "level": 21.5, "big": 12345678901,
	"large": 1234567.5, "tags": ["hall", "north"], "numbers": [1, 2.5], "empty": [], "labels": {"b": "2", "a": "1"},
	"alerts": [{"name": "A", "items": [1, 2]}, {"name": "B", "items": [3]}]
}`

// outputs are templates, and what they make of the body.
func outputs() [][2]string {
	return [][2]string{
		{"{{.name}} opened.", "Door opened."},
		{"\uFEFF{{/* a comment */}}\n {{- .name}}\n", "Door"},
		{"[{{.missing}}{{.nothing}}{{.nothing.deeper}}]", "[]"},
		{"{{.count}} {{.level}} {{.big}} {{.large}} {{.open}}", "3 21.5 12345678901 1234567.5 true"},
		{"{{if .open}}open{{else}}shut{{end}}", "open"},
		{
			"{{if eq .count 3.0}}three{{end}} {{if gt .level 20}}warm{{end}} {{if lt .count 2.5}}few{{end}}",
			"three warm",
		},
		{"{{if eq .name `Gate` `Door`}}known{{end}}{{if ne .name `Gate`}}!{{end}}", "known!"},
		{"{{if and (ge .count 3) (le .count 3) (not .shut)}}yes{{end}}{{if lt .name `E`}}!{{end}}", "yes!"},
		{"{{if eq .open true}}a{{end}}{{if eq .missing .nothing}}b{{end}}{{if eq .name .count}}c{{end}}", "ab"},
		{"{{range $i, $t := .tags}}{{$i}}{{$t}} {{end}}", "0hall 1north"},
		{"{{range $k, $v := .labels}}{{$k}}={{$v}} {{end}}", "a=1 b=2"},
		{"{{range .empty}}x{{else}}none{{end}}{{range .missing}}x{{else}}none{{end}}", "nonenone"},
		{"{{range .alerts}}{{.name}}{{range .items}}{{.}}{{end}}{{end}}", "A12B3"},
		{"{{with index .alerts 0}}{{.name}}{{end}}{{(index .alerts 1).name}}", "AB"},
		{"{{join `, ` .tags}} {{join `-` .numbers}}{{join `-` .missing}}", "hall, north 1-2.5"},
		{"{{default `x` .missing}}{{.name | default `x`}}{{default `x` .empty}}", "xDoorx"},
		{"{{printf `%s %d %.1f %5s|%v` .name .count .level .name .large}}", "Door 3 21.5  Door|1234567.5"},
		{"{{slice .name 0 2}} {{if gt (len .tags) 1}}{{index .labels `a`}}{{end}}", "Do 1"},
		{"{{json .alerts}} {{json .level}}", `[{"name":"A","items":[1,2]},{"name":"B","items":[3]}] 21.5`},
		{"{{define `who`}}{{.name}}{{end}}{{template `who` .}}", "Door"},
		{"{{if .shut}}never{{end}}  \n ", ""},
	}
}

func TestTemplate_output(t *testing.T) {
	t.Parallel()
	for _, tt := range outputs() {
		result, err := check.Must(webhook.ParseTemplate("t", tt[0]))(t).Read([]byte(body))
		got := strings.ReplaceAll(result.Fields["message"], `"items":[1,2],"name":"A"`, `"name":"A","items":[1,2]`)
		got = strings.ReplaceAll(got, `"items":[3],"name":"B"`, `"name":"B","items":[3]`) // members have no order
		if err != nil || got != tt[1] || (result.Fields == nil) != (tt[1] == "") {
			t.Errorf("%s: %q, %v; want %q", tt[0], got, err, tt[1])
		}
	}
}

// A template whose text begins with a brace writes JSON; what a field contains never makes it one, or less of
// one.
func TestTemplate_json(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, body, want string }{
		{`{"message": {{json .m}}, "rate": {{.p}}}`, `{"m": "a \"b\" {", "p": 4}`, `map[message:a "b" { rate:4]`},
		{
			`{{if .p}} {{- /* a } */ -}} {"message": "x", "rate": 1.5, "a": null, "b": true, "repeat": {"times": ` +
				`2}}{{end}}`,
			`{"p": 4}`,
			`map[b:true message:x rate:1.5 repeat:{"times": 2}]`,
		},
		{`{{if .p}}{"message": "x"}{{end}}`, `{}`, `map[]`},
		{`{{range .p}}{"message": {{json .}}}{{break}}{{end}}`, `{"p": ["y"]}`, `map[message:y]`},
		{`{{.m}}`, `{"m": "{\"message\": \"x\"}"}`, `map[message:{"message": "x"}]`},
	} {
		result, err := check.Must(webhook.ParseTemplate("t", tt.source))(t).Read([]byte(tt.body))
		got := fmt.Sprint(result.Fields)
		check.That(t, err == nil && got == tt.want, "%s of %s: %s, %v; want %s", tt.source, tt.body, got, err, tt.want)
	}
}

// A message is cut after a sentence, or a word; a template that writes more than 20 kB is stopped.
func TestTemplate_long(t *testing.T) {
	t.Parallel()
	const sentence = "Es läutet. "
	whole := strings.TrimSpace(strings.Repeat(sentence, webhook.MaxOutput/11))
	for _, tt := range []struct{ source, field, want string }{
		{"{{.a}}", strings.Repeat("é", webhook.MaxOutput), strings.Repeat("é", webhook.MaxOutput)},
		{"{{.a}}", strings.Repeat("é", webhook.MaxOutput+1), strings.Repeat("é", webhook.MaxOutput-1) + "…"},
		{"{{.a}}", strings.Repeat("word ", 5000), strings.Repeat("word ", webhook.MaxOutput/5-2) + "word…"},
		{"{{.a}}", strings.Repeat(sentence, 1000), whole},
		{`{"message": {{json .a}}}`, strings.Repeat(sentence, 1000), whole},
		{"{{range $}}{{range $}}{{$.a}}{{end}}{{end}}", strings.Repeat(sentence, 10_000), whole},
	} {
		parsed := check.Must(webhook.ParseTemplate("t", tt.source))(t)
		result, err := parsed.Read([]byte(`{"a": "` + tt.field + `"}`))
		if got := result.Fields["message"]; err != nil || got != tt.want {
			t.Errorf("%s: %d bytes, %v; want %d: %.100s", tt.source, len(got), err, len(tt.want), got)
		}
	}
}

// A template that is wrong, or fails, is named with its line.
func TestTemplate_errors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, want string }{
		{"{{env `HOME`}}", `t:1: function "env" not defined`},
		{"{{.name", "t:1: unclosed action"},
		{"\n{{if .name}}", "t:2: unexpected EOF"},
		{"\n\n  {{.name.deeper}}", "t:3:9: executing"},
		{"{{.count.String}}", "t:1:8: executing"},
		{"{{index .tags 2}}", "index out of range"},
		{"{{join `,` .name}}", "wrong type for value"},
		{"{{gt .name 1}}", "cannot order Door and 1, only two numbers or two strings"},
		{"{{lt .missing 1}}", "cannot order <nil> and 1"},
		{`{"message": {{.name}}}`, "t: what the template writes is not a JSON object: "},
		{`{{.name}}{"a": 1}`, "t: what the template writes is not a JSON object: it does not begin"},
		{
			`{"a": {{range .tags}}` + strings.Repeat("1", 12<<10) + "{{end}}}",
			"t: what the template writes is not a JSON object: ",
		},
		{strings.Repeat("x", webhook.MaxTemplate+1), "t: the template has 16385 bytes, at most 16384 are allowed"},
		{"{{\xff}}", "t: the template is not UTF-8"},
	} {
		parsed, err := webhook.ParseTemplate("t", tt.source)
		if err == nil {
			_, err = parsed.Read([]byte(body))
		}
		check.That(t, err != nil && strings.Contains(err.Error(), tt.want) && strings.HasPrefix(err.Error(), "t:"),
			"%.100s: error %v, want %q", tt.source, err, tt.want)
	}
}

// Whatever is posted, a message is never too long, and an error begins with the template's name.
func FuzzTemplate(f *testing.F) {
	var templates []*webhook.Template
	for _, tt := range outputs() {
		templates = append(templates, check.Must(webhook.ParseTemplate("t", tt[0]))(f))
		f.Add(tt[0], body)
	}
	f.Fuzz(func(t *testing.T, source, body string) {
		if _, err := webhook.ParseTemplate("t", source); err != nil && !strings.HasPrefix(err.Error(), "t:") {
			t.Fatalf("an error without the name: %v", err)
		}
		for _, parsed := range templates {
			result, err := parsed.Read([]byte(body))
			if err != nil && result.Fields != nil {
				t.Fatalf("fields with an error: %v", err)
			}
			n := utf8.RuneCountInString(result.Fields["message"])
			check.Require(t, n <= webhook.MaxOutput, "%d characters", n)
		}
	})
}
