//go:build installed

package installed

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"pressbox/packaging/check"
	"pressbox/packaging/hosttest"
)

// Files with which the program before an upgrade goes on.
const (
	previousProgram = "/usr/lib/pressbox/previous/pressbox"
	previousUnit    = "/etc/systemd/system/pressbox.service"
	previousDropIn  = previousUnit + ".d/previous.conf"
)

func testUpgrade(s *server) {
	s.run("systemctl", "stop", "pressbox-esphome.socket") // as if the installed version did not have it
	s.subscribe(currentPackage(s.t))
	game := s.play()
	r := s.underLoad(func() { s.run("apt-get", "install", "--yes", "--quiet=2", "--only-upgrade", "pressbox") })
	r.mustAnswerSince(s.t, time.Time{})
	game.finish()
	// What a purge leaves, as it is apt's.
	s.run("sh", "-c", "rm "+hosttest.SourcesFile+" /var/cache/apt/archives/pressbox_*")
	s.checkVersion()
	s.checkWyoming()
	config := s.run("pressbox", "config")
	check.That(s.t, containsLine(config, "VOLUME", "90", "pressbox.env"), "an edited setting is lost:\n%s", config)
}

// checkVersion checks that the current version serves, and that nothing of the one before it is left.
func (s *server) checkVersion() {
	s.t.Helper()
	check.Equal(s.t, s.health().Version, version(s.t), "the version that answers")
	for _, path := range []string{previousProgram, previousUnit, previousDropIn} {
		check.That(s.t, !s.exists(path), "%s exists", path)
	}
	check.Contains(s.t, s.try("sh", "-c", "ls -d /var/lib/pressbox/upgrade-*"), "No such file", "the list of copies")
}

// subscribe serves a repository of "make repo" with a package to the host, whose apt reads it.
func (s *server) subscribe(deb string) {
	s.t.Helper()
	dist := s.t.TempDir()
	l := check.Must(s.listen("tcp", "127.0.0.1:0"))(s.t)
	web := http.Server{Handler: http.FileServer(http.Dir(filepath.Join(dist, "repo")))}
	go func() { _ = web.Serve(l) }() // until the host is powered off
	s.t.Cleanup(func() { check.NoError(s.t, web.Close()) })
	s.write(hosttest.SourcesFile, hosttest.Publish(s.t, deb, dist, "http://"+l.Addr().String()))
	s.run(strings.Fields(hosttest.UpdateCommand)...)
}

// firstPackage returns the package of version 0.5.0.
func firstPackage(t *testing.T) (deb string) {
	t.Helper()
	arch := nativeArch(t)
	deb = check.Must(filepath.Abs("../../.build/installed/pressbox_0.5.0_" + arch + ".deb"))(t)
	run(t, buildTime, "../deb/first", arch, deb)
	return deb
}

// TestFirstVersion upgrades a host with version 0.5.0. Nothing that the server has acknowledged is lost; a version
// that does not work before that changes nothing, also after a start of the host.
func TestFirstVersion(t *testing.T) {
	s := newServer(boot(t, "bookworm"))
	s.install(firstPackage(t))
	var posted, found struct{ ID, Message string }
	s.mustRequest("POST", "/notify", map[string]any{"message": "Dinner is ready.", "ttl": 86_400}, &posted)
	token := s.run("pressbox", "tokens", "create", "anna")

	install := s.command("apt-get", "install", "--yes", "--quiet=2", s.copyIn(brokenPackage(s)))
	out, err := install.CombinedOutput()
	check.That(t, err != nil, "the broken version was installed:\n%s", out)
	s.run("systemctl", "daemon-reload") // as a start of the host does
	s.run("systemctl", "restart", "pressbox.service")
	check.Equal(t, s.health().Version, "0.5.0", "the version after the failed upgrade")

	s.run("apt-get", "install", "--yes", "--quiet=2", "--allow-downgrades", s.copyIn(currentPackage(t)))
	s.checkVersion()
	s.checkWyoming()
	s.mustRequest("GET", "/notify/"+posted.ID, nil, &found)
	check.Equal(t, found.Message, "Dinner is ready.", "the announcement")
	check.Contains(t, s.run("pressbox", "tokens", "list"), "anna", "the tokens")
	check.Must(s.Request("GET", "/notify", nil, nil, "Authorization", "Bearer "+token))(t)
}

// testFailedUpgrade upgrades to a version that does not work. The one before it goes on, also
// after a restart, until there is one that works.
func testFailedUpgrade(s *server) {
	broken := s.copyIn(brokenPackage(s))
	r := s.underLoad(func() {
		out, err := s.command("apt-get", "install", "--yes", "--quiet=2", broken).CombinedOutput()
		check.That(s.t, err != nil, "the broken version was installed")
		check.Contains(s.t, string(out), "out of order", "the upgrade")
		check.Contains(s.t, string(out), "version "+version(s.t)+" goes on serving", "the upgrade")
	})
	r.mustAnswerSince(s.t, time.Time{})
	s.run("systemctl", "restart", "pressbox.service")
	check.Equal(s.t, s.health().Version, version(s.t), "the version after a restart")
	out, err := s.command("dpkg", "--configure", "pressbox").CombinedOutput()
	check.That(s.t, err != nil, "the broken version was configured:\n%s", out)
	s.run("apt-get", "install", "--yes", "--quiet=2", "--allow-downgrades", s.copyIn(currentPackage(s.t)))
	s.checkVersion()
	s.checkSpeech()
}

