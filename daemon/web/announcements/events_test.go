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

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
)

func TestEvents_everyChange(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		first := r.Announce(r.T, "one")
		synctest.Wait()
		_, events := l.Listen(r.T, "")
		events.Want("event: announcement, one playing")
		second := r.Announce(r.T, "two")
		events.Want("event: announcement, two queued")
		r.Release <- struct{}{}
		events.Want(
			"id: "+first+", event: announcement, one done",
			"id: "+first+", event: announcement, two synthesizing",
			"id: "+first+", event: announcement, two playing",
		)
		r.Do(r.T, "DELETE", "/notify/"+second, "").Want(200)
		events.Want("id: " + second + ", event: announcement, two cancelled")
		began := time.Now()
		stopped := make(chan error)
		go func() { stopped <- l.Stop() }()
		events.Want("")
		check.NoError(r.T, <-stopped)
		took := time.Since(began)
		check.That(r.T, took <= time.Second, "shutdown with a client took %v", took)
	})
}

// A client that reconnects receives the ends that it missed, oldest first, and the queue.
func TestEvents_lastEventID(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		var ids []string
		for _, message := range []string{"one", "two", "three"} {
			ids = append(ids, r.Announce(r.T, message))
			r.Release <- struct{}{}
			synctest.Wait()
		}
		r.Announce(r.T, "four")
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
			{"deleted", []string{
				"id: " + ids[0] + ", event: announcement, one done",
				"id: " + ids[1] + ", event: announcement, two done",
				"id: " + ids[2] + ", event: announcement, three done",
				"id: " + ids[2] + ", event: announcement, four playing",
			}},
		} {
			conn, events := l.Listen(r.T, tt.lastSeen)
			events.Want(tt.want...)
			conn.Close()
		}
	})
}

func TestEvents_heartbeat(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		began := time.Now()
		_, events := l.Listen(r.T, "")
		for i := 1; i <= 20; i++ { // beyond the timeouts of other requests
			events.Want(": heartbeat")
			since := time.Since(began)
			check.Require(r.T, since == time.Duration(i)*15*time.Second, "heartbeat %d after %v", i, since)
		}
	})
}

func TestEvents_slowClient(t *testing.T) {
	webtest.InBubble(t, webtest.NewRig, func(r *webtest.Rig, l *webtest.Wire) {
		conn, events := l.Listen(r.T, "")
		began := time.Now()
		events.Want(": heartbeat")
		time.Sleep(15*time.Second + 10*time.Second - time.Nanosecond)
		synctest.Wait()
		check.That(r.T, !strings.Contains(r.Log.String(), "path=/events"), "disconnected before the timeout")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		check.That(r.T, strings.Contains(r.Log.String(), "path=/events"),
			"not disconnected after %v", time.Since(began))
		conn.Close()
	})
}

// A stream ends at the next heartbeat after its client has lost its permission.
func TestEvents_permissionLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &revocable{}
		r := webtest.NewRig(t, func(c *site.Config) { c.Access, c.Tokens = web.Token, k })
		l, stop := r.ServeWire()
		defer stop()
		_, resp := l.Ask(t, "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n")
		events := webtest.EventReader{T: t, Lines: bufio.NewScanner(resp.Body)}
		events.Want("retry: 2000", ": heartbeat")
		k.revoked.Store(true)
		events.Want("")
		err := events.Lines.Err()
		check.That(t, err == nil, "the stream ends with %v", err)
	})
}

// A snapshot includes the changes during the listing, and removes their events.
func TestSnapshot_changesDuringListing(t *testing.T) {
	t.Parallel()
	changes := make(chan announce.Event, 10)
	changes <- announce.Event{} // before the listing
	state, listings := 1, 0
	list := announcements.Snapshot(changes, func() announce.List {
		if listings++; listings <= 2 { // during the first two
			changes <- announce.Event{}
			state++
		}
		return announce.List{Queue: make([]announce.View, state)}
	})
	if len(list.Queue) != 3 || len(changes) != 0 || listings != 3 {
		t.Errorf(
			"after %d listings, %d of 3 changes are in the list and %d events are left", listings, len(list.Queue),
			len(changes),
		)
	}
}

// revocable implements Tokens: every token is valid until all are revoked.
type revocable struct{ revoked atomic.Bool }

func (k *revocable) NotifyToken(context.Context, string, netip.Addr) (auth.APIToken, error) {
	if k.revoked.Load() {
		return auth.APIToken{}, errors.New("revoked")
	}
	return auth.APIToken{ID: "1", Name: "kitchen"}, nil
}
