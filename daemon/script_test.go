package main

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"pressbox/audio/pulse/pulsetest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pressbox": main})
}

// The program as its users meet it: each script is a session in a shell.
func TestScripts(t *testing.T) {
	t.Parallel()
	settings := append(environment(t), "PULSE_SERVER="+pulsetest.Start(t, pulsetest.Config{}).Address)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			started := &processes{}
			env.Values["started"], env.Values["settings"] = started, settings
			env.Defer(func() {
				for _, p := range *started {
					_ = p.end(syscall.SIGKILL) // stop has looked how it ends
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

// exitsWith is the script command "code N PROGRAM [ARG...]": the program ends
// with that exit code.
func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	failed, ok := errors.AsType[*exec.ExitError](err)
	if neg || !ok || failed.ExitCode() != want {
		ts.Fatalf("%v ended with %v, want exit code %d", args[1:], err, want)
	}
}

// processes are the daemons that a script has started, the newest last.
type processes []*process

// start is the script command "start [ARG...]": it starts "pressbox serve" with
// the settings of the script's environment over those that all tests need, and
// sets PRESSBOX_URL and DAEMON_PORT once that listens.
func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("for one that must not start there is \"code N pressbox serve\"")
	}
	env := slices.Clone(ts.Value("settings").([]string))
	for _, k := range keys() {
		if set := ts.Getenv(k.name); set != "" {
			env = append(env, k.name+"="+set)
		}
	}
	p, err := startProcess(ts.Getenv("WORK"), env, args...)
	ts.Check(err)
	started := ts.Value("started").(*processes)
	*started = append(*started, p)
	ts.Setenv("PRESSBOX_URL", p.url)
	ts.Setenv("DAEMON_PORT", p.url[strings.LastIndex(p.url, ":")+1:])
}

// end is the script command "end" ("stop" is testscript's own, and skips the
// rest): the newest daemon ends well when it is told to, and its log goes into
// the file "log".
func end(ts *testscript.TestScript, neg bool, args []string) {
	started := *ts.Value("started").(*processes)
	p := started[len(started)-1]
	err := p.end(syscall.SIGTERM)
	if neg || len(args) > 0 || err != nil {
		ts.Fatalf("end: %v\n%s", err, p.logged())
	}
	ts.Check(os.WriteFile(ts.MkAbs("log"), []byte(strings.TrimSpace(p.logged())+"\n"), 0o600))
}

// logs is the script command "logs TEXT": it waits until the newest daemon has
// logged that text.
func logs(ts *testscript.TestScript, neg bool, args []string) {
	started := *ts.Value("started").(*processes)
	p := started[len(started)-1]
	if neg || len(args) != 1 || !p.awaitLog(args[0]) {
		ts.Fatalf("logs %q:\n%s", args, p.logged())
	}
}

// hangUp is the script command "hup TEXT": the newest daemon gets a SIGHUP, and
// then logs that text.
func hangUp(ts *testscript.TestScript, neg bool, args []string) {
	started := *ts.Value("started").(*processes)
	p := started[len(started)-1]
	ts.Check(p.cmd.Process.Signal(syscall.SIGHUP))
	logs(ts, neg, args)
}
