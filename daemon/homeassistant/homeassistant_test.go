//go:build homeassistant

package homeassistant_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/daemon/mqtt/mqtttest"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m)) }

// A home is a server beside a Home Assistant that knows it.
type home struct {
	*hub
	server      *servertest.Server
	version     string
	wyomingPort int
}

// entity returns the id of an entity of the server; name "" is that of the device.
func entity(platform, name string) string {
	return strings.TrimSuffix(platform+".pressbox_kitchen_"+name, "_")
}

// Home Assistant itself: everything that the documents promise for it. The recipes of the documents are its
// configuration, as they stand.
func TestHomeAssistant(t *testing.T) {
	t.Parallel()
	tree := os.Getenv("PRESSBOX_HOMEASSISTANT")
	check.Require(t, tree != "", `"make test-homeassistant" names a Home Assistant`)
	broker := mqtttest.Start(t)
	port, wyoming := freePort(t), freePort(t)
	s := servertest.NewServer(t, "ROOM=kitchen", "MQTT_URL="+broker.URL("mqtt").String(),
		fmt.Sprint("PORT=", port), fmt.Sprint("WYOMING_PORT=", wyoming))
	h := &home{hub: startHub(t, tree, configuration(t, port)), server: s, wyomingPort: wyoming}
	var about struct{ Version string }
	h.request("GET", "/api/config", nil, &about)
	h.version = about.Version
	t.Logf("Home Assistant %s", h.version)
	h.addBroker(broker.URL("mqtt"))
	h.wait(entity("sensor", "state"), "idle")
	h.call("automation.reload", nil) // triggers of MQTT need its integration
	for _, fact := range []struct {
		name string
		test func(*home, *testing.T)
	}{
		{"entities", (*home).entities},
		{"messages", (*home).messages},
		{"refused", (*home).refused},
		{"device", (*home).device},
		{"controls", (*home).controls},
		{"recipes", (*home).recipes},
		{"away", (*home).away},
		{"noSound", (*home).noSound},
		{"events", (*home).events},
		{"ntfy", (*home).ntfy},
		{"wyoming", (*home).wyoming},
		{"restart", (*home).restart},
	} {
		t.Run(fact.name, func(t *testing.T) {
			h.t = t
			fact.test(h, t)
		})
	}
	h.t = t
	for line := range strings.Lines(h.log()) {
		wrong := strings.Contains(line, "ERROR") && strings.Contains(line, "mqtt")
		check.That(t, !wrong, "Home Assistant's log: %s", line)
	}
}

// recipe matches the indented lines of a document.
var recipe = regexp.MustCompile(`(?m)(?:^    .*\n|^\n)+`)

// blocks returns the indented blocks of a document between two texts.
func blocks(t *testing.T, name, from, to string) (all []string) {
	t.Helper()
	text := string(check.Must(os.ReadFile(filepath.Join(check.Root(t), "packaging/doc", name)))(t))
	_, text, found := strings.Cut(text, from)
	check.Require(t, found, "%s has no %q", name, from)
	text, _, _ = strings.Cut(text, to)
	for _, block := range recipe.FindAllString(text, -1) {
		block = strings.ReplaceAll("\n"+strings.Trim(block, "\n"), "\n    ", "\n")
		if block = strings.TrimSpace(block); block != "" {
			all = append(all, block)
		}
	}
	return all
}

// automation returns an automation.
func automation(id, body string) string {
	return "  - id: " + id + "\n    alias: " + id + "\n    " + strings.ReplaceAll(body, "\n", "\n    ") + "\n"
}

// configuration returns the configuration: the recipes of the documents, for a server at a port.
func configuration(t *testing.T, port int) string {
	t.Helper()
	rest := strings.Join(blocks(t, "connect.md", "## Home Assistant without MQTT", "\n## "), "\n")
	frigate := blocks(t, "connect.md", "## Frigate", "\n## ")[0]
	say := blocks(t, "mqtt.md", "## In Home Assistant", "\n## ")
	posted := blocks(t, "webhooks.md", "In Home Assistant:", "\n* ")[0]
	said := blocks(t, "connect.md", "## Home Assistant with MQTT", "\n## ")[0]
	step := func(n int) string { return "- " + strings.ReplaceAll(say[n], "\n", "\n  ") }
	return strings.ReplaceAll(rest, "pressbox.local:8888", fmt.Sprint("127.0.0.1:", port)) +
		"\nautomation:\n" + automation("frigate", frigate) +
		automation("washer", "triggers: [{trigger: event, event_type: washer}]\nactions:\n"+step(0)) +
		automation("said", "triggers: [{trigger: event, event_type: said}]\nactions:\n- "+
			strings.ReplaceAll(said, "\n", "\n  ")) +
		automation("posted", posted+"\nactions: [{event: posted}]") +
		automation("hot", "triggers: [{trigger: event, event_type: hot}]\nactions:\n"+step(1)) +
		"wyoming:\nmedia_source:\ntts:\nwebhook:\nfrontend:\n"
}

