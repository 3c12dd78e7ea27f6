package pagetest_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	rules "pressbox/game"
	"pressbox/game/protocol"
	"pressbox/game/stats"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// ofStream replaces the wall's event stream by one that the test sends, and its clock by one that
// the test sets.
const ofStream = `{
	delete globalThis.SharedWorker;
	globalThis.EventSource = class extends EventTarget {
		constructor() { super(); globalThis.stream = this; setTimeout(() => this.onopen(), 0); }
		close() {}
	};
	EventSource.CLOSED = 2;
	globalThis.began = globalThis.at = Date.now();
	Date.now = () => at;
	globalThis.event = (type, data) => stream.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data) }));
}`

// A wallEvent is one event of the stream.
type wallEvent struct {
	kind string
	data any
}

// sizes are those of the displays that the wall is for.
var sizes = [][2]int64{{800, 480}, {1024, 600}, {1920, 1080}, {3840, 2160}}

// clipped returns what of the wall is outside of its panel or of the screen, and the texts that
// are smaller than a fortieth of the height.
const clipped = `(() => {
	const found = [], parts = ".wall > *, .wall-panel";
	// Everything moves by some pixels.
	const screen = { left: -8, top: -8, right: innerWidth + 8, bottom: innerHeight + 8 };
	const inside = (r, of) => r.left >= of.left - 1 && r.top >= of.top - 1 && r.right <= of.right + 1 &&
		r.bottom <= of.bottom + 1;
	for (const e of $$(".wall *:not(svg *):not(.screen):not(.unseen)")) {
		const r = e.getBoundingClientRect();
		if (!r.width) continue;
		const name = e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 30);
		const part = e.parentElement.closest(parts);
		const within = inside(r, part ? part.getBoundingClientRect() : screen) && inside(r, screen);
		if (!within) found.push("clipped: " + name);
		if (e.clientWidth && e.scrollWidth > e.clientWidth + 1) found.push("overflows: " + name);
		const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
		const size = getComputedStyle(e).fontSize;
		if (own && parseFloat(size) < innerHeight / 40 - 0.1) found.push("small: " + name + " " + size);
	}
	const root = document.documentElement;
	if (root.scrollHeight > innerHeight || root.scrollWidth > innerWidth) found.push("scrolls");
	return found;
})()`

const longName = "The Extraordinarily Far-Flung Metropolitan Hummingbirds"

// scoreFor returns the score of a game in progress.
func scoreFor(id, club string, inning int, text string) *protocol.LiveScore {
	line := func(name string, runs ...int) protocol.ScoreLine {
		return protocol.ScoreLine{
			Team:    teams.Ref{ID: name, Abbrev: "XYZ", Name: name, Color: "#8a1538"},
			Manager: &protocol.Manager{Name: "Anna-Katharina von der Wiese"},
			Line:    runs, Runs: 12, Hits: 15, Errors: 2,
		}
	}
	runs := make([]int, inning)
	return &protocol.LiveScore{
		ID: id, Revision: 40, At: time.Now(), Innings: 9, Away: line(club, runs...),
		Home: line(club+" II", runs[1:]...),
		Scoreboard: &protocol.Scoreboard{
			Inning: inning, Half: rules.Bottom, Outs: 2,
			Count: rules.Count{Balls: 3, Strikes: 2}, Bases: [3]rules.PlayerID{"a", "", "c"},
		},
		Batter:  protocol.Batter{Name: "Maximilian Featherstonehaugh", AtBats: 4, Hits: 3},
		Pitcher: protocol.Pitcher{Name: "Bartholomew Haskardeau-Smythe", Outs: 20, Strikeouts: 11},
		Text:    []string{text},
	}
}

// wallSeason returns standings and leaders of eight clubs.
func wallSeason() any {
	var s struct {
		Season    int              `json:"season"`
		Standings []stats.Standing `json:"standings"`
		Leaders   []stats.Category `json:"leaders"`
	}
	for i := range 8 {
		s.Standings = append(s.Standings,
			stats.Standing{
				Team:        teams.Ref{ID: fmt.Sprint(i), Abbrev: "XYZ", Name: longName},
				GamesBehind: float64(i) / 2,
			})
	}
	for _, name := range []string{"avg", "hr", "rbi", "era", "w", "so"} {
		c := stats.Category{Statistic: name}
		for range 3 {
			c.Leaders = append(c.Leaders,
				stats.Leader{Name: "Maximilian Featherstonehaugh", Team: teams.Ref{Abbrev: "XYZ"}, Value: 0.333})
		}
		s.Leaders = append(s.Leaders, c)
	}
	return s
}

