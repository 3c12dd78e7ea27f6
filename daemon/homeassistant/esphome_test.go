//go:build homeassistant

package homeassistant_test

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

// The speaker that Home Assistant uses by ESPHome's API: a media player and an announce target.
func TestHomeAssistant_speaker(t *testing.T) {
	t.Parallel()
	tree := os.Getenv("PRESSBOX_HOMEASSISTANT")
	check.Require(t, tree != "", `"make test-homeassistant" names a Home Assistant`)
	port, wyoming := freePort(t), freePort(t)
	s := servertest.NewServer(t, "ROOM=Kitchen", "CONTROL_ACCESS=lan",
		fmt.Sprint("ESPHOME_PORT=", port), fmt.Sprint("WYOMING_PORT=", wyoming))
	// action is the recipe of a section, with the entity that there is in place of the one that it names.
	action := func(section, entity string) string {
		platform, _, _ := strings.Cut(entity, ".")
		there := `"{{ states.` + platform + ` | map(attribute='entity_id') | first }}"`
		recipe := strings.ReplaceAll(blocks(t, "connect.md", "## "+section, "\n## ")[0], entity, there)
		return "\n- " + strings.ReplaceAll(recipe, "\n", "\n  ")
	}
	configuration := "media_source:\ntts:\nconversation:\nfrontend:\nautomation:\n" + automation("dinner",
		"triggers: [{trigger: event, event_type: dinner}]\nactions:"+
			action("A speaker in Home Assistant", "assist_satellite.pressbox_kitchen_assist_satellite")+
			action("Speakers that are there", "media_player.living_room"))
	h := &home{hub: startHub(t, tree, configuration), server: s, wyomingPort: wyoming}
	h.add("wyoming", map[string]any{"host": "127.0.0.1", "port": wyoming})
	end := h.add("esphome", map[string]any{"host": "127.0.0.1", "port": port})
	check.Equal(t, end["title"], any("Pressbox kitchen"), "the title")
	h.wait(h.only("media_player"), "idle")
	for _, fact := range []struct {
		name string
		test func(*home, *testing.T)
	}{
		{"speaker", (*home).speaker},
		{"speak", (*home).speak},
		{"play", (*home).play},
		{"volume", (*home).volume},
		{"announce", (*home).announceText},
		{"recipe", (*home).recipe},
		{"held", (*home).held},
		{"refuse", (*home).refuse},
		{"broadcast", (*home).broadcast},
		{"back", (*home).back},
		{"several", (*home).several},
		{"encrypted", (*home).encrypted},
	} {
		t.Run(fact.name, func(t *testing.T) {
			h.t = t
			fact.test(h, t)
		})
	}
	h.t = t
	for line := range strings.Lines(h.log()) {
		wrong := strings.Contains(line, "ERROR") && strings.Contains(line, "esphome") && !strings.Contains(line, "none.mp3")
		check.That(t, !wrong, "Home Assistant's log: %s", line)
	}
}

// only returns the only entity of a platform. Home Assistant makes its id from the names of the device and, since
// 2026.11, of its area.
func (h *home) only(platform string) (entity string) {
	h.t.Helper()
	h.until("an entity of "+platform, func() bool {
		entity = h.template(`{{ states.` + platform + ` | map(attribute="entity_id") | join(" ") }}`)
		return entity != ""
	})
	return entity
}

// Features of Home Assistant's media players.
const (
	volumeSet, volumeMute, playMedia, volumeStep = 1 << 2, 1 << 3, 1 << 9, 1 << 10
	stop, play, browseMedia, mediaAnnounce       = 1 << 12, 1 << 14, 1 << 17, 1 << 20
)

// speaker is what the entities can do, in the area of the room.
func (h *home) speaker(t *testing.T) {
	t.Helper()
	_, a := h.state(h.only("media_player"))
	const all = volumeSet | volumeMute | playMedia | volumeStep | stop | play | browseMedia | mediaAnnounce
	check.Equal(t, int(a["supported_features"].(float64)), all, "features")
	check.Equal(t, a["volume_level"], any(1.0), "volume")
	check.Equal(t, h.template(`{{ area_name("`+h.only("assist_satellite")+`") }}`), "Kitchen", "the area")
}

