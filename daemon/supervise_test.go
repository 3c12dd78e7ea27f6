package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A diary is what runners did, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) write(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

// runner returns one that takes a while to end.
func (d *diary) runner(name string, farewell time.Duration) runner {
	return func(ctx context.Context) error {
		<-ctx.Done()
		<-time.After(farewell)
		d.write(name)
		return nil
	}
}

func TestStagesEndInReverse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d diary
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := supervise(ctx,
			[]runner{d.runner("sound", 0)},
			[]runner{d.runner("voices", time.Second)},
			[]runner{d.runner("web", 2*time.Second), d.runner("announcer", 5*time.Second)},
		)
		if got := strings.Join(d.lines, " "); got != "web announcer voices sound" || err != nil {
			t.Errorf("they ended in the order %s, %v", got, err)
		}
	})
}

func TestOneThatFailsEndsAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d diary
		broken := errors.New("broken")
		err := supervise(t.Context(),
			[]runner{d.runner("sound", 0)},
			[]runner{func(context.Context) error { return broken }},
			[]runner{d.runner("web", time.Second)},
		)
		if got := strings.Join(d.lines, " "); got != "web sound" || !errors.Is(err, broken) {
			t.Errorf("they ended in the order %s with %v", got, err)
		}
	})
}