// addBroker adds the integration of MQTT.
func (h *home) addBroker(address *url.URL) {
	h.t.Helper()
	broker := map[string]any{"broker": address.Hostname(), "port": check.Must(json.Number(address.Port()).Int64())(h.t)}
	var year, month int
	check.Must(fmt.Sscanf(h.version, "%d.%d", &year, &month))(h.t)
	if 12*year+month >= 12*2026+5 { // the dialog has more fields since
		broker["protocol"] = "5"
		broker["other_settings"] = map[string]any{
			"set_client_cert": false, "set_ca_cert": "off", "transport": "tcp",
		}
	}
	h.add("mqtt", broker)
}

// An announcement is one as GET /notify lists it.
type announcement struct {
	ID, Message, Title, Status, Chime string
	Urgent                            bool
	Volume                            int
}

// announced returns the announcements with a message.
func (h *home) announced(message string) (all []announcement) {
	h.t.Helper()
	var list struct{ Queue, Scheduled, Recent []announcement }
	check.NoError(h.t, h.server.Call(h.t.Context(), http.MethodGet, "/notify", nil, &list))
	for _, a := range slices.Concat(list.Queue, list.Scheduled, list.Recent) {
		if a.Message == message {
			all = append(all, a)
		}
	}
	return all
}

// spoken waits until the announcement with a message has been spoken, the only one.
func (h *home) spoken(message string) announcement {
	h.t.Helper()
	h.until(message+" is spoken", func() bool {
		all := h.announced(message)
		return len(all) > 0 && all[0].Status == "done"
	})
	all := h.announced(message)
	check.Equal(h.t, len(all), 1, "announcements of %q", message)
	return all[0]
}

// say announces by an entity, and waits until it has been spoken.
func (h *home) say(entity, message string) announcement {
	h.t.Helper()
	h.call("notify.send_message", map[string]any{"entity_id": entity, "message": message})
	return h.spoken(message)
}

// entities are there under the ids that the documents name.
func (h *home) entities(t *testing.T) {
	t.Helper()
	for _, row := range check.Rows(`
		notify        |
		notify        | urgent
		number        | volume
		switch        | mute
		switch        | do_not_disturb
		select        | voice
		button        | stop
		button        | cancel_all
		button        | acknowledge
		sensor        | state
		sensor        | waiting
		sensor        | last
		sensor        | next
		binary_sensor | sound
		event         | announcement
		event         | game
	`) {
		state, _ := h.state(entity(row[0], row[1]))
		check.That(t, state != "" && state != "unavailable", "%s %s is %q", row[0], row[1], state)
	}
	check.Equal(t, h.template(`{{ area_id("`+entity("notify", "")+`") }}`), "kitchen", "the area")
}

// messages are spoken as they are: plain, urgent, with fields, or with a brace at the beginning.
func (h *home) messages(t *testing.T) {
	t.Helper()
	heard := h.server.Sound.Record()
	check.That(t, !h.say(entity("notify", ""), "The dryer is done.").Urgent, "it is urgent")
	check.That(t, h.say(entity("notify", "urgent"), "Water in the cellar.").Urgent, "it is not urgent")
	check.That(t, len(heard.Stop()) > 0, "nothing was played")
	h.wait(entity("sensor", "state"), "idle")
	_, attributes := h.state(entity("event", "announcement"))
	check.Equal(t, attributes["event_type"], any("done"), "the last event")
	h.call("notify.send_message", map[string]any{
		"entity_id": entity("notify", ""), "message": `{"message": "Softly.", "volume": 40, "chime": "none"}`,
	})
	check.Equal(t, h.spoken("Softly.").Volume, 40, "volume of JSON")
	h.say(entity("notify", ""), "{hello} is no JSON.")
	last, _ := h.state(entity("sensor", "last"))
	at, err := time.Parse(time.RFC3339, last)
	check.That(t, err == nil && time.Since(at) < patience, "Last is %q", last)
}

