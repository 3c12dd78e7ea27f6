//go:build installed

package installed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"pressbox/packaging/check"
)

const (
	settingsFile = "/etc/pressbox/pressbox.env"
	avahiFile    = "/etc/avahi/services/pressbox.service"
	portDropIn   = "/etc/systemd/system/pressbox.socket.d/port.conf"
)

// testSetPort changes the port and changes it back while a client posts announcements.
func testSetPort(s *server) {
	s.run("apt-get", "install", "--yes", "--quiet=2", "avahi-daemon", "avahi-utils")
	s.run("sed", "-i", "s/^#QUEUE_MAX_SIZE=.*/QUEUE_MAX_SIZE=10000/", settingsFile)
	s.run("systemctl", "reload", "pressbox.service")
	shipped := s.run("cat", settingsFile, avahiFile)
	s.checkBadPorts()

	posts := s.startPosting()
	posts.waitAccepted()
	s.run("pressbox", "set-port", "9000")
	posts.waitAccepted()
	s.checkPorts(9000, 8888)
	config := s.run("pressbox", "config")
	check.That(s.t, containsLine(config, "PORT", "9000", settingsFile), "the settings do not say the port:\n%s", config)
	s.until("Avahi announces the port", func() bool {
		return containsLine(s.try("avahi-browse", "--terminate", "--resolve", "--parsable", "_http._tcp"), "Pressbox",
			";9000;")
	})
	s.run("runuser", "--user=bob", "--", "pressbox", "say", "A user without access to the settings can announce.")

	s.run("pressbox", "set-port", "8888")
	posts.waitAccepted()
	s.checkPorts(8888, 9000)
	check.Equal(s.t, s.run("cat", settingsFile, avahiFile), shipped, "the files after set-port 8888")
	check.That(s.t, !s.exists(portDropIn), "set-port 8888 leaves a drop-in")
	posts.finish()
	s.mustRequest("DELETE", "/notify", nil, nil)
	s.run("sed", "-i", "s/^QUEUE_MAX_SIZE=.*/#QUEUE_MAX_SIZE=50/", settingsFile)
	s.run("systemctl", "reload", "pressbox.service")
}

// checkBadPorts checks that set-port rejects unusable ports and changes nothing.
func (s *server) checkBadPorts() {
	s.t.Helper()
	before := s.run("cat", settingsFile, avahiFile)
	s.run("systemd-run", "--quiet", "--unit=other", "systemd-socket-activate", "--listen=9000", "true")
	s.until("another program listens", func() bool {
		return strings.Contains(s.run("ss", "-Hltn", "sport = :9000"), "9000")
	})
	for _, port := range []string{"0", "65536", "http"} {
		s.mustRefuse(2, "from 1 to 65535", "pressbox", "set-port", port)
	}
	s.mustRefuse(6, "in use by another program", "pressbox", "set-port", "9000")
	s.run("systemctl", "stop", "other.service")
	check.Equal(s.t, s.run("cat", settingsFile, avahiFile), before, "the files after a port that was refused")
	check.That(s.t, !s.exists(portDropIn), "a port that was refused leaves a drop-in")
	s.health()
}

// checkPorts checks that one port answers and the other refuses connections.
func (s *server) checkPorts(port, other int) {
	s.t.Helper()
	s.atPort(port).health()
	_, err := s.atPort(other).request("GET", "/health", nil, nil)
	check.ErrorIs(s.t, err, syscall.ECONNREFUSED, "port %d", other)
	s.checkStatus(strconv.Itoa(port))
}

// atPort returns the server with requests to another port.
func (s *server) atPort(port int) *server {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return s.dial(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return &server{s.host, http.Client{
		Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true},
		Timeout:   commandTime,
	}}
}

// A poster posts announcements continuously. It repeats a request that was not answered,
// at the other port if one refuses, until it is accepted.
type poster struct {
	*server
	stop  chan struct{}
	ended chan struct{}
	sent  atomic.Int64 // accepted announcements

	// Read after it has ended.
	refused, cut int   // connections
	wrong        error // an unexpected error, which ends it
}

func (s *server) startPosting() *poster {
	p := &poster{server: s, stop: make(chan struct{}), ended: make(chan struct{})}
	go p.run()
	return p
}

func (p *poster) run() {
	defer close(p.ended)
	ports := []int{8888, 9000}
	for {
		select {
		case <-p.stop:
			return
		case <-time.After(10 * time.Millisecond):
		}
		var posted struct{ ID string }
		message := fmt.Sprintf("Announcement %d.", p.sent.Load()+1)
		_, err := p.atPort(ports[0]).request("POST", "/notify", map[string]any{"message": message}, &posted,
			"Idempotency-Key", strconv.FormatInt(p.sent.Load(), 10))
		switch {
		case err == nil:
			p.sent.Add(1)
		case errors.Is(err, syscall.ECONNREFUSED):
			p.refused++
			ports[0], ports[1] = ports[1], ports[0]
		case errors.Is(err, syscall.ECONNRESET), strings.HasSuffix(err.Error(), "EOF"):
			p.cut++
		default:
			p.wrong = err
			return
		}
	}
}

// waitAccepted waits until 20 more announcements are accepted.
func (p *poster) waitAccepted() {
	p.t.Helper()
	enough := p.sent.Load() + 20
	p.until("more is accepted", func() bool {
		select {
		case <-p.ended:
			p.t.Fatalf("announcement %d: %v", p.sent.Load()+1, p.wrong)
		default:
		}
		return p.sent.Load() >= enough
	})
}

// finish stops posting and checks that every accepted announcement was saved once.
func (p *poster) finish() {
	p.t.Helper()
	close(p.stop)
	<-p.ended
	if p.wrong != nil {
		p.t.Fatalf("announcement %d: %v", p.sent.Load()+1, p.wrong)
	}
	type announcement struct{ Message string }
	var list struct{ Queue, Recent []announcement }
	p.mustRequest("GET", "/notify", nil, &list)
	times := make(map[string]int)
	for _, k := range append(list.Queue, list.Recent...) {
		times[k.Message]++
	}
	for n := range p.sent.Load() {
		check.Equal(p.t, times[fmt.Sprintf("Announcement %d.", n+1)], 1, "times that announcement %d is listed", n+1)
	}
	check.That(p.t, p.refused >= 2, "%d connections were refused, want at least one at each port", p.refused)
	p.t.Logf("%d announcements; %d connections were refused, %d cut off", p.sent.Load(), p.refused, p.cut)
}
