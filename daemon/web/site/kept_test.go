package site_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// clientKey is the key of the context that net/http ends when it sees that the client has closed.
type clientKey struct{}

// A request to each route of the table that writes is carried out whatever becomes of its client; one to each other
// route ends with its client. A new route is in one of both.
func TestRoutes_clientCloses(t *testing.T) {
	t.Parallel()
	ended, read := make(chan error, 1), make(chan struct{}, 1)
	table := site.Routes()
	for i := range table {
		table[i].Class = web.Public
		table[i].Operation.Exact = false
		table[i].Path = fmt.Sprintf("/%d", i)
		table[i].Operation.Request, table[i].Operation.AnyMedia = nil, true
		table[i].Handle = func(_ http.ResponseWriter, r *http.Request) error {
			_, err := io.Copy(io.Discard, r.Body)
			read <- struct{}{}
			client, _ := r.Context().Value(clientKey{}).(context.Context)
			<-client.Done()
			ended <- r.Context().Err()
			return err
		}
	}
	s := check.Must(web.New(webtest.NewRig(t).Config.Config))(t)
	check.NoError(t, s.Mount(table, []byte(`{}`)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Handler().ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, r.Context())))
	}))
	t.Cleanup(server.Close)
	address := check.Must(net.ResolveTCPAddr("tcp", server.Listener.Addr().String()))(t)
	writes := 0
	for i, rt := range table {
		var want error = context.Canceled
		if rt.Writes() {
			writes++
			want = nil
		}
		for _, reset := range []bool{false, true} {
			conn := check.Must(net.DialTCP("tcp", nil, address))(t)
			const request = "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
			check.Must(fmt.Fprintf(conn, request, rt.Method, rt.Path))(t)
			if reset {
				<-read
				check.NoError(t, conn.SetLinger(0))
			}
			check.NoError(t, conn.Close())
			if !reset {
				<-read
			}
			name := site.Routes()[i].Template()
			check.ErrorIs(t, <-ended, want, "%s %s after its client has closed, by reset: %t", rt.Method, name, reset)
		}
	}
	check.That(t, writes > 60 && writes < len(table)-60, "%d of %d routes write", writes, len(table))
}

// closes has the ways in which a client that fires and forgets ends its connection.
var closes = map[string]func(*net.TCPConn) error{
	"half-closes": func(c *net.TCPConn) error {
		err := c.CloseWrite()
		_, errRead := io.Copy(io.Discard, c)
		return errors.Join(err, errRead, c.Close())
	},
	"closes after the last byte": (*net.TCPConn).Close,
	"closes without reading the answer": func(c *net.TCPConn) error {
		_, err := c.Read(make([]byte, 1))
		return errors.Join(err, c.Close())
	},
}

// With a disk that takes 30 ms, every announcement of a client that closes is saved, as are schedules and favorites.
func TestRoutes_fireAndForget(t *testing.T) {
	t.Parallel()
	for name, end := range closes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := webtest.NewRig(t, func(c *site.Config) { c.ControlAccess = web.ControlLAN })
			r.Speaker.Busy = 30 * time.Millisecond
			address := check.Must(net.ResolveTCPAddr("tcp", strings.TrimPrefix(r.ListenTCP(t), "http://")))(t)
			send := func(n int, method, path, body string) {
				const request = "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
				sendAndEnd(t, n, address, fmt.Sprintf(request, method, path, len(body), body), end)
			}
			for _, tt := range []struct {
				n                  int
				method, path, body string
			}{
				{200, "POST", "/notify?in=3600", `{"message": "x"}`},
				{20, "POST", "/ntfy/alerts?delay=1h", "x"},
				{20, "PUT", "/ntfy/alerts?delay=1h", "x"},
				{20, "POST", "/", `{"message": "x", "delay": "1h"}`},
				{20, "POST", "/message?in=3600", `{"message": "x"}`},
				{20, "POST", "/hooks/apprise?in=3600", `{"message": "x"}`},
			} {
				send(tt.n, tt.method, tt.path, tt.body)
				await(t, r.Announcer.Watch, func() bool { return len(r.Announcer.List().Scheduled) == tt.n })
				for _, v := range r.Announcer.List().Scheduled {
					check.Must(r.Announcer.Cancel(t.Context(), v.ID))(t)
				}
			}
			send(20, "POST", "/schedules", `{"name": "x", "cron": "0 8 * * *", "message": "x"}`)
			send(1, "PUT", "/favorites", `{"favorites": [{"message": "x"}]}`)
			await(t, r.Controls.Hub().Watch, func() bool {
				return len(r.Config.Control.Schedules.List()) == 20 && len(r.Controls.Favorites()) == 1
			})
		})
	}
}

// sendAndEnd sends a request n times, 20 at once, and ends each connection.
func sendAndEnd(t *testing.T, n int, to *net.TCPAddr, request string, end func(*net.TCPConn) error) {
	t.Helper()
	slots := make(chan struct{}, 20)
	var sending sync.WaitGroup
	for range n {
		slots <- struct{}{}
		sending.Go(func() {
			defer func() { <-slots }()
			conn, err := net.DialTCP("tcp", nil, to)
			if err == nil {
				_, err = io.WriteString(conn, request)
				err = errors.Join(err, end(conn))
			}
			check.That(t, err == nil, "%s: %v", request, err)
		})
	}
	sending.Wait()
}

// await waits until done, which it asks after each event.
func await[E any](t *testing.T, watch func() (<-chan E, func()), done func() bool) {
	t.Helper()
	events, stop := watch()
	defer stop()
	for !done() {
		select {
		case <-events: // closed if it is behind: then it asks again and again
		case <-time.After(time.Minute):
			t.Fatal("not everything is saved")
		}
	}
}
