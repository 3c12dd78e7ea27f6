package settings

import (
	"fmt"
	"os"
	"strings"
)

// An assignment is one line NAME=value of a settings file.
type assignment struct {
	name, value string
	line        int // from 1
}

// readDotenv returns the assignments of a file.
func readDotenv(path string) ([]assignment, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	assignments, err := parseDotenv(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return assignments, nil
}

// parseDotenv reads lines of NAME=value. Empty lines and lines that begin with "#" are
// skipped. Space around a name and a value, and one pair of quotes around a value, are
// removed. The rest is literal: $NAME is not expanded, "\" does not escape, and "#" does
// not begin a comment after a value.
func parseDotenv(text string) ([]assignment, error) {
	var assignments []assignment
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
		if previous, ok := seen[name]; ok {
			return nil, fmt.Errorf("line %d: %s is already set in line %d", n, name, previous)
		}
		seen[name] = n
		assignments = append(assignments, assignment{name, unquote(strings.TrimSpace(value)), n})
	}
	return assignments, nil
}

func unquote(value string) string {
	last := len(value) - 1
	if last > 0 && value[0] == value[last] && (value[0] == '"' || value[0] == '\'') {
		return value[1:last]
	}
	return value
}
