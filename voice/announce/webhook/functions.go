package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"unicode/utf8"
)

// An execution is one execution of a template.
type execution struct {
	steps int // elements over which it has ranged
}

// functions returns the functions of templates. Those of text/template that are
// replaced would need more time or memory, or compare no whole number with another
// one.
func (e *execution) functions() template.FuncMap {
	return template.FuncMap{
		"default": func(value, v any) any {
			if truth, _ := template.IsTrue(v); truth {
				return v
			}
			return value
		},
		"eq":     equalAny,
		"ge":     func(a, b any) (bool, error) { n, err := compare(a, b); return n >= 0, err },
		"gt":     func(a, b any) (bool, error) { n, err := compare(a, b); return n > 0, err },
		"join":   join,
		"json":   toJSON,
		"le":     func(a, b any) (bool, error) { n, err := compare(a, b); return n <= 0, err },
		"lt":     func(a, b any) (bool, error) { n, err := compare(a, b); return n < 0, err },
		"ne":     func(a, b any) (bool, error) { same, err := equalAny(a, b); return !same, err },
		"printf": printf,
		// Added by the rewriter.
		"each": e.each,
		"text": text,
	}
}

// parserFunctions returns what the parser knows as functions, and whether a template
// may use them. It knows those that it may not use so that their error says so.
func parserFunctions() map[string]any {
	return map[string]any{
		"and": true, "index": true, "len": true, "not": true, "or": true, "slice": true,
		"default": true, "eq": true, "ge": true, "gt": true, "join": true, "json": true, "le": true, "lt": true, "ne": true,
		"printf": true,
		"call":   false, "html": false, "js": false, "print": false, "println": false, "urlquery": false,
	}
}

// each returns what range is to go over, a list or an object of the body.
func (e *execution) each(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil //nolint:nilnil // a missing field has no elements
	case []any:
		e.steps += len(v)
	case map[string]any:
		e.steps += len(v)
	default:
		return nil, fmt.Errorf("range over %s, only lists and objects of the body are allowed", typeName(v))
	}
	if e.steps > maxSteps {
		return nil, fmt.Errorf("range over more than %d elements", maxSteps)
	}
	return v, nil
}

// text returns what an action writes.
func text(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	if n, ok := number(v); ok {
		return strconv.FormatFloat(n, 'f', -1, 64), nil
	}
	return "", fmt.Errorf("cannot write %s; use range, index, join or json", typeName(v))
}

// number returns the value of a number of a body or of a template.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case byte: // index of a string
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	default:
		return 0, false
	}
}

// maxCompared is the maximum length of two strings that are compared, in bytes.
const maxCompared = MaxOutput * utf8.UTFMax

// compare orders two numbers or two strings.
func compare(a, b any) (int, error) {
	x, isNumber := number(a)
	y, areNumbers := number(b)
	if isNumber && areNumbers {
		return cmp.Compare(x, y), nil
	}
	s, isString := a.(string)
	t, areStrings := b.(string)
	if isString && areStrings {
		if len(s) > maxCompared && len(t) > maxCompared {
			return 0, fmt.Errorf("cannot compare strings of more than %d bytes", maxCompared)
		}
		return strings.Compare(s, t), nil
	}
	return 0, fmt.Errorf("cannot compare %s with %s", typeName(a), typeName(b))
}

// equalAny reports whether a equals one of the others. Values of different types
// differ.
func equalAny(a any, others ...any) (bool, error) {
	for _, b := range others {
		if typeName(a) != typeName(b) {
			continue
		}
		switch a.(type) {
		case []any, map[string]any:
			return false, fmt.Errorf("cannot compare %s", typeName(a))
		case nil, bool:
			if a == b {
				return true, nil
			}
		default:
			if n, err := compare(a, b); err != nil || n == 0 {
				return err == nil, err
			}
		}
	}
	return false, nil
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "a missing field"
	case string:
		return "a string"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}

// join returns the elements of a list with a separator between them.
func join(separator string, list any) (string, error) {
	elements, ok := list.([]any)
	if !ok && list != nil {
		return "", fmt.Errorf("cannot join %s, only a list", typeName(list))
	}
	out := &limitedWriter{}
	for i, element := range elements {
		s, err := text(element)
		if err != nil {
			return "", err
		}
		if i > 0 {
			s = separator + s
		}
		if _, err := out.Write([]byte(s)); err != nil {
			return "", err
		}
	}
	return out.text.String(), nil
}

// maxArguments is the maximum number of arguments of printf.
const maxArguments = 20

// printf is fmt.Sprintf of strings, numbers and booleans, without arguments for
// widths.
func printf(format string, args ...any) (string, error) {
	if err := checkFormat(format); err != nil {
		return "", err
	}
	if len(args) > maxArguments {
		return "", fmt.Errorf("printf of %d values, at most %d are allowed", len(args), maxArguments)
	}
	for i, arg := range args {
		switch v := arg.(type) {
		case nil:
			args[i] = ""
		case string:
			args[i] = firstRunes(v, MaxOutput+1)
		case []any, map[string]any:
			return "", fmt.Errorf("printf of %s; use json or join", typeName(v))
		}
	}
	out := fmt.Sprintf(format, args...)
	if utf8.RuneCountInString(out) > MaxOutput {
		return "", errOutput
	}
	return out, nil
}

// firstRunes returns the first n characters of a string.
func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

var (
	// directive matches a directive of a format: width, precision and verb.
	directive = regexp.MustCompile(`(?s)%[-+# 0]*([0-9]*)(?:\.([0-9]*))?(.?)`)
	errFormat = errors.New("printf takes no * and no [n]")
)

// checkFormat returns an error if a format of printf is too long, has a width or a
// precision above 100, or takes one from an argument.
func checkFormat(format string) error {
	if len(format) > MaxOutput {
		return fmt.Errorf("the format of printf has more than %d bytes", MaxOutput)
	}
	for _, d := range directive.FindAllStringSubmatch(format, -1) {
		for _, digits := range d[1:3] {
			if n, err := strconv.Atoi(digits); digits != "" && (err != nil || n > maxWidth) {
				return fmt.Errorf("the width or precision %s of printf is above %d", digits, maxWidth)
			}
		}
		if d[3] == "*" || d[3] == "[" {
			return errFormat
		}
	}
	return nil
}
