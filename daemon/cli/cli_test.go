package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"pressbox/packaging/check"
)

// TestMain refuses to be the program that a command starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// The name is spoken in words, and so are the first problems of pressbox.txt.
func TestGreeting_text(t *testing.T) {
	t.Parallel()
	const ready = "Pressbox is ready. Open pressbox 2 dot local."
	const rest = " Not everything of pressbox dot txt was applied."
	for report, want := range map[string]string{
		"":                              ready,
		"line 3: expected NAME=value\n": ready + rest + " Line 3: expected NAME=value.",
		strings.Repeat("x\n", 5):        ready + rest + strings.Repeat(" X.", 5),
		strings.Repeat("x\n", 6):        ready + rest + strings.Repeat(" X.", 5),
	} {
		check.Equal(t, greeting("pressbox-2", report), want, "%q", report)
	}
}

func TestBuild_commitText(t *testing.T) {
	t.Parallel()
	for revision, want := range map[string]string{
		"": "unknown commit",
		"69f8d8ce9e5dcb6ab82fe26e6ffc8592f02209bd":         "commit 69f8d8ce9e5d",
		"69f8d8ce9e5dcb6ab82fe26e6ffc8592f02209bd+changed": "commit 69f8d8ce9e5d with changes",
	} {
		check.Equal(t, (Build{Revision: revision}).commitText(), want, "%q", revision)
	}
}

// A terminal shows what it would obey, also if a character comes in two parts.
func TestTerminalWriter(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := &terminalWriter{w: &out}
	for _, part := range []string{"a\tb\n", "\x1b[2J\r\x00\x7f", "\u009b\xff ü\xc3", "\xbc\xe2\x82", "\xac"} {
		n, err := w.Write([]byte(part))
		check.That(t, n == len(part) && err == nil, "%q: %d, %v", part, n, err)
	}
	want := "a\tb\n" + `\u001b[2J\u000d\u0000\u007f\u009b` + "\ufffd üü€"
	check.Equal(t, out.String(), want, "written")
}

// evil is a text of a stranger that would clear a terminal and write into its title, in ASCII and in C1, and fake a
// line.
const evil = "EVIL\x1b[2J\x1b]0;owned\x07\x9b2J\u009b2J\r\x00\x7f"

// evilServer answers every request with an object whose texts are all evil, or with such a problem.
func evilServer(fails bool) http.HandlerFunc {
	object := map[string]any{"members": []string{evil}}
	for name := range strings.FieldsSeq(`id name status error message text phonemes title code detail creator away home
		kind stalled token network provider passphrase invite url notice mode reason voice language quality summary
		pressbox go revision origin value version level sink server sink_name state cron time_zone default result
		remedy`) {
		object[name] = evil
	}
	object["rejected"] = []string{evil}
	item := maps.Clone(object)
	for name := range strings.FieldsSeq(`queue scheduled recent users games leagues seasons tokens schedules settings
		findings voices`) {
		object[name] = []any{item}
	}
	object["errors"] = []any{map[string]string{"path": "/" + evil, "detail": evil}}
	status := maps.Clone(object)
	status["health"] = map[string]any{
		"status": evil, "checks": map[string]any{"store": item, "audio": item, "voices": item, "queue": item},
		"integrations": map[string]any{evil: map[string]any{"on": true, "summary": evil, "detail": evil}},
	}
	status["queue"], status["versions"] = object, map[string]string{"pressbox": evil, "go": evil, "revision": evil}
	status["volume"], status["quiet"] = map[string]any{}, map[string]any{"active": true, "mode": evil}
	return func(w http.ResponseWriter, r *http.Request) {
		if fails {
			w.Header().Set("Content-Type", "application/problem+json")
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusConflict)
		}
		answer := object
		switch {
		case r.URL.Path == "/admin/status":
			answer = status
		case strings.HasPrefix(r.URL.Path, "/notify/"):
			answer = map[string]any{"id": evil, "status": "failed", "error": evil}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

// Whatever a server or an argument says, no command prints a control character.
func TestCommands_control(t *testing.T) {
	t.Chdir(t.TempDir())
	p := Program{
		OpenAPI: func() ([]byte, error) { return []byte(evil), nil },
		Serve:   func(context.Context, ServeOptions) error { return errors.New(evil) },
	}
	printed := 0
	for _, fails := range []bool{false, true} {
		check.NoError(t, errors.Join(os.RemoveAll("state"), os.Mkdir("state", 0o700)))
		admin := httptest.Server{
			Listener: check.Must(net.Listen("unix", "state/admin.sock"))(t),
			Config:   &http.Server{Handler: evilServer(fails)},
		}
		admin.Start()
		t.Cleanup(admin.Close)
		server := httptest.NewServer(evilServer(fails))
		t.Cleanup(server.Close)
		t.Setenv("VOICES_URL", server.URL)
		for _, path := range paths(p.Command(new(bool)), nil) {
			for n := range 4 {
				printed += strings.Count(runEvil(t, p, path, n, server.URL), "EVIL")
			}
		}
	}
	check.That(t, printed > 100, "the text was printed %d times", printed)
}

// paths returns the names of all commands that run.
func paths(cmd *cobra.Command, path []string) (all [][]string) {
	if cmd.RunE != nil {
		all = append(all, path)
	}
	for _, child := range cmd.Commands() {
		all = append(all, paths(child, append(slices.Clone(path), child.Name()))...)
	}
	return all
}

// runEvil runs a command with n arguments and returns what it has printed.
func runEvil(t *testing.T, p Program, path []string, n int, url string) string {
	t.Helper()
	root := p.Command(new(bool))
	cmd, _, err := root.Find(path)
	check.NoError(t, err)
	args := append(slices.Clone(path), slices.Repeat([]string{evil}, n)...)
	for flag, value := range map[string]string{"server": url, "root": "root", "state-dir": "state"} {
		if cmd.Flags().Lookup(flag) != nil {
			args = append(args, "--"+flag, value)
		}
	}
	if n == 0 && slices.Contains([]string{"setup-kiosk", "doctor", "own-check"}, cmd.Name()) {
		return "" // they use the host
	}
	var out bytes.Buffer
	for _, w := range []any{root.OutOrStdout(), root.ErrOrStderr()} {
		w.(*terminalWriter).w = &out
	}
	run(t.Context(), root, args)
	for _, r := range out.String() {
		check.Require(t, r == '\n' || r == '\t' || !unicode.IsControl(r), "%q printed %q: %q", args, r, &out)
	}
	return out.String()
}
