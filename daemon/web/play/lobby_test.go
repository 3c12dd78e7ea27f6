package play

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/daemon/web"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

// A lobby receives a new game once whole, then only its score, as of a game that was listed before, at most
// every five seconds, and nothing of plays that change neither.
func TestLobbyStream_batches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		events, _ := web.NewEventStream(w, httptest.NewRequest("GET", "/", nil))
		out := newLobbyStream(events, []protocol.Game{{ID: "listed", Status: protocol.Active, Inning: 1, Half: "top"}})
		defer out.timer.Stop()
		play := func(status protocol.Status, inning, runs int) {
			score := &protocol.Score{Home: runs}
			g := &protocol.Game{ID: "x", Status: status, Inning: inning, Half: "top", Score: score}
			for _, m := range []*protocol.Message{{Data: &protocol.Event{}}, {Game: "x", Data: g}} {
				check.NoError(t, out.receive(m))
			}
		}
		flushes := func(want string) {
			t.Helper()
			w.Body.Reset()
			select {
			case now := <-out.timer.C:
				_ = out.flush(now)
			case <-time.After(2 * lobbyInterval):
			}
			text := w.Body.String()
			check.That(t, strings.HasPrefix(text, want) && (want == "") == (text == ""), "sent %q, want %q", text, want)
			check.That(t, strings.Count(text, "event:") <= 1, "sent %q, want one event", text)
		}
		<-out.timer.C // of the beginning
		began := time.Now()
		play(protocol.Active, 1, 0)
		flushes("event: game\ndata: {")
		for range 3 {
			play(protocol.Active, 1, 1)
		}
		play(protocol.Active, 2, 1)
		flushes("event: score\ndata: " + `{"id":"x","score":{"home":1,"away":0},"inning":2,"half":"top"}` + "\n\n")
		check.Equal(t, time.Since(began), lobbyInterval, "the second batch came after")
		play(protocol.Active, 2, 1)
		flushes("")
		play(protocol.Finished, 9, 3)
		flushes("event: game\ndata: {")
		listed := &protocol.Game{ID: "listed", Status: protocol.Active, Inning: 2, Half: "top"}
		_ = out.receive(&protocol.Message{Data: listed})
		flushes("event: score\ndata: {\"id\":\"listed\"")
		for _, id := range []string{"listed", "y"} {
			_ = out.receive(&protocol.Message{Type: "gone", Game: id})
		}
		check.Contains(t, w.Body.String(), "event: gone\ndata: {\"id\":\"y\"}\n\n", "the end")
		check.Equal(t, len(out.sent), 0, "games that are kept")
	})
}