// A sounded is an announcement with its sound and sender.
type sounded struct {
	ID, Message, Status, Chime, Sound, Reason string
	Seconds                                   float64
	Sender                                    struct{ Kind string }
}

// newest returns the newest announcement.
func (h *home) newest() (a sounded) {
	h.t.Helper()
	var list struct{ Queue, Scheduled, Recent []sounded }
	check.NoError(h.t, h.server.Call(h.t.Context(), http.MethodGet, "/notify", nil, &list))
	if all := slices.Concat(list.Scheduled, list.Queue, list.Recent); len(all) > 0 {
		return all[0]
	}
	return a
}

// heardAfter calls a service, and returns what is announced then, when it has been played, and the time from the call to
// the first sound.
func (h *home) heardAfter(service string, data map[string]any) (a sounded, first time.Duration) {
	h.t.Helper()
	before := h.newest().ID
	time.Sleep(time.Second) // longer than the silence between two announcements
	heard := h.server.Sound.Record()
	begin, began := heard.Len(), time.Now()
	loud := func(s float32) bool { return math.Abs(float64(s)) > 0.01 }
	called := make(chan struct{})
	go func() {
		defer close(called)
		h.call(service, data)
	}()
	check.That(h.t, heard.WaitFor(func(all []float32) bool { return slices.ContainsFunc(all[begin:], loud) }), "silence")
	first = time.Since(began)
	<-called
	h.until("it is played", func() bool {
		a = h.newest()
		return a.ID != before && a.Status == "done"
	})
	heard.Stop()
	check.Equal(h.t, a.Sender.Kind, "homeassistant", "the kind of sender")
	return a, first
}

// median returns the middle one of three latencies.
func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// speak is tts.speak: the sound of any voice of the house is an announcement.
func (h *home) speak(t *testing.T) {
	t.Helper()
	for _, numbers := range [][]int{{1, 2, 3, 4, 5}, {6, 6, 6, 6, 6}} { // Home Assistant keeps what it has made
		var all []time.Duration
		for _, i := range numbers {
			a, first := h.heardAfter("tts.speak", map[string]any{
				"entity_id": "tts.pressbox_kitchen", "media_player_entity_id": h.only("media_player"),
				"message": fmt.Sprintf("Dinner number %d is ready, please come to the table now.", i),
			})
			all = append(all, first)
			check.That(t, a.Sound == "recording" && a.Seconds > 1.5 && a.Chime == "", "it is %+v", a)
		}
		t.Logf("tts.speak: first sound after %v (median of %v)", median(all), all)
	}
}

// tone writes a file of sound, and returns where Home Assistant has it.
func (h *home) tone(name string, seconds int) (url string) {
	h.t.Helper()
	source := fmt.Sprintf("sine=frequency=440:duration=%d", seconds)
	path := filepath.Join(h.config, "www", name)
	out, err := exec.Command("ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", source, path).CombinedOutput()
	check.Require(h.t, err == nil, "ffmpeg: %v\n%s", err, out)
	return h.url + "/local/" + name
}

// play is media_player.play_media: with announce it has a chime, without it has none; it can be stopped.
func (h *home) play(t *testing.T) {
	t.Helper()
	media := func(url string, announce bool) map[string]any {
		return map[string]any{
			"entity_id": h.only("media_player"), "media_content_id": url, "media_content_type": "music", "announce": announce,
		}
	}
	url := h.tone("bell.mp3", 2)
	for announce, chime := range map[bool]string{true: "", false: "none"} {
		a, first := h.heardAfter("media_player.play_media", media(url, announce))
		t.Logf("play_media, announce %t: first sound after %v", announce, first)
		check.That(t, a.Chime == chime && math.Abs(a.Seconds-2) < 0.2, "announce %t: %+v", announce, a)
	}
	h.call("media_player.play_media", media(h.tone("long.mp3", 30), false))
	h.wait(h.only("media_player"), "playing")
	h.call("media_player.media_stop", map[string]any{"entity_id": h.only("media_player")})
	h.wait(h.only("media_player"), "idle")
	check.Equal(t, h.newest().Status, "cancelled", "the status of what was stopped")
}

