package main

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

// Each example in connect.md is marked as run or not run, and those that are run here work as
// they stand.
func TestConnect(t *testing.T) {
	t.Parallel()
	examples := connectExamples(t)
	server := servertest.Run(t, servertest.Silent, "WYOMING=off")
	address := check.Must(url.Parse(server.URL))(t).Host
	home := t.TempDir()
	check.NoError(t, os.WriteFile(filepath.Join(home, ".curlrc"),
		[]byte("connect-to = pressbox.local:8888:"+address+"\n"), 0o600))
	ran := 0
	for _, e := range examples {
		if e.mark != "run: TestConnect" {
			continue
		}
		ran++
		cmd := exec.Command("sh", "-c", e.text)
		cmd.Env = append(os.Environ(), "HOME="+home)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", e.text, err, out)
		}
	}
	if ran < 10 {
		t.Errorf("%d examples were run", ran)
	}
}

// An example is an indented block of connect.md with the paragraph before it.
type example struct{ mark, text string }

func connectExamples(t *testing.T) []example {
	t.Helper()
	document := string(check.Must(os.ReadFile("../packaging/doc/connect.md"))(t))
	var all []example
	var before string
	for block := range strings.SplitSeq(document, "\n\n") {
		if text, indented := strings.CutPrefix(block, "    "); indented {
			if !strings.HasPrefix(before, "run: Test") && !strings.HasPrefix(before, "not run") {
				t.Errorf("the example has no mark: %s", block)
			}
			all = append(all, example{before, strings.ReplaceAll(text, "\n    ", "\n")})
		}
		before = block
	}
	return all
}
