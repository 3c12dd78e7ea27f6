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

func TestSupervise(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, tt := range []struct {
		name   string
		voices runner // nil: one that ends with its context
		want   string
		err    error
	}{
		{"stages end in reverse", nil, "web announcer voices sound", nil},
		{"an error ends all", func(context.Context) error { return broken }, "web announcer sound", broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var ended []string
				runs := func(name string, delay time.Duration) runner {
					return func(ctx context.Context) error {
						<-ctx.Done()
						<-time.After(delay)
						mu.Lock()
						defer mu.Unlock()
						ended = append(ended, name)
						return nil
					}
				}
				if tt.voices == nil {
					tt.voices = runs("voices", time.Second)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := supervise(ctx, []runner{runs("sound", 0)}, []runner{tt.voices},
					[]runner{runs("web", 2*time.Second), runs("announcer", 5*time.Second)})
				if got := strings.Join(ended, " "); got != tt.want || !errors.Is(err, tt.err) {
					t.Errorf("the order of the ends is %s, with %v; want %s, with %v", got, err, tt.want, tt.err)
				}
			})
		})
	}
}