// newWall opens the wall display with a stream and a clock that the test drives.
func newWall(t *testing.T, s *server) *tab {
	t.Helper()
	b := newTab(t, s)
	send(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: ofStream})
	b.open("/kiosk")
	b.await(`globalThis.stream && $(".wall-join .qr path")`)
	return b
}

// A cut stream is said across the width of the display, with the time since when; the line goes with the connection.
func TestWall_stale(t *testing.T) {
	t.Parallel()
	b := newWall(t, newServer(t))
	since := value[string](b, `new Date(began).toLocaleTimeString("en-US", { hour: "numeric", minute: "2-digit" })`)
	b.is(`event("alive", {})`)
	b.is(`(globalThis.at = began + 5 * 60000, stream.onerror())`)
	b.says(".wall-stale", since)
	b.says(".wall-stale", "5 minutes")
	if !b.is(`$(".wall-stale").getBoundingClientRect().width > innerWidth * 0.9`) {
		t.Error("the line is not as wide as the display")
	}
	b.is(`stream.onopen()`)
	b.await(`!$(".wall-stale")`)
}

// The pointer is shown while it moves, and for three seconds after that.
func TestWall_pointer(t *testing.T) {
	t.Parallel()
	b := newWall(t, newServer(t))
	const hidden = `getComputedStyle($(".wall")).cursor === "none"`
	b.await(hidden)
	b.is(`dispatchEvent(new PointerEvent("pointermove"))`)
	b.await("!(" + hidden + ")")
	b.is(`globalThis.at += 3000`)
	b.await(hidden)
}

// In quiet hours the display is black, but for a minute after input and while an announcement is
// spoken; the switch alone does not blank it.
func TestWall_quietHours(t *testing.T) {
	t.Parallel()
	b := newWall(t, newServer(t))
	const until = `new Date(began + 3600000).toISOString()`
	b.is(`event("quiet", { active: true, until: ` + until + `, reason: "switch" })`)
	b.drawn()
	b.await(`$(".wall-quiet") && !$(".wall.dark")`)
	b.is(`event("quiet", { active: true, until: ` + until + `, reason: "hours" })`)
	b.await(`$(".wall.dark")`)
	if got := value[string](b, `$("main").innerText.trim() + getComputedStyle(document.elementFromPoint(innerWidth - 1,
		innerHeight - 1)).backgroundColor`); got != "Pressboxrgb(0, 0, 0)" {
		t.Errorf("the black display has %q", got)
	}
	b.accessible("quiet hours", "light")
	b.is(`dispatchEvent(new PointerEvent("pointermove"))`)
	b.await(`$(".wall-join")`)
	b.is(`(globalThis.at = began + 61000, event("quiet", { active: true, until: ` + until + `, reason: "hours" }))`)
	b.await(`$(".wall.dark")`)
	b.is(`event("announcement", { id: "a", status: "playing", position: 0, message: "Fire!", urgent: true,
		created_at: new Date(at).toISOString() })`)
	b.says(".wall-air", "Fire!")
	b.is(`event("announcement", { id: "a", status: "done", message: "Fire!", urgent: true,
		created_at: new Date(at).toISOString(), ended_at: new Date(at).toISOString() })`)
	b.await(`$(".wall.dark")`)
	b.is(`(globalThis.at = began + 3600000, stream.onerror())`) // the end of the hours needs no connection
	b.says(".wall-stale", "Not connected")
}

// Nothing stays at one place: each minute everything moves by some pixels, through nine places, and each ten
// minutes the columns change sides.
func TestWall_burnIn(t *testing.T) {
	t.Parallel()
	b := newWall(t, newServer(t))
	b.is(`globalThis.began = Math.ceil(at / 1200000) * 1200000`) // the columns are where they are at first
	places, sides := map[string]int{}, map[bool]int{}
	for minute := range 20 {
		b.is(fmt.Sprintf(`(globalThis.at = began + %d * 60000, event("quiet", { active: false }))`, minute))
		b.drawn()
		places[value[string](b, `$(".wall").getAttribute("style")`)]++
		sides[b.is(`$(".wall-side").getBoundingClientRect().left < innerWidth / 2`)]++
	}
	if len(places) != 9 || sides[false] != 10 || sides[true] != 10 {
		t.Errorf("places %v, sides %v", places, sides)
	}
}

