package announcements_test

import (
	"bufio"
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/voice/announce"
)

func TestEventsTellWhatHappens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		l, stop := r.ServeWire()
		first := r.Announce(t, "one")
		synctest.Wait()
		_, events := l.Listen(t, "")
		events.Want("event: announcement, one playing")
		second := r.Announce(t, "two")
		events.Want("event: announcement, two queued")
		r.Let <- struct{}{}
		events.Want(
			"id: "+first+", event: announcement, one done",
			"id: "+first+", event: announcement, two synthesizing",
			"id: "+first+", event: announcement, two playing",
		)
		r.Do(t, "DELETE", "/notify/"+second, "").Want(200, "")
		events.Want("id: " + second + ", event: announcement, two cancelled")
		began := time.Now()
		stopped := make(chan error)
		go func() { stopped <- stop() }()
		events.Want("")
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("a listener held up the stopping for %v", took)
		}
	})
}

// A client that comes back is told the ends that it missed, the oldest first,
// and how things stand.
func TestEventsAfterAnInterruption(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		l, stop := r.ServeWire()
		defer stop()
		var ids []string
		for _, message := range []string{"one", "two", "three"} {
			ids = append(ids, r.Announce(t, message))
			r.Let <- struct{}{}
			synctest.Wait()
		}
		r.Announce(t, "four")
		synctest.Wait()
		for _, tt := range []struct {
			lastSeen string
			want     []string
		}{
			{"", []string{"id: " + ids[2] + ", event: announcement, four playing"}},
			{ids[2], []string{"id: " + ids[2] + ", event: announcement, four playing"}},
			{ids[0], []string{
				"id: " + ids[1] + ", event: announcement, two done",
				"id: " + ids[2] + ", event: announcement, three done",
				"id: " + ids[2] + ", event: announcement, four playing",
			}},
			{"long-forgotten", []string{
				"id: " + ids[0] + ", event: announcement, one done",
				"id: " + ids[1] + ", event: announcement, two done",
				"id: " + ids[2] + ", event: announcement, three done",
				"id: " + ids[2] + ", event: announcement, four playing",
			}},
		} {
			conn, events := l.Listen(t, tt.lastSeen)
			events.Want(tt.want...)
			conn.Close()
		}
	})
}

func TestEventsAreAliveWhenNothingHappens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		l, stop := r.ServeWire()
		defer stop()
		began := time.Now()
		_, events := l.Listen(t, "")
		for i := 1; i <= 20; i++ { // far beyond the time-outs of ordinary requests
			events.Want(": still here")
			if since := time.Since(began); since != time.Duration(i)*15*time.Second {
				t.Fatalf("sign %d of life after %v", i, since)
			}
		}
	})
}

func TestListenerThatDoesNotReadIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		l, stop := r.ServeWire()
		conn, events := l.Listen(t, "")
		began := time.Now()
		events.Want(": still here")
		time.Sleep(15*time.Second + 10*time.Second - time.Nanosecond)
		synctest.Wait()
		if strings.Contains(r.Log.String(), "path=/events") {
			t.Error("it was dropped before its time")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !strings.Contains(r.Log.String(), "path=/events") {
			t.Errorf("it was not dropped after %v", time.Since(began))
		}
		conn.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// Whoever may no longer listen is hung up on at the next sign of life.
func TestListenerThatLosesItsPermissionIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &revocable{}
		r := webtest.NewRig(t, func(c *site.Config) { c.Access, c.Tokens = web.Token, k })
		l, stop := r.ServeWire()
		defer stop()
		_, resp := l.Ask(t, "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n")
		events := webtest.EventReader{T: t, Lines: bufio.NewScanner(resp.Body)}
		events.Want("retry: 2000", ": still here")
		k.revoked.Store(true)
		events.Want("")
		if err := events.Lines.Err(); err != nil {
			t.Errorf("the stream does not end, it breaks: %v", err)
		}
	})
}

// A stream begins with how things stand, and goes on with what comes after,
// even when something happens while they are listed.
func TestEventsBeforeTheListAreNotToldAgain(t *testing.T) {
	t.Parallel()
	changes := make(chan announce.Event, 10)
	changes <- announce.Event{} // before the listing
	state, listings := 1, 0
	queue, _ := announcements.Snapshot(changes, func() (queue, recent []announce.View) {
		if listings++; listings <= 2 { // during the first two
			changes <- announce.Event{}
			state++
		}
		return make([]announce.View, state), nil
	})
	if len(queue) != 3 || len(changes) != 0 || listings != 3 {
		t.Errorf("after %d listings, %d of 3 changes are in the list and %d are still to be told", listings, len(queue), len(changes))
	}
}

// revocable stands in for tokens: every one is valid until all are revoked.
type revocable struct{ revoked atomic.Bool }

func (k *revocable) NotifyToken(context.Context, string, netip.Addr) error {
	if k.revoked.Load() {
		return errors.New("revoked")
	}
	return nil
}
