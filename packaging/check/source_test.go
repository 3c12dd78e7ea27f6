package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

const (
	maxColumns = 120 // a tab counts 4
	maxLines   = 700 // of a script that is not a list of texts
)

var (
	portable    = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)
	wrapped     = regexp.MustCompile(`^(#!/bin/sh|#!/usr/bin/env bash)\n`)
	testName    = regexp.MustCompile(`^func (Test|Fuzz|Benchmark)[A-Z][^_]*(_[a-z0-9][^_]*)?\(`)
	anyTestName = regexp.MustCompile(`^func (Test|Fuzz|Benchmark)\w+\(`)
	shortSkip   = regexp.MustCompile(`testing\.Short\(\) \{\n\s*\w+\.Skipf?\(`)
	color       = regexp.MustCompile(`[:(, "'](#|%23)([0-9a-f]{3}|[0-9a-f]{6})\b`)
	anySkip     = regexp.MustCompile(`\bt\w?\.Skip(f|Now)?\(`)
)

// What the linters do not see: the columns and lines of scripts and style sheets, colors outside the palette, names of
// files and tests, and tests that are skipped other than by "make test-short".
func TestSource(t *testing.T) {
	t.Parallel()
	root := check.Root(t)
	list := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z", ":!models", ":!*/vendor/*",
		":!*/testdata/*")
	for name := range strings.SplitSeq(strings.Trim(string(check.Must(list.Output())(t)), "\x00"), "\x00") {
		check.That(t, portable.MatchString(name), "%q: a name has letters, digits, '.', '_' and '-'", name)
		body, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) { // deleted, but not committed yet
			continue
		}
		check.NoError(t, err)
		text := string(body)
		switch {
		case strings.HasSuffix(name, ".js"), strings.HasSuffix(name, ".css"), wrapped.MatchString(text):
			checkColumns(t, name, text)
			checkColors(t, name, text)
		case strings.HasSuffix(name, "_test.go"):
			checkTest(t, name, text)
		}
	}
}

func checkColumns(t *testing.T, name, text string) {
	t.Helper()
	n := 0
	for line := range strings.Lines(text) {
		n++
		got := len([]rune(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")))
		check.That(t, got <= maxColumns, "%s:%d has %d columns, want at most %d", name, n, got, maxColumns)
	}
	check.That(t, n <= maxLines || strings.Contains(name, "/languages/"), "%s has %d lines, want at most %d", name, n,
		maxLines)
}

// palette is the file of the page that has its colors.
const palette = "0-colors.css"

func checkColors(t *testing.T, name, text string) {
	t.Helper()
	if !strings.HasPrefix(name, "daemon/web/static/page/") || strings.HasSuffix(name, palette) {
		return
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		check.Equal(t, color.FindString(line), "", "%s:%d: a color that is not in %s", name, n, palette)
	}
}

func checkTest(t *testing.T, name, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		right := !anyTestName.MatchString(line) || testName.MatchString(line)
		check.That(t, right, "%s: %s, want TestType_case", name, strings.TrimSpace(line))
	}
	if strings.Contains(text, "pgregory.net/rapid") {
		return // whose tests skip a step
	}
	skip := anySkip.FindString(shortSkip.ReplaceAllString(text, ""))
	check.Equal(t, skip, "", "a skip in %s that is not of a short run: a test fails if a part is missing", name)
}
