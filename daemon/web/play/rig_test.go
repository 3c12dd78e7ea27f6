package play_test

import (
	"testing"
	"testing/synctest"

	"pressbox/check"
	"pressbox/daemon/web/webtest"
)

// inBubble runs a test in a synctest bubble with a server on a wire, which
// serves until stop is called.
func inBubble(t *testing.T, test func(p *webtest.Rig, l *webtest.Wire, stop func() error)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		p := webtest.NewGamesRig(t)
		l, serveStop := p.ServeWire()
		stopped := false
		stop := func() error {
			stopped = true
			return serveStop()
		}
		test(p, l, stop)
		if !stopped {
			check.NoError(t, stop())
		}
	})
}

// join joins a game and skips frames until its state.
func join(k *webtest.Socket, game string) {
	k.T.Helper()
	k.Sendf(`{"t":"join","g":%q}`, game)
	k.Until("state")
}

// get returns the answer to a GET request.
func get[T any](f *webtest.Player, path string) (answer T) {
	f.T.Helper()
	f.Ask("GET", path, "", 200, &answer)
	return answer
}
