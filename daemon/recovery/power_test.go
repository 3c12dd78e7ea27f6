package recovery

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/store/crashtest"
)

// Whenever the power is cut, the server opens the store, has everything that was
// acknowledged, reports what it salvaged, and works.
func TestAll_powerCut(t *testing.T) {
	t.Parallel()
	limit, opened, ran := stateLimit(t), 0, 0
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			opened += s.enumerate(t, limit/len(scenarios)+1)
			ran++
		})
	}
	t.Logf("%d states opened", opened)
	least := min(limit, 20_000)
	check.That(t, ran != len(scenarios) || opened >= least, "%d different states, want at least %d", opened, least)
}

// enumerate opens up to limit of the states in which a power cut could leave the disk, at equal
// distances, and returns how many.
func (s scenario) enumerate(t *testing.T, limit int) (opened int) {
	t.Helper()
	divisor := 1
	if limit < 1000 {
		divisor = 4
	}
	trace := s.record(t, divisor)
	states := trace.States(bounds)
	acknowledged := strings.Count(strings.Join(trace.Acks(len(trace.Ops)), "\n"), "ack\t")
	t.Logf("%d operations, %d writes, %d syncs of files and %d of folders, %d acknowledged, %d states",
		len(trace.Ops), trace.Count(crashtest.Write), trace.Count(crashtest.Sync), trace.Count(crashtest.SyncDir),
		acknowledged, len(states))
	states = evenly(states, limit)
	start := time.Now()
	wrong := s.judge(t, trace, states)
	for _, state := range wrong[:min(len(wrong), maxReports)] {
		t.Error(state)
	}
	check.That(t, len(wrong) <= maxReports, "%d of %d states are wrong", len(wrong), len(states))
	t.Logf("%d states opened in %v", len(states), time.Since(start).Round(time.Second/10))
	return len(states)
}

// bounds are those of the states that are enumerated.
var bounds = crashtest.Bounds{All: 4, Random: 4}

// The enumeration finds what a disk loses that ignores every second sync.
func TestAll_powerCutSyncsIgnored(t *testing.T) {
	t.Parallel()
	s := scenario{name: "serve", lives: []string{"serve 6"}}
	trace := s.record(t, 1).WithoutSyncs(2)
	states := trace.States(bounds)
	wrong := s.judge(t, trace, evenly(states, 100))
	check.That(t, len(wrong) != 0, "no wrong state was found")
	t.Logf("%d of 100 states, of %d, are wrong", len(wrong), len(states))
}

// stateLimit returns the number of states that are opened: PRESSBOX_CRASH_STATES, or 500.
func stateLimit(tb testing.TB) int {
	tb.Helper()
	switch set := os.Getenv("PRESSBOX_CRASH_STATES"); set {
	case "":
		return 500
	case "all":
		return math.MaxInt32
	default:
		return check.Must(strconv.Atoi(set))(tb)
	}
}

// evenly returns n of all, at equal distances.
func evenly(all []crashtest.State, n int) []crashtest.State {
	if n >= len(all) {
		return all
	}
	chosen := make([]crashtest.State, n)
	for i := range chosen {
		chosen[i] = all[i*len(all)/n]
	}
	return chosen
}

// maxReports is the number of wrong states that are described.
const maxReports = 10

// judge opens states, in several processes, and describes those that are wrong.
func (s scenario) judge(t *testing.T, trace crashtest.Trace, states []crashtest.State) (wrong []string) {
	t.Helper()
	dir := crashtest.TempDir(t)
	next := make(chan int)
	var mu sync.Mutex // guards wrong
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			o := startOpener(t)
			defer func() { o.end() }()
			for i := range next {
				found := s.judgeOne(o, trace, states[i], filepath.Join(dir, strconv.Itoa(i)))
				if found == "" {
					continue
				}
				mu.Lock()
				wrong = append(wrong, fmt.Sprintf("before operation %d, %s: %s", states[i].Next, states[i].How, found))
				mu.Unlock()
			}
		})
	}
	for i := range states {
		next <- i
	}
	close(next)
	wait.Wait()
	return wrong
}

// judgeOne returns what is wrong with a state; "" for nothing.
func (s scenario) judgeOne(o *opener, trace crashtest.Trace, state crashtest.State, dir string) (wrong string) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err.Error()
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			wrong += err.Error()
		}
	}()
	if err := state.Extract(dir); err != nil {
		return err.Error()
	}
	known := histories(trace.Acks(state.Next))
	a := o.ask(question{dir, keysOf(known)})
	if a.Failed != "" {
		return a.Failed
	}
	return contradictions(known, a, strings.HasPrefix(s.name, "salvage"))
}

// keysOf returns the keys of histories, in order.
func keysOf(known map[string]*history) []string { return slices.Sorted(maps.Keys(known)) }

// contradictions returns how an answer contradicts what was acknowledged; "" for nothing.
func contradictions(known map[string]*history, a answer, damaged bool) string {
	var all []string
	for key, h := range known {
		if !h.allows(a.Found[key]) && key != "salvage/said" {
			all = append(all, fmt.Sprintf("%s is %.60q: %v", key, a.Found[key], h))
		}
	}
	said := known["salvage/said"] != nil || a.Salvaged != ""
	switch {
	case damaged && !said:
		all = append(all, "the salvage was not said")
	case !damaged && a.Salvaged != "":
		all = append(all, "salvaged: "+a.Salvaged)
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}
