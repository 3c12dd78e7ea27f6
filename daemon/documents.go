package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The documents of the settings are made of the table of keys:
// "go generate ./daemon" renews them, and a test tells when they are stale.

// shippedFile is the pressbox.env that the package installs: every setting,
// commented out unless the package sets it.
func shippedFile(keys []key) string {
	var b strings.Builder
	b.WriteString("# The settings of Pressbox. \"pressbox config\" shows what holds, and why.\n")
	b.WriteString("# One NAME=value on a line, taken as it stands: nothing is expanded, and a\n")
	b.WriteString("# comment has a line of its own. Flags and the environment go before this file.\n")
	for _, k := range keys {
		b.WriteByte('\n')
		b.WriteString(wrapped("#", described(k)))
		b.WriteString(wrapped("#", "Takes "+k.kind.expects+"."))
		if k.shipped == "" {
			fmt.Fprintf(&b, "#%s=%s\n", k.name, k.value)
		} else {
			fmt.Fprintf(&b, "%s=%s\n", k.name, k.shipped)
		}
	}
	return b.String()
}

// settingsTable is the table of README.md.
func settingsTable(keys []key) string {
	var b strings.Builder
	b.WriteString("| setting | default | meaning |\n|---|---|---|\n")
	for _, k := range keys {
		value := ""
		if k.value != "" {
			value = "`" + k.value + "`"
		}
		text := described(k) + " Takes " + k.kind.expects + "."
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.name, value, strings.ReplaceAll(text, "|", "\\|"))
	}
	return b.String()
}

// described is a key's documentation in sentences.
func described(k key) string {
	first, size := utf8.DecodeRuneInString(k.doc)
	text := strings.ToUpper(string(first)) + k.doc[size:] + "."
	if k.more != "" {
		text += " " + k.more
	}
	if k.live {
		text += " A reload takes it over."
	}
	return text
}
