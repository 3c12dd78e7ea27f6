package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/servertest"
	"pressbox/daemon/settings"
	"pressbox/packaging/check"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pressbox": main})
}

// Each script in testdata is a session in a shell.
func TestScripts(t *testing.T) {
	t.Parallel()
	env := servertest.Environment(t, "PULSE_SERVER="+pulsetest.Start(t, pulsetest.Config{}).Address)
	root := check.Must(filepath.Abs(".."))(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			started := &processes{}
			e.Setenv("RETROSHEET", filepath.Join(root, "game/retro/testdata/season"))
			e.Values["started"], e.Values["environment"] = started, env
			e.Defer(func() {
				for _, p := range *started {
					_ = p.End(syscall.SIGKILL) // it may have ended
				}
			})
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code":  exitsWith,
			"start": start,
			"end":   end,
			"hup":   hangUp,
			"logs":  logs,
		},
	})
}

// exitsWith is the script command "code N PROGRAM [ARG...]": the program exits with N.
func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	failed, ok := errors.AsType[*exec.ExitError](err)
	if neg || !ok || failed.ExitCode() != want {
		ts.Fatalf("%v ended with %v, want exit code %d", args[1:], err, want)
	}
}

// processes holds the servers that a script has started, the newest last.
type processes []*servertest.Process

// newest returns the server that the script started last.
func newest(ts *testscript.TestScript) *servertest.Process {
	started := *ts.Value("started").(*processes)
	return started[len(started)-1]
}

// start is the script command "start [ARG...]": it runs "pressbox serve" with the settings in
// the script's servertest.Environment, and sets PRESSBOX_URL and SERVER_PORT when it listens.
func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("use \"code N pressbox serve\" for a server that must not start")
	}
	env := slices.Clone(ts.Value("environment").([]string))
	for _, s := range settings.Table() {
		if value := ts.Getenv(s.Name); value != "" {
			env = append(env, s.Name+"="+value)
		}
	}
	p, err := servertest.Start(ts.Getenv("WORK"), env, args...)
	ts.Check(err)
	started := ts.Value("started").(*processes)
	*started = append(*started, p)
	ts.Setenv("PRESSBOX_URL", p.URL)
	ts.Setenv("SERVER_PORT", p.URL[strings.LastIndex(p.URL, ":")+1:])
}

// end is the script command "end" (testscript has a "stop" of its own): the newest server
// exits with 0 after SIGTERM, and its log is written to the file "log".
func end(ts *testscript.TestScript, neg bool, args []string) {
	p := newest(ts)
	err := p.End(syscall.SIGTERM)
	if neg || len(args) > 0 || err != nil {
		ts.Fatalf("end: %v\n%s", err, p.Logged())
	}
	ts.Check(os.WriteFile(ts.MkAbs("log"), []byte(strings.TrimSpace(p.Logged())+"\n"), 0o600))
}

// logs is the script command "logs TEXT": it waits until the newest server's log contains TEXT.
func logs(ts *testscript.TestScript, neg bool, args []string) {
	p := newest(ts)
	if neg || len(args) != 1 || !p.AwaitLog(args[0]) {
		ts.Fatalf("logs %q:\n%s", args, p.Logged())
	}
}

// hangUp is the script command "hup TEXT": it sends SIGHUP to the newest server and waits for
// TEXT in its log after that.
func hangUp(ts *testscript.TestScript, neg bool, args []string) {
	p := newest(ts)
	logged := len(p.Logged())
	ts.Check(p.Cmd.Process.Signal(syscall.SIGHUP))
	if neg || len(args) != 1 || !p.AwaitMore(logged, args[0]) {
		ts.Fatalf("hup %q:\n%s", args, p.Logged())
	}
}
