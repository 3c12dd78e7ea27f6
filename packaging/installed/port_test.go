//go:build installed

package installed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	settingsFile = "/etc/pressbox/pressbox.env"
	avahiFile    = "/etc/avahi/services/pressbox.service"
	portDropIn   = "/etc/systemd/system/pressbox.socket.d/port.conf"
)

// movesPort has the appliance listen on another port and again on its own, while
// somebody announces all the time.
func movesPort(a *appliance) {
	a.run("apt-get", "install", "--yes", "--quiet=2", "avahi-daemon", "avahi-utils")
	a.run("sed", "-i", "s/^#QUEUE_MAX_SIZE=.*/QUEUE_MAX_SIZE=10000/", settingsFile)
	a.run("systemctl", "reload", "pressbox.service")
	shipped := a.run("cat", settingsFile, avahiFile)
	a.movesNowhere()

	posts := a.post()
	posts.more()
	a.run("pressbox", "set-port", "9000")
	posts.more()
	a.listensOnly(9000, 8888)
	if got := a.run("pressbox", "config"); !containsLine(got, "PORT", "9000", settingsFile) {
		a.t.Errorf("the settings do not say the port:\n%s", got)
	}
	a.until("Avahi announces the port", func() bool {
		return containsLine(a.try("avahi-browse", "--terminate", "--resolve", "--parsable", "_http._tcp"), "Pressbox", ";9000;")
	})
	a.run("runuser", "--user=bob", "--", "pressbox", "say", "Even who may not read the settings is heard.")

	a.run("pressbox", "set-port", "8888")
	posts.more()
	a.listensOnly(8888, 9000)
	if got := a.run("cat", settingsFile, avahiFile); got != shipped || a.exists(portDropIn) {
		a.t.Errorf("set-port 8888 leaves a drop-in (%v), and of the files\n%s", a.exists(portDropIn), got)
	}
	posts.finish()
	a.must("DELETE", "/notify", nil, nil)
	a.run("sed", "-i", "s/^QUEUE_MAX_SIZE=.*/#QUEUE_MAX_SIZE=50/", settingsFile)
	a.run("systemctl", "reload", "pressbox.service")
}

// movesNowhere has set-port refuse what it cannot do, before anything is changed.
func (a *appliance) movesNowhere() {
	a.t.Helper()
	before := a.run("cat", settingsFile, avahiFile)
	a.run("systemd-run", "--quiet", "--unit=other", "systemd-socket-activate", "--listen=9000", "true")
	a.until("somebody else listens", func() bool { return strings.Contains(a.run("ss", "-Hltn", "sport = :9000"), "9000") })
	for port, want := range map[string]struct {
		code int
		why  string
	}{
		"0": {2, "from 1 to 65535"}, "65536": {2, "from 1 to 65535"}, "http": {2, "from 1 to 65535"}, "9000": {6, "in use by another program"},
	} {
		out, err := a.command("pressbox", "set-port", port).CombinedOutput()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != want.code || !strings.Contains(string(out), want.why) {
			a.t.Errorf("set-port %s: %v, want exit status %d and %q:\n%s", port, err, want.code, want.why, out)
		}
	}
	a.run("systemctl", "stop", "other.service")
	if got := a.run("cat", settingsFile, avahiFile); got != before || a.exists(portDropIn) {
		a.t.Errorf("a port that was refused leaves a drop-in (%v), and of the files\n%s", a.exists(portDropIn), got)
	}
	a.health()
}

// listensOnly checks that one port answers, and the other one refuses.
func (a *appliance) listensOnly(port, other int) {
	a.t.Helper()
	a.at(port).health()
	if _, err := a.at(other).ask("GET", "/health", nil, nil); !errors.Is(err, syscall.ECONNREFUSED) {
		a.t.Errorf("port %d: %v, want that it refuses", other, err)
	}
	if got := a.run("systemctl", "show", "--property=StatusText", "pressbox.service"); !strings.Contains(got, strconv.Itoa(port)) {
		a.t.Errorf("systemctl status says %q, want port %d", got, port)
	}
}

// at is the appliance, asked at another port.
func (a *appliance) at(port int) *appliance {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return a.dial(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return &appliance{a.machine, http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}, Timeout: commandTime}}
}

// A post is somebody who announces all the time: what was not answered is sent again,
// at the other port where one refuses, until it is accepted.
type post struct {
	*appliance
	stop  chan struct{}
	ended chan struct{}
	sent  atomic.Int64 // announcements that were accepted

	// To be read when it has ended.
	refused, cut int   // connections
	wrong        error // why it ended by itself
}

func (a *appliance) post() *post {
	p := &post{appliance: a, stop: make(chan struct{}), ended: make(chan struct{})}
	go p.run()
	return p
}

func (p *post) run() {
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
		_, err := p.at(ports[0]).ask("POST", "/notify", map[string]any{"message": message}, &posted, "Idempotency-Key", strconv.FormatInt(p.sent.Load(), 10))
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

// more waits until more was accepted.
func (p *post) more() {
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

// finish ends it, and checks that everything that was accepted is kept, and once.
func (p *post) finish() {
	p.t.Helper()
	close(p.stop)
	<-p.ended
	if p.wrong != nil {
		p.t.Fatalf("announcement %d: %v", p.sent.Load()+1, p.wrong)
	}
	type announcement struct{ Message string }
	var kept struct{ Queue, Recent []announcement }
	p.must("GET", "/notify", nil, &kept)
	times := make(map[string]int)
	for _, k := range append(kept.Queue, kept.Recent...) {
		times[k.Message]++
	}
	for n := range p.sent.Load() {
		if message := fmt.Sprintf("Announcement %d.", n+1); times[message] != 1 {
			p.t.Errorf("%q was accepted, and is kept %d times", message, times[message])
		}
	}
	if p.refused < 2 {
		p.t.Errorf("a port refused %d times, want that both do", p.refused)
	}
	p.t.Logf("%d announcements; %d connections were refused, %d cut off", p.sent.Load(), p.refused, p.cut)
}