// brokenPackage returns the current package with a later version, and a program that ends at once.
func brokenPackage(s *server) (deb string) {
	s.t.Helper()
	dir := s.t.TempDir()
	tree, deb := filepath.Join(dir, "tree"), filepath.Join(dir, "pressbox_broken.deb")
	run(s.t, commandTime, "dpkg-deb", "--raw-extract", currentPackage(s.t), tree)
	run(s.t, commandTime, "sed", "-i", fmt.Sprintf("s/^Version: .*/Version: %s+broken/", version(s.t)),
		filepath.Join(tree, "DEBIAN/control"))
	check.NoError(s.t, os.WriteFile(filepath.Join(tree, "usr/bin/pressbox"),
		[]byte("#!/bin/sh\necho 'pressbox: out of order' >&2\nexit 1\n"), 0o755))
	run(s.t, commandTime, "dpkg-deb", "--build", "--root-owner-group", "-Znone", tree, deb)
	return deb
}

// A player plays both sides of a game while the server is restarted.
type player struct {
	*server
	id   string
	stop chan struct{}
	end  sync.WaitGroup

	moves atomic.Int64 // acknowledged

	// Read after play has stopped.
	rev         uint64 // the highest acknowledged revision
	connections int    // websocket connections opened
}

const movePause = 500 * time.Millisecond // between two moves, so that the game outlasts the upgrade

// errOver reports that nothing is left to play.
var errOver = errors.New("the game is over")

// play signs up an account and plays until finish is called.
func (s *server) play() *player {
	s.t.Helper()
	person := *s
	t := &player{server: &person, stop: make(chan struct{})}
	t.id = t.StartGame(s.t)
	t.end.Go(t.run)
	return t
}

// run plays moves, on a new connection whenever one breaks, until the game is over.
func (t *player) run() {
	for {
		t.connections++
		if err := t.playOnce(); err == nil || errors.Is(err, errOver) {
			return
		}
		select {
		case <-t.stop:
			return
		case <-time.After(movePause):
		}
	}
}

// A frame holds the fields of a websocket frame that the player reads.
type frame struct {
	T, CID string
	Rev    uint64
}

// playOnce plays on one connection, until it breaks or play stops.
func (t *player) playOnce() error {
	dialer := websocket.Dialer{NetDialContext: t.dial, Jar: t.Jar, Subprotocols: []string{"pressbox.v1"}}
	line, resp, err := dialer.Dial("ws://127.0.0.1:8888/api/ws", nil)
	if err != nil {
		return err
	}
	resp.Body.Close()
	defer line.Close()
	if err := line.WriteJSON(map[string]any{"t": "join", "g": t.id}); err != nil {
		return err
	}
	for {
		if err := t.move(line); err != nil {
			return err
		}
		select {
		case <-t.stop:
			return nil
		case <-time.After(movePause):
		}
	}
}

// move sends the first legal move and waits for its acknowledgement.
func (t *player) move(line *websocket.Conn) error {
	var game struct {
		Status string
		Rev    uint64
		Legal  []struct{ Action json.RawMessage }
	}
	if _, err := t.Request(http.MethodGet, "/api/games/"+t.id, nil, &game); err != nil {
		return err
	}
	if game.Status == "finished" {
		return errOver
	}
	if len(game.Legal) == 0 {
		return fmt.Errorf("the game is %s and nothing is legal", game.Status)
	}
	cid := fmt.Sprint(t.moves.Load(), "-", t.connections)
	if err := line.WriteJSON(map[string]any{
		"t": "cmd", "g": t.id, "cid": cid, "rev": game.Rev, "d": map[string]any{"action": game.Legal[0].Action},
	}); err != nil {
		return err
	}
	if err := line.SetReadDeadline(time.Now().Add(commandTime)); err != nil {
		return err
	}
	for {
		var f frame
		if err := line.ReadJSON(&f); err != nil {
			return err
		}
		if f.CID != cid {
			continue
		}
		if f.T == "ack" {
			t.moves.Add(1)
			t.rev = max(t.rev, f.Rev)
		}
		return nil
	}
}

// finish stops play, checks that every acknowledged move was saved, and concedes the game
// unless it is over: an unfinished game keeps the server from exiting when idle.
func (t *player) finish() {
	t.t.Helper()
	t.until("ten moves were made", func() bool { return t.moves.Load() >= 10 })
	close(t.stop)
	t.end.Wait()
	var game struct{ Events []struct{ Rev uint64 } }
	t.mustRequest("GET", "/api/games/"+t.id+"/events?since=0", nil, &game)
	for i, e := range game.Events {
		check.Require(t.t, e.Rev == uint64(i)+1, "event %d of the game has revision %d", i+1, e.Rev)
	}
	check.That(t.t, uint64(len(game.Events)) >= t.rev, "of %d acknowledged moves up to revision %d, %d are saved",
		t.moves.Load(), t.rev, len(game.Events))
	check.That(t.t, t.connections >= 2, "no connection broke: was the server restarted?")
	t.t.Logf("game: %d moves on %d connections", t.moves.Load(), t.connections)
	var state struct{ Status string }
	t.mustRequest(http.MethodGet, "/api/games/"+t.id, nil, &state)
	if state.Status != "finished" {
		t.mustRequest(http.MethodPost, "/api/games/"+t.id+"/concede", struct{}{}, nil)
	}
}