// said returns the event of an announcement.
func said(message, status string) wallEvent {
	a := map[string]any{"id": "q", "status": status, "message": message, "created_at": time.Now()}
	if status == "done" {
		a["ended_at"] = time.Now()
	} else {
		a["position"] = 0
	}
	return wallEvent{"announcement", a}
}

// At the sizes of displays, in every state, nothing is clipped, scrolls or is too small to be
// read from four meters, and each state is accessible.
func TestAll_wallFits(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	long := strings.Repeat("Featherstonehaugh singles to deep left field, and two runs score. ", 6)
	wifi := wallEvent{"wifi", map[string]string{
		"ssid": "The guests upstairs",
		"code": "WIFI:T:WPA;S:The guests upstairs;P:correct horse battery staple;;",
	}}
	quiet := wallEvent{"quiet", map[string]any{"active": true, "until": time.Now().Add(time.Hour)}}
	season := wallEvent{"season", wallSeason()}
	over := scoreFor("over", longName, 14, long)
	over.Result = &protocol.Result{Winner: "home", How: "final"}
	earlier := *over
	earlier.At = time.Now().Add(-time.Hour)
	pending := map[string]any{
		"id": "next", "status": "pending", "created_at": time.Now(),
		"away": scoreFor("x", longName, 1, "").Away, "home": scoreFor("x", longName, 1, "").Home,
	}
	for _, tt := range []struct {
		name   string
		events []wallEvent
		lost   bool
		panels int
		shows  string
	}{
		{"nothing", []wallEvent{quiet, wifi}, false, 1, ".wall-empty"},
		{"playing", []wallEvent{
			{"score", scoreFor("a", "Oakenvale Millers", 6, "Bramigast flies out to center.")},
			said("Dinner is ready.", "playing"),
		}, false, 1, ".wall-now"},
		{"playing-long", []wallEvent{
			{"score", scoreFor("a", longName, 14, long)},
			said(long, "playing"), wifi, quiet,
		}, false, 1, ".wall-now"},
		{
			"lost",
			[]wallEvent{{"score", scoreFor("a", longName, 14, long)}, said(long, "playing"), wifi, quiet},
			true, 1, ".wall-stale",
		},
		{
			"games",
			[]wallEvent{
				{"score", scoreFor("a", longName, 9, long)},
				{"score", scoreFor("b", "Owls", 2, "A walk.")},
				{"score", scoreFor("c", "Bears", 3, long)},
				{"score", scoreFor("d", "Cranes", 4, "")},
				{"score", scoreFor("e", "Foxes", 5, "")},
			},
			false, 5, ".wall-now",
		},
		{"final", []wallEvent{{"final", over}, said(long, "playing"), wifi}, false, 1, ".wall-final"},
		{
			"idle",
			[]wallEvent{{"final", &earlier}, season, {"game", pending}, said(long, "done"), wifi, quiet},
			false, 5, ".wall-panel",
		},
	} {
		b := newWall(t, s)
		for _, e := range tt.events {
			b.is(fmt.Sprintf(`event(%q, %s)`, e.kind, check.Must(json.Marshal(e.data))(t)))
		}
		if tt.lost {
			b.is(`stream.onerror()`)
		}
		b.await(`document.fonts.status === "loaded"`)
		for i := range tt.panels {
			b.is(fmt.Sprintf(`(globalThis.at = began + %d * 15000, event("quiet", %s))`, i,
				check.Must(json.Marshal(quiet.data))(t)))
			b.shows(tt.shows)
			b.drawn()
			b.fitsEverywhere(fmt.Sprintf("%s %d", tt.name, i))
		}
	}
}

// fitsEverywhere checks the wall as it is, at all sizes in both themes.
func (b *tab) fitsEverywhere(name string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.emulate("prefers-color-scheme", scheme)
		b.accessible(name, scheme)
		for _, size := range sizes {
			b.do(chromedp.EmulateViewport(size[0], size[1]))
			if found := value[[]string](b, clipped); len(found) > 0 {
				b.t.Errorf("%s, %d × %d, %s: %q", name, size[0], size[1], scheme, found)
			}
			if screenshots != "" {
				file := fmt.Sprintf("wall-%s-%d-%s.png", strings.ReplaceAll(name, " ", "-"), size[0], scheme)
				b.shoot(filepath.Join(screenshots, file), chromedp.CaptureScreenshot())
			}
		}
	}
}