// refused is what cannot be spoken, with the reason in an event; what is too long is cut.
func (h *home) refused(t *testing.T) {
	t.Helper()
	send := func(message string) {
		t.Helper()
		h.call("notify.send_message", map[string]any{"entity_id": entity("notify", ""), "message": message})
	}
	send("...")
	h.until("the reason of a refusal", func() bool {
		_, a := h.state(entity("event", "announcement"))
		return a["event_type"] == "refused" && strings.Contains(fmt.Sprint(a["reason"]), "nothing that can be spoken")
	})
	const sentence, most = "Long word. ", 5000
	send(strings.Repeat(sentence, 600))
	cut := strings.TrimSpace(strings.Repeat(sentence, most/len(sentence)))
	h.until("the beginning is announced", func() bool { return len(h.announced(cut)) == 1 })
	h.call("button.press", map[string]any{"entity_id": entity("button", "cancel_all")})
	h.wait(entity("sensor", "state"), "idle")
}

// device is spoken to once, and not urgently.
func (h *home) device(t *testing.T) {
	t.Helper()
	id := h.template(`{{ device_id("` + entity("notify", "") + `") }}`)
	h.call("notify.send_message", map[string]any{"device_id": id, "message": "To the device."})
	check.That(t, !h.spoken("To the device.").Urgent, "it is urgent")
	h.call("notify.send_message", map[string]any{"area_id": "kitchen", "message": "To the area."})
	check.That(t, !h.spoken("To the area.").Urgent, "it is urgent")
}

// controls work both ways, and the state says why nothing would be heard.
func (h *home) controls(t *testing.T) {
	t.Helper()
	press := func(service, entity string, more map[string]any) {
		t.Helper()
		data := map[string]any{"entity_id": entity}
		maps.Copy(data, more)
		h.call(service, data)
	}
	reason := func(want string) {
		t.Helper()
		h.until("the reason "+want, func() bool {
			_, a := h.state(entity("sensor", "state"))
			return a["reason"] == want
		})
	}
	press("switch.turn_on", entity("switch", "mute"), nil)
	h.wait(entity("sensor", "state"), "muted")
	reason("muted")
	press("number.set_value", entity("number", "volume"), map[string]any{"value": 60})
	h.wait(entity("switch", "mute"), "off")
	h.wait(entity("number", "volume"), "60")
	press("switch.turn_on", entity("switch", "do_not_disturb"), nil)
	h.wait(entity("sensor", "state"), "quiet")
	reason("do_not_disturb")
	press("switch.turn_off", entity("switch", "do_not_disturb"), nil)
	h.wait(entity("sensor", "state"), "idle")
	press("number.set_value", entity("number", "volume"), map[string]any{"value": 100})
	_, voices := h.state(entity("select", "voice"))
	options, _ := voices["options"].([]any)
	check.Require(t, len(options) >= 2, "voices %v", options)
	press("select.select_option", entity("select", "voice"), map[string]any{"option": options[1]})
	h.wait(entity("select", "voice"), fmt.Sprint(options[1]))
	h.call("notify.send_message", map[string]any{
		"entity_id": entity("notify", ""), "message": strings.Repeat("On and on. ", 40),
	})
	h.wait(entity("sensor", "state"), "speaking")
	press("button.press", entity("button", "stop"), nil)
	h.wait(entity("sensor", "state"), "idle")
}

// recipes of the documents, as they stand.
func (h *home) recipes(t *testing.T) {
	t.Helper()
	h.call("notify.pressbox", map[string]any{"message": "By rest."})
	check.Equal(t, h.spoken("By rest.").Title, "", "the title")
	h.call("rest_command.announce", map[string]any{"message": `He said "hello".`, "urgent": true})
	check.That(t, h.spoken(`He said "hello".`).Urgent, "it is not urgent")
	h.request("POST", "/api/events/washer", nil, nil)
	h.spoken("The washing machine is done.")
	h.request("POST", "/api/events/said", nil, nil)
	h.until("the first recipe is spoken", func() bool {
		all := h.announced("The washing machine is done.")
		return len(all) == 2 && all[0].Status == "done"
	})
	h.wait(entity("sensor", "state"), "idle")      // whose event would come after that of the next one
	h.request("POST", "/api/events/hot", nil, nil) // for a room that is not there
	h.until("the room of the recipe is refused", func() bool {
		_, a := h.state(entity("event", "announcement"))
		return a["event_type"] == "refused" && strings.Contains(fmt.Sprint(a["reason"]), "hall")
	})
	h.call("mqtt.publish", map[string]any{
		"topic": "frigate/reviews", "payload": `{"type": "new", "after": {"camera": "front_door"}}`,
	})
	h.spoken("There is movement at front_door.")
}

// away is when nothing is lost.
func (h *home) away(t *testing.T) {
	t.Helper()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = h.server.End(signal) // killed
		h.wait(entity("sensor", "state"), "unavailable")
		message := "Said while it was away, by " + signal.String() + "."
		h.call("notify.send_message", map[string]any{"entity_id": entity("notify", ""), "message": message})
		h.server.Restart()
		h.wait(entity("sensor", "state"), "idle")
		h.spoken(message)
	}
}