// volume and mute work both ways.
func (h *home) volume(t *testing.T) {
	t.Helper()
	player := h.only("media_player")
	attribute := func(name string, want any) {
		t.Helper()
		h.until(fmt.Sprint(name, " is ", want), func() bool {
			_, a := h.state(player)
			return a[name] == want
		})
	}
	var v struct {
		Volume int
		Muted  bool
	}
	ours := func(volume int, muted bool) {
		t.Helper()
		h.until(fmt.Sprint("the volume is ", volume, muted), func() bool {
			check.NoError(t, h.server.Call(t.Context(), http.MethodGet, "/volume", nil, &v))
			return v.Volume == volume && v.Muted == muted
		})
	}
	h.call("media_player.volume_set", map[string]any{"entity_id": player, "volume_level": 0.4})
	ours(40, false)
	h.call("media_player.volume_mute", map[string]any{"entity_id": player, "is_volume_muted": true})
	ours(40, true)
	attribute("is_volume_muted", true)
	h.call("media_player.volume_up", map[string]any{"entity_id": player})
	ours(50, false)
	check.NoError(t, h.server.Call(t.Context(), http.MethodPut, "/volume", map[string]any{"volume": 100}, &v))
	attribute("volume_level", 1.0)
	attribute("is_volume_muted", false)
}

// announceText is assist_satellite.announce, spoken in our own voice and recorded as text; its chime is ours, or none.
func (h *home) announceText(t *testing.T) {
	t.Helper()
	var all []time.Duration
	for i := range 5 {
		message := fmt.Sprintf("The door number %d is open.", i)
		a, first := h.heardAfter("assist_satellite.announce", map[string]any{
			"entity_id": h.only("assist_satellite"), "message": message, "preannounce": i == 0,
		})
		check.That(t, a.Message == message && a.Sound == "" && (a.Chime == "") == (i == 0), "it is %+v", a)
		if i > 0 {
			all = append(all, first)
		}
	}
	t.Logf("assist_satellite.announce: first sound after %v (median of %v)", median(all), all)
	a, _ := h.heardAfter("assist_satellite.announce", map[string]any{
		"entity_id": h.only("assist_satellite"), "media_id": h.tone("voice.mp3", 2),
	})
	check.Equal(t, a.Sound, "recording", "the sound of an announcement without a text")
}

// recipe is those of connect.md, one after the other: the satellite in our own voice, and that voice at a player.
func (h *home) recipe(t *testing.T) {
	t.Helper()
	h.request("POST", "/api/events/dinner", nil, nil)
	h.spoken("Dinner is ready.")
	h.until("a recording is played", func() bool {
		a := h.newest()
		return a.Sound == "recording" && a.Status == "done"
	})
}

// held until quiet ends, an announcement does not hold up the one who waits for it.
func (h *home) held(t *testing.T) {
	t.Helper()
	quiet := map[string]any{"for": 300, "mode": "hold"} // longer than it is waited for
	check.NoError(t, h.server.Send(t.Context(), http.MethodPut, "/quiet", quiet))
	began := time.Now()
	h.call("assist_satellite.announce", map[string]any{"entity_id": h.only("assist_satellite"), "message": "Held."})
	check.That(t, time.Since(began) < 10*time.Second, "it was waited for: %v", time.Since(began))
	a := h.newest()
	check.That(t, a.Message == "Held." && a.Status == "scheduled" && a.Reason == "do_not_disturb", "it is %+v", a)
	check.NoError(t, h.server.Send(t.Context(), http.MethodDelete, "/quiet", nil))
	h.spoken("Held.")
}

// refuse is what cannot be played: the player is idle, and the journal has the reason.
func (h *home) refuse(t *testing.T) {
	t.Helper()
	before := h.newest().ID
	h.call("media_player.play_media", map[string]any{
		"entity_id": h.only("media_player"), "media_content_id": h.url + "/local/none.mp3", "media_content_type": "music",
	})
	check.That(t, h.server.AwaitLog("esphome request refused"), "the journal has no reason:\n%s", h.server.Logged())
	h.wait(h.only("media_player"), "idle")
	check.Equal(t, h.newest().ID, before, "the newest announcement")
}

