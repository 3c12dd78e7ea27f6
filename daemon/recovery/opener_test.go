package recovery

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressbox/daemon/settings"
	"pressbox/packaging/check"
	"pressbox/store"
	"pressbox/store/killtest"
)

// A question is about the state of a disk, in a folder.
type question struct {
	Dir  string
	Keys []string // of a ledger
}

// An answer is what the server finds.
type answer struct {
	Salvaged string            // see Open
	Found    map[string]string // key → value
	Failed   string            // what did not work; "" for nothing
}

// runOpener is the process that opens states, as the server does, until its standard input
// ends: a damaged store could end the process or stop it.
func runOpener([]string) error {
	lines, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return err
		}
		a := answer{Found: map[string]string{}}
		if err := a.find(q); err != nil {
			a.Failed = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return lines.Err()
}

// find opens the store, looks for the keys, saves something, closes the store, and checks every page.
func (a *answer) find(q question) (err error) {
	ctx, cfg := context.Background(), configIn(q.Dir)
	var st *store.Store
	var log check.Log
	if st, a.Salvaged, err = Open(ctx, cfg, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if text := log.String(); strings.Contains(text, "counted wrongly") {
		return errors.Join(errors.New(text), st.Close())
	}
	if err := a.look(ctx, st, cfg, q.Keys); err != nil {
		return errors.Join(err, st.Close())
	}
	if err := errors.Join(st.SaveCalibration("the next update", []byte("{}")), st.Health(), st.Close()); err != nil {
		return fmt.Errorf("the next update: %w", err)
	}
	if store.UncleanShutdown(cfg.StorePath()) {
		return errors.New("the mark of an unclean shutdown stays")
	}
	return store.Check(cfg.StorePath())
}

func (a *answer) look(ctx context.Context, st *store.Store, cfg settings.Config, keys []string) error {
	s, err := newSite(ctx, st)
	if err != nil {
		return err
	}
	for _, key := range keys {
		var value string
		switch what, rest, _ := strings.Cut(key, "/"); what {
		case "backup": // that a command wrote
			if store.Check(filepath.Join(diskOf(cfg), rest)) == nil {
				value = "intact"
			}
		case "salvage":
			value = a.salvage(cfg, rest)
		default:
			value, err = s.look(key)
		}
		if err != nil {
			return fmt.Errorf("look for %s: %w", key, err)
		}
		a.Found[key] = value
	}
	return nil
}

// salvage returns whether the salvage was said, or the damaged store was retained.
func (a *answer) salvage(cfg settings.Config, what string) string {
	if what == "said" && a.Salvaged != "" || what == "damaged" && len(DamagedStores(cfg)) > 0 {
		return "yes"
	}
	return ""
}

// diskOf returns the folder in which STATE_DIR lies.
func diskOf(cfg settings.Config) string { return filepath.Dir(cfg.StateDir) }

// configIn returns the settings of a server whose disk is at dir.
func configIn(dir string) settings.Config {
	return settings.Config{StateDir: filepath.Join(dir, "state")}
}

// An opener is a child process that answers questions.
type opener struct {
	tb  testing.TB
	cmd *exec.Cmd
	in  *json.Encoder
	out *bufio.Reader
	err strings.Builder // its standard error
	end func()
}

// maxOpening is the time after which a state counts as one that the server cannot open.
const maxOpening = 30 * time.Second

func startOpener(tb testing.TB) *opener {
	tb.Helper()
	o := &opener{tb: tb, cmd: killtest.Command(tb, "opener")}
	in := check.Must(o.cmd.StdinPipe())(tb)
	out := check.Must(o.cmd.StdoutPipe())(tb)
	o.cmd.Stderr = &o.err
	o.in, o.out = json.NewEncoder(in), bufio.NewReader(out)
	check.NoError(tb, o.cmd.Start())
	o.end = func() {
		_ = in.Close()   // the process ends
		_ = o.cmd.Wait() // what it did was judged by its answers
	}
	return o
}

// ask returns the answer to a question. A process that does not answer in time, or that crashed, is replaced.
func (o *opener) ask(q question) (a answer) {
	o.tb.Helper()
	late := time.AfterFunc(maxOpening, func() { _ = o.cmd.Process.Kill() }) // ends the read below
	err := o.in.Encode(q)
	var line []byte
	if err == nil {
		line, err = o.out.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if !late.Stop() {
		err = fmt.Errorf("the server needs more than %v", maxOpening)
	}
	if err != nil {
		_ = o.cmd.Process.Kill() // it may have ended
		o.end()
		a.Failed = fmt.Sprintf("%v: %.2000s", err, o.err.String())
		*o = *startOpener(o.tb)
	}
	return a
}
