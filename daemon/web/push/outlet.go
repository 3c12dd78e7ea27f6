package push

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"pressbox/daemon/web"
)

const (
	sendTimeout = 10 * time.Second // for a message on a websocket
	idleTimeout = time.Minute      // of a websocket, which is pinged more often
	maxReceived = 4 << 10          // bytes of a frame of a client, which is ignored
)

// An outlet sends events to a subscriber.
type outlet struct {
	send func(ntfyEvent) error
	beat func() error    // called every 15 s
	gone <-chan struct{} // closed when the subscriber is gone; nil: its request ends then
	end  func()
}

// An opener begins the response to a subscriber.
type opener func(http.ResponseWriter, *http.Request) (outlet, error)

// lines returns an opener of a response with lines for each event.
func lines(media string, line func(ntfyEvent) string) opener {
	return func(w http.ResponseWriter, _ *http.Request) (outlet, error) {
		w.Header().Set("Content-Type", media)
		w.Header().Set("X-Accel-Buffering", "no") // nginx would delay events
		return outlet{
			send: func(e ntfyEvent) error { return web.WriteFlushed(w, []byte(line(e))) },
			beat: func() error { return nil },
			end:  func() {},
		}, nil
	}
}

func jsonLine(e ntfyEvent) string {
	text, _ := json.Marshal(e) //nolint:errchkjson // texts and numbers can always be encoded
	return string(text) + "\n"
}

func serverSentEvent(e ntfyEvent) string {
	if e.Event == "message" { // without a name, as ntfy does
		return "data: " + jsonLine(e) + "\n"
	}
	return "event: " + e.Event + "\ndata: " + jsonLine(e) + "\n"
}

func rawLine(e ntfyEvent) string { return strings.ReplaceAll(e.Message, "\n", " ") + "\n" }

// websocket begins a response that is a websocket. It refuses pages of other origins: browsers ask for no permission
// before they open one (RFC 6455 §10.2).
func (h *handlers) websocket(w http.ResponseWriter, r *http.Request) (outlet, error) {
	if !h.OwnOrigin(r) {
		return outlet{}, web.ErrCrossOrigin
	}
	done, ok := h.Track()
	if !ok {
		return outlet{}, errStopping
	}
	up := websocket.Upgrader{
		ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 10,
		CheckOrigin: func(*http.Request) bool { return true }, // checked above
		Error:       func(http.ResponseWriter, *http.Request, int, error) {},
	}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		done()
		return outlet{}, errNotWebsocket
	}
	gone := make(chan struct{})
	go discard(conn, gone)
	deadline := func() time.Time { return time.Now().Add(sendTimeout) }
	return outlet{
		gone: gone,
		send: func(e ntfyEvent) error {
			if err := conn.SetWriteDeadline(deadline()); err != nil {
				return err
			}
			return conn.WriteJSON(e)
		},
		beat: func() error { return conn.WriteControl(websocket.PingMessage, nil, deadline()) },
		end: func() {
			bye := websocket.FormatCloseMessage(websocket.CloseGoingAway, "")
			_ = conn.WriteControl(websocket.CloseMessage, bye, deadline())
			_ = conn.Close() // the client may be gone
			<-gone
			done()
		},
	}, nil
}

// discard reads what a client sends, until it disconnects or is silent, and then closes gone.
func discard(conn *websocket.Conn, gone chan<- struct{}) {
	defer close(gone)
	alive := func(string) error { return conn.SetReadDeadline(time.Now().Add(idleTimeout)) }
	conn.SetPongHandler(alive)
	conn.SetReadLimit(maxReceived)
	for alive("") == nil {
		if _, _, err := conn.NextReader(); err != nil {
			return
		}
	}
}
