package pagetest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/color"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/makiuchi-d/gozxing/common"
	"github.com/makiuchi-d/gozxing/qrcode/decoder"

	rules "pressbox/game"
	"pressbox/game/protocol"
	"pressbox/game/stats"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

// ofStream replaces the wall's event stream by one that the test sends, and its clock by one that the test sets.
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
	for (const e of $$(".wall *:not(svg *):not(.screen):not(.unseen):not(.alarm .longer *)")) {
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
		club := teams.Ref{ID: fmt.Sprint(i), Abbrev: "XYZ", Name: longName}
		s.Standings = append(s.Standings, stats.Standing{Team: club, GamesBehind: float64(i) / 2})
	}
	leader := stats.Leader{Name: "Maximilian Featherstonehaugh", Team: teams.Ref{Abbrev: "XYZ"}, Value: 0.333}
	for _, name := range []string{"avg", "hr", "rbi", "era", "w", "so"} {
		s.Leaders = append(s.Leaders, stats.Category{Statistic: name, Leaders: []stats.Leader{leader, leader, leader}})
	}
	return s
}

// newWall opens the wall display with a stream and a clock that the test drives.
func newWall(t *testing.T, s *server) *tab {
	t.Helper()
	b := newTab(t, s)
	b.preload(ofStream)
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
	check.That(t, b.is(`$(".wall-stale").getBoundingClientRect().width > innerWidth * 0.9`),
		"the line is not as wide as the display")
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
	b.send(said("Dinner is ready.", "playing"))
	b.says(".wall-air", "Dinner is ready.")
	b.send(said("Dinner is ready.", "done"))
	b.await(`$(".wall.dark")`)
	b.send(alarm("a", "Fire!", "playing"))
	b.says(".alarm", "Fire!")
	b.send(alarm("a", "Fire!", "done"))
	b.is(`globalThis.at += 10000`)
	b.send(wallEvent{"schedules", map[string]any{"schedules": []any{}}})
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
	check.That(t, len(places) == 9 && sides[false] == 10 && sides[true] == 10, "places %v, sides %v", places, sides)
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

// alarm returns the event of an urgent announcement.
func alarm(id, message, status string) wallEvent {
	e := said(message, status)
	a := e.data.(map[string]any)
	a["id"], a["urgent"], a["started_at"] = id, true, time.Now()
	return e
}

// planned returns the event of schedules, of which the first is spoken in an hour, the other later.
func planned(message string, urgent bool) wallEvent {
	in := func(d time.Duration) string { return time.Now().Add(d).Format(time.RFC3339) }
	return wallEvent{"schedules", map[string]any{"schedules": []map[string]any{
		{"id": "b", "message": "Feed the cat.", "next_at": in(2 * time.Hour)},
		{"id": "a", "message": message, "next_at": in(time.Hour), "urgent": urgent},
		{"id": "off", "message": "Never."},
	}}}
}

// send sends an event to the wall.
func (b *tab) send(e wallEvent) {
	b.t.Helper()
	b.is(fmt.Sprintf(`event(%q, %s)`, e.kind, check.Must(json.Marshal(e.data))(b.t)))
}

// An urgent announcement takes the whole display while it is spoken and ten seconds more, the newest of several; its
// capitals have a twelfth of the height up to 40 characters, a 24th beyond. A longer one than 200 moves until its end
// was seen.
func TestWall_urgent(t *testing.T) {
	t.Parallel()
	b := newWall(t, newServer(t))
	const capital = `(() => {
		const p = getComputedStyle($(".alarm p")), context = document.createElement("canvas").getContext("2d");
		context.font = p.font;
		return innerHeight / context.measureText("H").actualBoundingBoxAscent;
	})()`
	const whole = `(() => {
		const r = $(".alarm").getBoundingClientRect();
		return !r.x && !r.y && r.width === innerWidth && r.height === innerHeight;
	})()`
	for _, tt := range []struct {
		length int
		part   float64
	}{{40, 12}, {41, 24}, {200, 24}, {201, 24}} {
		message := strings.Repeat("The oven is on fire and the house too! ", 6)[:tt.length-1] + "!"
		b.send(alarm("a", message, "playing"))
		b.says(".alarm p", message)
		b.await(`document.fonts.status === "loaded"`)
		for _, size := range slices.Concat(sizes, [][2]int64{{800, 600}}) {
			b.do(chromedp.EmulateViewport(size[0], size[1]))
			b.await(whole)
			got := value[float64](b, capital)
			check.That(t, got <= tt.part, "%d characters at %v: 1/%.1f of the height", tt.length, size, got)
			moves := value[int](b, `$(".alarm p").getAnimations().length`)
			check.That(t, (moves > 0) == (tt.length > 200), "%d characters: %d movements", tt.length, moves)
			if tt.length <= 200 {
				whole := b.is(`$(".alarm div").scrollHeight <= $(".alarm div").clientHeight`)
				check.That(t, whole, "%d characters at %v: cut", tt.length, size)
			}
		}
	}
	b.do(chromedp.EmulateViewport(800, 480))
	b.send(alarm("a", strings.Repeat("The oven is on fire! ", 60), "playing"))
	b.await(`$(".alarm p").innerText.length > 1000`)
	const seen = `(() => {
		const p = $(".alarm p"), box = $(".alarm div").getBoundingClientRect();
		const at = (share) => {
			const [a] = p.getAnimations();
			a.currentTime = a.effect.getComputedTiming().endTime * share;
			const r = p.getBoundingClientRect();
			return [r.top - box.top, box.bottom - r.bottom].map((n) => Math.abs(n) < 1);
		};
		return [at(0)[0], at(1)[1]].join();
	})()`
	check.Equal(t, value[string](b, seen), "true,true", "begins with the first line, ends with the last")

	b.send(alarm("b", "Leave the house!", "playing"))
	b.says(".alarm p", "Leave the house!")
	b.send(alarm("b", "Leave the house!", "done"))
	b.says(".alarm p", "The oven is on fire!") // which is still spoken
	b.send(alarm("a", "The oven is on fire!", "cancelled"))
	b.is(`globalThis.at += 9900`)
	b.send(wallEvent{"alive", struct{}{}})
	b.drawn()
	check.That(t, b.is(`$(".alarm")`), "gone after 9.9 s")
	b.is(`globalThis.at += 200`)
	b.send(wallEvent{"quiet", map[string]any{"active": false}})
	b.await(`!$(".alarm") && $(".wall-join")`)
}

// A manager's reaction stands beside the name for four seconds.
func TestWall_reaction(t *testing.T) {
	t.Parallel()
	b := newWall(t, newServer(t))
	b.send(score("g1", "Millers", 3, "A single."))
	b.shows(".wall-game")
	b.send(wallEvent{"reaction", map[string]string{"id": "g1", "side": "home", "name": "clap"}})
	b.says(".wall-game tr:last-child small", "👏")
	check.That(t, !b.is(`$(".wall-game tbody tr").innerText.includes("👏")`), "the reaction is beside both")
	b.is(`globalThis.at = (globalThis.at ?? began) + 4000`)
	b.send(score("g1", "Millers", 3, "A double."))
	b.await(`!$(".wall-game").innerText.includes("👏")`)
}

// When nothing is played the display has the time and the next announcement that will be heard.
func TestWall_planned(t *testing.T) {
	t.Parallel()
	b := newWall(t, newServer(t))
	quiet := map[string]any{"active": true, "reason": "switch", "until": time.Now().Add(90 * time.Minute)}
	b.await(`$(".wall-clock time").innerText && getComputedStyle($(".wall-air")).display === "none"`)
	b.send(planned("Trash day.", false))
	b.says(".wall-air", "Trash day.")
	b.send(wallEvent{"quiet", quiet})
	b.says(".wall-air", "Feed the cat.")
	b.send(planned("Trash day.", true))
	b.says(".wall-air", "Trash day.")
	b.send(wallEvent{"announcement", map[string]any{
		"id": "once", "status": "scheduled", "message": "The cake is done.", "urgent": true, "created_at": time.Now(),
		"speaks_at": time.Now().Add(10 * time.Minute),
	}})
	b.says(".wall-air", "The cake is done.")
	b.send(said("Dinner is ready.", "playing"))
	b.says(".wall-air", "Dinner is ready.")
}

// At the sizes of displays, in every state, nothing is clipped, scrolls or is too small to be
// read from four meters, and each state is accessible.
func TestAll_wallFits(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	long := strings.Repeat("Featherstonehaugh singles to deep left field, and two runs score. ", 6)
	const code = "WIFI:T:WPA;S:The guests upstairs;P:correct horse battery staple;;"
	wifi := wallEvent{"wifi", map[string]string{"ssid": "The guests upstairs", "code": code}}
	quiet := wallEvent{"quiet", map[string]any{"active": true, "until": time.Now().Add(time.Hour)}}
	season := wallEvent{"season", wallSeason()}
	over := scoreFor("over", longName, 14, long)
	over.Result = &protocol.Result{Winner: "home", How: "final"}
	earlier := *over
	earlier.At = time.Now().Add(-time.Hour)
	next := scoreFor("x", longName, 1, "")
	pending := map[string]any{
		"id": "next", "status": "pending", "created_at": time.Now(), "away": next.Away, "home": next.Home,
	}
	everything := []wallEvent{score("a", longName, 14, long), said(long, "playing"), wifi, quiet}
	for _, tt := range []struct {
		name   string
		events []wallEvent
		lost   bool
		panels int
		shows  string
	}{
		{"nothing", []wallEvent{wifi}, false, 1, ".wall-clock"},
		{"playing", []wallEvent{
			score("a", "Oakenvale Millers", 6, "Bramigast flies out to center."), said("Dinner is ready.", "playing"),
		}, false, 1, ".wall-now"},
		{"playing-long", everything, false, 1, ".wall-now"},
		{"lost", everything, true, 1, ".wall-stale"},
		{"games", []wallEvent{
			score("a", longName, 9, long), score("b", "Owls", 2, "A walk."), score("c", "Bears", 3, long),
			score("d", "Cranes", 4, ""), score("e", "Foxes", 5, ""),
		}, false, 5, ".wall-now"},
		{"final", []wallEvent{{"final", over}, said(long, "playing"), wifi}, false, 1, ".wall-final"},
		{"idle", []wallEvent{
			{"final", &earlier}, season, {"game", pending}, said(long, "done"), wifi, quiet,
		}, false, 6, ".wall-panel"},
		{"planned", []wallEvent{planned(long, false)}, false, 1, ".wall-air"},
		{"alarm", []wallEvent{alarm("a", "The oven in the upstairs kitchen is burning", "playing")}, false, 1, ".long"},
		{"alarm-short", []wallEvent{alarm("a", "The oven is on fire!", "playing")}, false, 1, ".alarm"},
		{"alarm-long", []wallEvent{alarm("a", long, "playing")}, false, 1, ".alarm .longer"},
	} {
		b := newWall(t, s)
		for _, e := range tt.events {
			b.send(e)
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

// score is the event of a game in progress.
func score(id, club string, inning int, text string) wallEvent {
	return wallEvent{"score", scoreFor(id, club, inning, text)}
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

// The wall display shows the game in progress, the announcements and how to join, without a session.
func TestKiosk_gameAndAnnouncements(t *testing.T) {
	wall, anna := beginTwo(t)
	wall.open("/kiosk")
	wall.says(".wall-clock", "field is empty")
	wall.shows(".wall-join .qr path")
	wall.looks("kiosk-empty")
	anna.join("Anna")
	anna.newGame(map[string]string{"opponent": "bot", "innings": "3"})
	anna.handIn("home")
	wall.says(".wall-game", "Anna")
	anna.playTo(`$$(".half").length > 2`)
	anna.settle()
	score := value[string](anna, `$$(".board tbody tr td:nth-last-child(3)").map((e) => e.innerText).join(" ")`)
	const shown = `$$(".wall-game tbody td:nth-last-child(3)").map((e) => e.innerText).join(" ")`
	wall.await(shown+` === %q`, score)
	wall.await(`$$(".wall-now dd").length === 2 && $(".wall-play").innerText`)
	play := value[string](wall, `$(".wall-play").innerText`)
	wall.open("/kiosk") // in mid-game it shows the same
	wall.await(shown+` === %q`, score)
	wall.says(".wall-play", play)
	anna.open("/announcements")
	anna.do(chromedp.SendKeys("#message", "Dinner is ready."), chromedp.Click("main form .primary"))
	wall.says(".wall-air", "Dinner is ready.")
	wall.looks("kiosk")
	id := strings.TrimPrefix(value[string](anna, `json("/api/games").then((g) => g.active[0].id)`), "/")
	check.Equal(t, anna.status("POST", "/api/games/"+id+"/concede"), 200, "status of concede")
	wall.says(".wall-final", "Conceded") // and stays
	wall.says(".wall-play", "concedes")
	wall.open("/kiosk")
	wall.says(".wall-final", "Conceded")
}

// scan reads the QR code in a screenshot of an element. Where its modules are is known; gozxing, which looks for
// them, takes wrong finders in 2 of 1,000 right codes, and each port's address has its own code. It tries again as
// a camera does: the picture may be taken while the page is drawn again.
func (b *tab) scan(selector string) string {
	b.t.Helper()
	b.shows(selector + " path")
	const quiet = 4 // modules
	size := value[int](b, fmt.Sprintf(`$(%q).viewBox.baseVal.width`, selector))
	var err error
	for range 5 {
		// a camera has more pixels than the screen
		picture := check.Must(chromedp.Run(b.ctx, chromedp.ScreenshotScale(selector+" rect", 3)))(b.t)
		decoded := check.Must(png.Decode(bytes.NewReader(picture)))(b.t)
		module := float64(decoded.Bounds().Dx()) / float64(size)
		at := func(i int) int { return int((float64(i+quiet) + .5) * module) }
		dark := make([][]bool, size-2*quiet)
		for y := range dark {
			for x := range dark {
				dark[y] = append(dark[y], color.GrayModel.Convert(decoded.At(at(x), at(y))).(color.Gray).Y < 128)
			}
		}
		var code *common.DecoderResult
		if code, err = decoder.NewDecoder().DecodeBoolMapWithoutHint(dark); err == nil {
			return code.GetText()
		}
		b.drawn()
	}
	b.t.Fatalf("%s is not a QR code: %v", selector, err)
	return ""
}

// Each QR code contains the address beside it, in both themes and at each
// width: of the game that needs an opponent, and of the page.
func TestQRCodes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	b, wall := newTab(t, s), newTab(t, s)
	b.join("Anna")
	id := b.newGame(nil)
	wall.open("/kiosk")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range widths {
			for _, tab := range []*tab{b, wall} {
				tab.emulate("prefers-color-scheme", scheme)
				tab.do(chromedp.EmulateViewport(width, 800))
			}
			if code, link := b.scan(".invite .qr"), value[string](b, `$("#invite").value`); code != link ||
				!strings.HasSuffix(link, "/games/"+id) {
				t.Errorf("%s, width %d: the code of game %s is %q, the link %q", scheme, width, id, code, link)
			}
			if code, link := wall.scan(".wall-join .qr"),
				value[string](wall, `$(".wall-join p").innerText`); code != "http://"+link+"/" {
				t.Errorf("%s, width %d: the code is %q, the link %q", scheme, width, code, link)
			}
		}
	}
}