// broadcast is what a voice assistant is told to say in all rooms.
func (h *home) broadcast(t *testing.T) {
	t.Helper()
	h.call("conversation.process", map[string]any{"text": "broadcast dinner is ready", "language": "en"})
	h.until("the broadcast is spoken", func() bool {
		a := h.newest()
		return strings.Contains(strings.ToLower(a.Message), "dinner is ready") && a.Status == "done"
	})
}

// back are the entities soon after either has been restarted, and nothing that was accepted is lost.
func (h *home) back(t *testing.T) {
	t.Helper()
	player := h.only("media_player")
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		h.call("media_player.play_media", map[string]any{
			"entity_id": player, "media_content_id": h.url + "/local/bell.mp3", "media_content_type": "music",
		})
		h.wait(player, "playing")
		id := h.newest().ID
		_ = h.server.End(signal) // killed
		h.wait(player, "unavailable")
		began := time.Now()
		h.server.Restart()
		h.until("the player is back", func() bool { s, _ := h.state(player); return s != "unavailable" })
		t.Logf("%v: back after %v", signal, time.Since(began))
		h.until("it is played", func() bool { return h.newest().ID == id && h.newest().Status == "done" })
	}
	h.stop()
	h.start()
	h.wait(player, "idle")
	h.heardAfter("assist_satellite.announce", map[string]any{
		"entity_id": h.only("assist_satellite"), "message": "After the restart.",
	})
}

// several are announced to by one call, each in its room.
func (h *home) several(t *testing.T) {
	t.Helper()
	port := freePort(t)
	bath := servertest.NewServer(t, "ROOM=Bath", fmt.Sprint("ESPHOME_PORT=", port))
	kitchen := h.only("assist_satellite")
	h.add("esphome", map[string]any{"host": "127.0.0.1", "port": port})
	var second string
	h.until("the satellite in the bath", func() bool {
		all := h.template(`{{ states.assist_satellite | map(attribute="entity_id") | join(" ") }}`)
		second = strings.TrimSpace(strings.Replace(all, kitchen, "", 1))
		return second != ""
	})
	both := []string{kitchen, second}
	h.call("assist_satellite.announce", map[string]any{"entity_id": both, "message": "To all rooms."})
	h.spoken("To all rooms.")
	(&home{hub: h.hub, server: bath}).spoken("To all rooms.")
}

// encrypted is one that has a key: another key is refused, and the right one is asked for.
func (h *home) encrypted(t *testing.T) {
	t.Helper()
	newKey := func() string {
		key := make([]byte, 32)
		_, _ = rand.Read(key)
		return base64.StdEncoding.EncodeToString(key)
	}
	key := newKey()
	file := filepath.Join(t.TempDir(), "key")
	check.NoError(t, os.WriteFile(file, []byte(key+"\n"), 0o600))
	port := freePort(t)
	server := servertest.NewServer(t, "ROOM=attic", fmt.Sprint("ESPHOME_PORT=", port), "ESPHOME_KEY_FILE="+file,
		"NOTIFY_ACCESS=token", "CONTROL_ACCESS=admin")
	end := h.add("esphome", map[string]any{"host": "127.0.0.1", "port": port},
		map[string]any{"noise_psk": newKey()}, map[string]any{"noise_psk": key})
	check.Equal(t, end["title"], any("Pressbox attic"), "the title")
	var player string
	h.until("the player in the attic", func() bool {
		player = h.template(`{{ states.media_player | map(attribute="entity_id") | select("search", "attic") | join }}`)
		return player != ""
	})
	heard := server.Sound.Record()
	h.call("media_player.play_media", map[string]any{
		"entity_id": player, "media_content_id": h.url + "/local/bell.mp3", "media_content_type": "music",
	})
	check.That(t, heard.WaitFor(func(all []float32) bool {
		return slices.ContainsFunc(all, func(s float32) bool { return math.Abs(float64(s)) > 0.01 })
	}), "silence")
	_, a := h.state(player)
	check.That(t, int(a["supported_features"].(float64))&volumeSet != 0, "the volume cannot be set: %v", a)
}
