// Package boolean reads the booleans that people write: in settings, parameters, forms and on the command line.
//
// One law: they are written alike everywhere.
package boolean

import "strings"

// Expects is what a boolean may be, for errors and documents.
const Expects = "true or false, yes or no, on or off, 1 or 0"

// Parse returns the value of a text, in lower or upper case and with or without space around it. ok is false
// unless the text is a boolean.
func Parse(text string) (value, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

// Off reports whether a text is a boolean that is false.
func Off(text string) bool {
	value, ok := Parse(text)
	return ok && !value
}
