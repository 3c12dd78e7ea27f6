// Package roomtest tests announcements to other rooms: three servers, each on a host of its own, and Debian's
// mosquitto. The hosts are network namespaces that are connected by pairs of interfaces (veth(4)).
package roomtest_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/daemon/client"
	"pressbox/daemon/lantest"
	"pressbox/daemon/mqtt/mqtttest"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m)) }

const maxWait = 90 * time.Second

// A host is a network namespace with a server.
type host struct {
	*client.Client
	t      *testing.T
	room   string
	holder *exec.Cmd // keeps the namespace
	link   string    // the broker's end of its cable
	env    []string
	dir    string
	server *servertest.Process
}

// command runs a program in the namespace; it has the same process id.
func (h *host) command(name string, args ...string) *exec.Cmd {
	return exec.Command("nsenter",
		append([]string{"--net=/proc/" + strconv.Itoa(h.holder.Process.Pid) + "/ns/net", name}, args...)...)
}

// newHost connects the i-th host to the broker's network.
func newHost(t *testing.T, i int, room string, settings ...string) *host {
	t.Helper()
	h := &host{t: t, room: room, link: fmt.Sprint("room", i), dir: servertest.CalibratedDir(t)}
	h.holder = exec.Command("sleep", "infinity")
	h.holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	check.NoError(t, h.holder.Start())
	t.Cleanup(func() { _, _ = h.holder.Process.Kill(), h.holder.Wait() })
	run(t, exec.Command("ip", "link", "add", h.link,
		"type", "veth", "peer", "name", "cable", "netns", strconv.Itoa(h.holder.Process.Pid)))
	run(t, exec.Command("ip", "addr", "add", fmt.Sprintf("10.77.%d.1/24", i), "dev", h.link))
	run(t, exec.Command("ip", "link", "set", h.link, "up"))
	address := fmt.Sprintf("10.77.%d.2", i)
	run(t, h.command("ip", "addr", "add", address+"/24", "dev", "cable"))
	run(t, h.command("ip", "link", "set", "cable", "up"))
	h.env = servertest.Environment(t, append(settings,
		"ROOM="+room, "HOST="+address, fmt.Sprintf("MQTT_URL=mqtt://10.77.%d.1:1883", i))...)
	h.start()
	return h
}

func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	check.Require(t, err == nil, "%q: %v\n%s", cmd.Args, err, out)
}

// start starts the server and waits until it is connected to the broker.
func (h *host) start() {
	h.t.Helper()
	cmd := h.command("pressbox", "serve")
	cmd.Dir, cmd.Env = h.dir, h.env
	h.server = check.Must(servertest.StartCommand(cmd))(h.t)
	server := h.server
	h.t.Cleanup(func() { _ = server.End(syscall.SIGKILL) }) // it may have ended
	h.Client = client.New(h.server.URL, "")
	h.awaitRooms(h.room)
}

// stop kills the server; the broker notices.
func (h *host) stop() { _ = h.server.End(syscall.SIGKILL) } // its error is the signal

// await waits until done reports true.
func (h *host) await(what string, done func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(maxWait); !done(); {
		if time.Now().After(deadline) {
			h.t.Fatalf("%s: waited for %s\n%s", h.room, what, h.server.Logged())
		}
		<-time.After(100 * time.Millisecond) // an address has 600 reads a minute
	}
}

// awaitRooms waits until the server knows exactly these rooms as online.
func (h *host) awaitRooms(names ...string) {
	h.t.Helper()
	h.await(fmt.Sprint("the rooms ", names), func() bool {
		var list struct {
			Rooms []struct {
				Name   string
				Online bool
			}
		}
		check.NoError(h.t, h.Call(h.t.Context(), http.MethodGet, "/rooms", nil, &list))
		return !slices.ContainsFunc(names, func(name string) bool {
			return !slices.ContainsFunc(list.Rooms, func(r struct {
				Name   string
				Online bool
			},
			) bool {
				return r.Name == strings.TrimPrefix(name, "-") && r.Online != strings.HasPrefix(name, "-")
			})
		})
	})
}

// An announcement is a body of GET /notify/{id}.
type announcement struct {
	ID, Status string
	Rooms      map[string]string
}

// post posts a message for rooms.
func (h *host) post(message, room string) announcement {
	h.t.Helper()
	var a announcement
	check.NoError(h.t, h.Call(h.t.Context(), http.MethodPost,
		"/notify", map[string]string{"message": message, "room": room}, &a))
	return a
}

// expect waits until the announcement has a status and states: "hall=done kitchen=sent".
func (h *host) expect(id, status, states string) {
	h.t.Helper()
	want := map[string]string{}
	for word := range strings.FieldsSeq(states) {
		name, state, _ := strings.Cut(word, "=")
		want[name] = state
	}
	var a announcement
	h.await(fmt.Sprintf("%s of %s %v", id, status, want), func() bool {
		a = announcement{}
		check.NoError(h.t, h.Call(h.t.Context(), http.MethodGet, "/notify/"+id, nil, &a))
		return a.Status == status && (len(want) == 0 && len(a.Rooms) == 0 || fmt.Sprint(a.Rooms) == fmt.Sprint(want))
	})
}

