package webhook

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// Limits of templates.
const (
	MaxTemplate = 16 << 10 // bytes of its source
	MaxOutput   = 5000     // characters of a message; of every announcement
	maxWritten  = 20_000   // bytes, at which a template is stopped
)

// A Template is an administrator's text/template for one webhook. It writes the message, or, if its own text
// begins with a brace, an announcement in JSON.
//
// It is safe to be executed concurrently.
type Template struct {
	template *template.Template
	json     bool
}

// action matches what a template executes, and what is left of it is the text that it writes.
var action = regexp.MustCompile(`(?s)\{\{.*?\}\}`)

// ParseTemplate returns the template with this source. Errors begin with name and the line.
func ParseTemplate(name, source string) (*Template, error) {
	if len(source) > MaxTemplate {
		return nil, fmt.Errorf("%s: the template has %d bytes, at most %d are allowed", name, len(source), MaxTemplate)
	}
	if !utf8.ValidString(source) {
		return nil, fmt.Errorf("%s: the template is not UTF-8", name)
	}
	source = strings.TrimPrefix(source, "\uFEFF")
	t, err := template.New(name).Funcs(functions()).Parse(source)
	if err != nil {
		return nil, withoutPrefix(err)
	}
	text := strings.TrimSpace(action.ReplaceAllString(source, ""))
	return &Template{template: t, json: strings.HasPrefix(text, "{")}, nil
}

// Read returns the announcement that the template makes of a body, which is a JSON object. Its fields are
// missing if the template writes nothing but white space. The error is a [*BodyError], or begins with the
// name and the line of the template.
func (t *Template) Read(body []byte) (Result, error) {
	fields, err := plain(body)
	if err != nil {
		return Result{}, err
	}
	var out limitedWriter
	if err := t.template.Execute(&out, fields); err != nil && !errors.Is(err, errFull) {
		return Result{}, withoutPrefix(err)
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(out.text.String(), ""), "<no value>", "") // a missing field
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Result{}, nil
	case !t.json:
		return Result{Fields: map[string]string{"message": Shorten(text)}}, nil
	}
	announcement, err := readFields([]byte(text))
	if wrong, ok := errors.AsType[*BodyError](err); ok {
		err = cmp.Or(wrong.Err, errors.New("it does not begin with a brace"))
		return Result{}, fmt.Errorf("%s: what the template writes is not a JSON object: %w", t.template.Name(), err)
	}
	if message, ok := announcement["message"]; ok {
		announcement["message"] = Shorten(message)
	}
	return Result{Fields: announcement}, err
}

// withoutPrefix returns an error of text/template without the word before the name.
func withoutPrefix(err error) error {
	if text, ok := strings.CutPrefix(err.Error(), "template: "); ok {
		return errors.New(text)
	}
	return err
}

// A limitedWriter holds the first [maxWritten] bytes that are written.
type limitedWriter struct{ text bytes.Buffer }

var errFull = fmt.Errorf("more than %d bytes", maxWritten)

func (w *limitedWriter) Write(p []byte) (int, error) {
	if room := maxWritten - w.text.Len(); len(p) > room {
		_, _ = w.text.Write(p[:room]) // never fails
		return room, errFull
	}
	return w.text.Write(p)
}

// sentences matches a text up to the end of its last sentence that another one follows.
var sentences = regexp.MustCompile(`(?s)^.*[.!?…]\s`)

// Shorten shortens a text to [MaxOutput] characters, after a sentence if it has several.
func Shorten(text string) string {
	if utf8.RuneCountInString(text) <= MaxOutput {
		return text
	}
	if whole := sentences.FindString(string([]rune(text)[:MaxOutput])); whole != "" {
		return strings.TrimSpace(whole)
	}
	return cut(text, MaxOutput)
}

// functions returns what templates may call besides the functions of text/template, whose comparisons it
// replaces: those compare no whole number with another one.
func functions() template.FuncMap {
	ordered := func(accept func(order int) bool) func(a, b any) (bool, error) {
		return func(a, b any) (bool, error) {
			order, err := compare(a, b)
			return err == nil && accept(order), err
		}
	}
	return template.FuncMap{
		"default": func(value, v any) any {
			if truth, _ := template.IsTrue(v); truth {
				return v
			}
			return value
		},
		"eq": func(a any, others ...any) bool {
			return slices.ContainsFunc(others, func(b any) bool { return equal(a, b) })
		},
		"ge": ordered(func(order int) bool { return order >= 0 }),
		"gt": ordered(func(order int) bool { return order > 0 }),
		"join": func(separator string, list []any) string {
			var texts []string
			for _, element := range list {
				texts = append(texts, fmt.Sprint(element))
			}
			return strings.Join(texts, separator)
		},
		"json": func(v any) (string, error) {
			text, err := json.Marshal(v)
			return string(text), err
		},
		"le": ordered(func(order int) bool { return order <= 0 }),
		"lt": ordered(func(order int) bool { return order < 0 }),
		"ne": func(a, b any) bool { return !equal(a, b) },
	}
}

// compare orders two numbers or two strings.
func compare(a, b any) (int, error) {
	x, xOK := number(a)
	y, yOK := number(b)
	if xOK && yOK {
		return cmp.Compare(x, y), nil
	}
	s, sOK := a.(string)
	t, tOK := b.(string)
	if sOK && tOK {
		return strings.Compare(s, t), nil
	}
	return 0, fmt.Errorf("cannot order %v and %v, only two numbers or two strings", a, b)
}

// equal reports whether two values are the same; those of different kinds differ.
func equal(a, b any) bool {
	order, err := compare(a, b)
	return err == nil && order == 0 || err != nil && reflect.DeepEqual(a, b)
}

// number returns the value of a number of a body or of a template.
func number(v any) (float64, bool) {
	switch v := reflect.ValueOf(v); {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	default:
		return 0, false
	}
}