// noSound is told, and what waits is spoken when the sound server is back.
func (h *home) noSound(t *testing.T) {
	t.Helper()
	h.server.Sound.Kill()
	h.wait(entity("binary_sensor", "sound"), "on")
	h.call("notify.send_message", map[string]any{"entity_id": entity("notify", ""), "message": "Into the void."})
	h.until("it waits", func() bool { return len(h.announced("Into the void.")) == 1 })
	state, _ := h.state(entity("sensor", "state"))
	check.That(t, state != "speaking", "it speaks without a sound server")
	h.server.Sound.Start()
	h.spoken("Into the void.")
}

// events are posted to a webhook of Home Assistant: one that was not heard runs the automation of the document.
func (h *home) events(t *testing.T) {
	t.Helper()
	check.NoError(t, h.server.End(syscall.SIGTERM))
	h.server.Restart("EVENTS_URL=" + h.url + "/api/webhook/pressbox")
	h.wait(entity("sensor", "state"), "idle")
	h.say(entity("notify", ""), "It is heard.")
	_, a := h.state("automation.posted")
	check.That(t, a["last_triggered"] == nil, "it ran for one that was heard: %v", a)
	h.server.Sound.Pactl("set-sink-mute", "speaker", "1")
	h.call("notify.send_message", map[string]any{"entity_id": entity("notify", ""), "message": "Into silence."})
	h.until("the automation runs", func() bool {
		_, a := h.state("automation.posted")
		return a["last_triggered"] != nil
	})
	h.server.Sound.Pactl("set-sink-mute", "speaker", "0")
	check.Equal(t, h.announced("Into silence.")[0].Status, "unheard", "the status")
}

// ntfy is Home Assistant's own integration: it publishes to a topic, and is told what others publish there.
func (h *home) ntfy(t *testing.T) {
	t.Helper()
	end := h.add("ntfy", map[string]any{"url": h.server.URL, "verify_ssl": true, "auth": map[string]any{}})
	entry, _ := end["result"].(map[string]any)
	const flow = "/api/config/config_entries/subentries/flow"
	var step map[string]any
	h.request("POST", flow, map[string]any{"handler": []any{entry["entry_id"], "topic"}}, &step)
	for _, answer := range []map[string]any{
		{"next_step_id": "add_topic"}, {"topic": "house", "name": "The house", "filter": map[string]any{}},
	} {
		id, ok := step["flow_id"].(string)
		check.Require(t, ok, "the dialog of a topic: %v", step)
		step = nil
		h.request("POST", flow+"/"+id, answer, &step)
	}
	check.Require(t, step["type"] == "create_entry", "the dialog of a topic: %v\n%s", step, h.log())
	entityOf := func(platform string) (id string) {
		h.until("an entity of "+platform, func() bool {
			id = h.template(`{{ integration_entities("ntfy") | select("match", "` + platform + `\\.") | first | default }}`)
			return id != ""
		})
		return id
	}
	h.call("notify.send_message", map[string]any{
		"entity_id": entityOf("notify"), "message": "By ntfy.", "title": "House",
	})
	check.Equal(t, h.spoken("By ntfy.").Title, "House", "the title")
	event := entityOf("event")
	h.until("what others publish", func() bool {
		resp := check.Must(http.Post(h.server.URL+"/house", "text/plain", strings.NewReader("From elsewhere.")))(t)
		_ = resp.Body.Close()
		_, a := h.state(event)
		return a["event_type"] == "From elsewhere."
	})
}

// wyoming speaks to Home Assistant.
func (h *home) wyoming(t *testing.T) {
	t.Helper()
	end := h.add("wyoming", map[string]any{"host": "127.0.0.1", "port": h.wyomingPort})
	check.Equal(t, end["title"], any("Pressbox kitchen"), "the title")
	for _, language := range []string{"en_US", "en-US"} {
		var speech struct{ Path string }
		h.request("POST", "/api/tts_get_url", map[string]any{
			"engine_id": "tts.pressbox_kitchen", "message": "Dinner is ready.", "language": language, "cache": false,
		}, &speech)
		resp := check.Must(http.Get(h.url + speech.Path))(t)
		_ = resp.Body.Close()
		check.Equal(t, resp.StatusCode, http.StatusOK, "%s: status of the speech", language)
	}
}

// restart of Home Assistant brings the entities back.
func (h *home) restart(t *testing.T) {
	t.Helper()
	h.stop()
	h.start()
	h.wait(entity("sensor", "state"), "idle")
	h.say(entity("notify", ""), "After the restart.")
}