// spoken returns how many times the server has spoken announcements, by id.
func (h *host) spoken() map[string]int {
	counts := map[string]int{}
	for line := range strings.Lines(h.server.Logged()) {
		if _, rest, ok := strings.Cut(line, `msg="announcement ended" announcement=`); ok &&
			strings.Contains(rest, "status=done") {
			id, _, _ := strings.Cut(rest, " ")
			counts[id]++
		}
	}
	return counts
}

// newHosts connects hosts in the rooms hall, kitchen and den to a broker.
func newHosts(t *testing.T) (all []*host, broker *mqtttest.Broker) {
	t.Helper()
	check.Part(t, "ip")
	check.Part(t, "nsenter")
	sound := pulsetest.Start(t, pulsetest.Config{})
	broker = mqtttest.StartOn(t, "0.0.0.0:1883")
	for i, room := range []string{"hall", "kitchen", "den"} {
		all = append(all, newHost(t, i, room, "PULSE_SERVER="+sound.Address))
	}
	for _, h := range all {
		h.awaitRooms("hall", "kitchen", "den")
	}
	return all, broker
}

// checkSpoken fails the test unless each host has spoken what it played, once, and nothing else.
func checkSpoken(t *testing.T, played map[*host][]string) {
	t.Helper()
	for h, ids := range played {
		got := h.spoken()
		for _, id := range ids {
			check.Equal(t, got[id], 1, "%s has spoken %s", h.room, id)
			delete(got, id)
		}
		check.That(t, len(got) == 0, "%s has also spoken %v", h.room, got)
	}
}

// An announcement reaches the rooms that it names, once, whichever host was away meanwhile.
func TestAll_rooms(t *testing.T) {
	if !lantest.Inside(t) {
		return
	}
	all, broker := newHosts(t)
	front, kitchen, den := all[0], all[1], all[2]
	played := map[*host][]string{}
	t.Run("one, some, all", func(t *testing.T) {
		one := front.post("Kitchen.", "kitchen")
		some := front.post("Both.", "hall, den")
		every := kitchen.post("All.", "all")
		front.expect(one.ID, "done", "kitchen=done")
		front.expect(some.ID, "done", "den=done")
		kitchen.expect(every.ID, "done", "den=done hall=done")
		played[front] = append(played[front], some.ID, every.ID)
		played[kitchen] = append(played[kitchen], one.ID, every.ID)
		played[den] = append(played[den], some.ID, every.ID)
	})
	t.Run("two rooms post at once", func(t *testing.T) {
		ids := make(chan string, 2)
		for _, h := range []*host{front, den} {
			go func() { ids <- h.post("Now.", "all").ID }()
		}
		a, b := <-ids, <-ids
		for _, h := range all {
			h.await("both", func() bool { done := h.spoken(); return done[a] > 0 && done[b] > 0 })
			played[h] = append(played[h], a, b)
		}
	})
	t.Run("room away", func(t *testing.T) {
		kitchen.stop()
		played[kitchen] = nil // its log begins again
		front.awaitRooms("-kitchen")
		a := front.post("Later.", "kitchen, den")
		front.expect(a.ID, "queued", "den=done kitchen=waiting")
		kitchen.start()
		front.expect(a.ID, "done", "den=done kitchen=done")
		played[kitchen] = append(played[kitchen], a.ID)
		played[den] = append(played[den], a.ID)
	})
	t.Run("sender away", func(t *testing.T) {
		kitchen.stop()
		played[kitchen] = nil
		front.awaitRooms("-kitchen")
		a := front.post("Kept.", "kitchen")
		front.stop()
		played[front] = nil
		kitchen.start()
		front.start()
		front.expect(a.ID, "done", "kitchen=done")
		played[kitchen] = append(played[kitchen], a.ID)
	})
	t.Run("broker away", func(t *testing.T) {
		broker.SetAway(true)
		front.await("the broker to be away", func() bool {
			var a announcement
			err := front.Call(t.Context(), http.MethodPost,
				"/notify", map[string]string{"message": "No.", "room": "den"}, &a)
			if err == nil { // accepted before the connection was noticed to be lost
				played[den] = append(played[den], a.ID)
			}
			return err != nil && strings.Contains(err.Error(), "cannot be reached")
		})
		broker.SetAway(false)
		front.awaitRooms("hall", "kitchen", "den")
		for _, id := range played[den] {
			den.await("what was accepted before", func() bool { return den.spoken()[id] > 0 })
		}
	})
	t.Run("broker killed", func(t *testing.T) {
		a := front.post("Before.", "kitchen")
		broker.Kill()
		broker.Restart()
		front.expect(a.ID, "done", "kitchen=done")
		front.awaitRooms("hall", "kitchen", "den")
		b := front.post("After.", "kitchen")
		front.expect(b.ID, "done", "kitchen=done")
		played[kitchen] = append(played[kitchen], a.ID, b.ID)
	})
	checkSpoken(t, played)
}
