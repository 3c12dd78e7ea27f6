package main

import (
	"fmt"
	"os"
	"strings"
)

// An assignment is one line of a file of settings.
type assignment struct {
	name, value string
	line        int // from 1
}

// readDotenv reads the assignments of a file.
func readDotenv(path string) ([]assignment, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	found, err := parseDotenv(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

// parseDotenv reads lines of NAME=value. Empty lines and those that begin with
// "#" are passed over. Space around a name and a value, and one pair of quotes
// around a value, are taken off; nothing else means anything but itself: no
// $NAME is expanded, no "\" escapes, and no "#" begins a comment after a value.
func parseDotenv(text string) ([]assignment, error) {
	var found []assignment
	seen := make(map[string]int)
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("line %d: expected NAME=value", n)
		}
		if before, ok := seen[name]; ok {
			return nil, fmt.Errorf("line %d: %s is already set in line %d", n, name, before)
		}
		seen[name] = n
		found = append(found, assignment{name, unquote(strings.TrimSpace(value)), n})
	}
	return found, nil
}

func unquote(value string) string {
	last := len(value) - 1
	if last > 0 && value[0] == value[last] && (value[0] == '"' || value[0] == '\'') {
		return value[1:last]
	}
	return value
}
