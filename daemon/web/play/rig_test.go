package play_test

import "pressbox/daemon/web/webtest"

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
