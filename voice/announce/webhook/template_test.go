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
func outputs(tb testing.TB) [][]string {
	tb.Helper()
	marked := []string{"\uFEFF{{/* a comment */}}\n {{- .name}}\n", "Door"}
	return append(check.Table(tb, "testdata/templates.txt"), marked)
}

func TestTemplate_output(t *testing.T) {
	t.Parallel()
	for _, tt := range outputs(t) {
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
	large := `{"a": {{range .tags}}` + strings.Repeat("1", 12<<10) + "{{end}}}"
	for _, row := range append(check.Table(t, "testdata/template-errors.txt"),
		[]string{large, "t: what the template writes is not a JSON object: "},
		[]string{strings.Repeat("x", webhook.MaxTemplate+1), "t: the template has 16385 bytes, at most 16384"},
		[]string{"{{\xff}}", "t: the template is not UTF-8"}) {
		parsed, err := webhook.ParseTemplate("t", row[0])
		if err == nil {
			_, err = parsed.Read([]byte(body))
		}
		check.That(t, err != nil && strings.Contains(err.Error(), row[1]) && strings.HasPrefix(err.Error(), "t:"),
			"%.100s: error %v, want %q", row[0], err, row[1])
	}
}

// Whatever is posted, a message is never too long, and an error begins with the template's name.
func FuzzTemplate(f *testing.F) {
	var templates []*webhook.Template
	for _, tt := range outputs(f) {
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
