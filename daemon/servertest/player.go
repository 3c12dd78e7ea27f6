package servertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"pressbox/daemon/replica"
	"pressbox/packaging/check"
)

// Never is longer than any wait of a test takes on the slowest host.
const Never = 5 * time.Minute

// A Browser is the HTTP client of an account, with its cookies.
type Browser struct {
	http.Client
	tb     testing.TB
	Base   string // of its requests
	dialer websocket.Dialer
}

// NewBrowser returns a browser without an account; nil is the default transport.
func NewBrowser(tb testing.TB, base string, transport *http.Transport) *Browser {
	tb.Helper()
	cookies := check.Must(cookiejar.New(nil))(tb)
	b := &Browser{tb: tb, Base: base, Client: http.Client{Jar: cookies}}
	b.dialer = websocket.Dialer{Subprotocols: []string{"pressbox.v1"}, Jar: cookies, HandshakeTimeout: Never}
	if transport != nil {
		b.Transport = transport
		b.dialer.NetDialContext, b.dialer.TLSClientConfig = transport.DialContext, transport.TLSClientConfig
	}
	return b
}

// SignUp creates an account and returns its browser.
func SignUp(tb testing.TB, base string) *Browser {
	tb.Helper()
	b := NewBrowser(tb, base, nil)
	b.SignUp()
	return b
}

// SignUp creates an account and returns its form.
func (b *Browser) SignUp() (form *http.Response) {
	b.tb.Helper()
	form = b.Request("GET", "/api/auth/idp/login", "")
	end := check.Must(b.PostForm(form.Request.URL.String(),
		url.Values{"form": {"create"}, "name": {"Anna"}, "passphrase": {"a dog in a boat"}}))(b.tb)
	_ = end.Body.Close()
	return form
}

// Request sends a request with a JSON body, "" for none. headers alternates names and values.
func (b *Browser) Request(method, path, body string, headers ...string) *http.Response {
	b.tb.Helper()
	req := check.Must(http.NewRequestWithContext(b.tb.Context(), method, b.Base+path, strings.NewReader(body)))(b.tb)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp := check.Must(b.Do(req))(b.tb)
	b.tb.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// Ask sends a request and returns the response's body; it fails the test unless the response
// has the status want.
func (b *Browser) Ask(method, path, body string, want int) []byte {
	b.tb.Helper()
	resp := b.Request(method, path, body)
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		b.tb.Fatalf("%s %s: %s, %v, want %d: %s", method, path, resp.Status, err, want, text)
	}
	return text
}

// Read decodes the response to a GET request.
func (b *Browser) Read(path string, v any) {
	b.tb.Helper()
	check.NoError(b.tb, json.Unmarshal(b.Ask("GET", path, "", 200), v))
}

// Dial opens a websocket from a page of an origin.
func (b *Browser) Dial(origin string) (*websocket.Conn, *http.Response, error) {
	conn, resp, err := b.dialer.Dial("ws"+strings.TrimPrefix(b.Base, "http")+"/api/ws", http.Header{"Origin": {origin}})
	if resp != nil {
		_ = resp.Body.Close()
	}
	return conn, resp, err
}

// A Player plays a game against the bot, over one connection or several.
type Player struct {
	*Browser
	game    string
	Replica *replica.Replica
	cids    int
	pending string            // the command without a response; "" means none
	cid     string            // its id
	acked   map[string]uint64 // the revisions of this game's commands
	Acks    int               // commands acknowledged in all games
}

// Play starts a game against the bot with these options.
func (p *Player) Play(options string) {
	p.tb.Helper()
	var teams struct{ Teams []struct{ ID string } }
	p.Read("/api/teams", &teams)
	var g struct{ ID string }
	created := p.Ask("POST", "/api/games",
		fmt.Sprintf(`{"home_team": %q, "away_team": %q, "options": {"opponent": "bot", %s}}`,
			teams.Teams[0].ID, teams.Teams[1].ID, options), 201)
	check.NoError(p.tb, json.Unmarshal(created, &g))
	lineup := p.Ask("POST", "/api/games/"+g.ID+"/lineups/home/suggest", "", 200)
	known := check.Must(replica.New(p.Ask("PUT", "/api/games/"+g.ID+"/lineups/home", string(lineup), 200)))(p.tb)
	p.game, p.Replica, p.acked, p.pending = g.ID, known, map[string]uint64{}, ""
}

// ErrDiverged is the error of a replica that is not what the server sent.
var ErrDiverged = errors.New("the replica and the server differ")

// Connect plays over one connection until it breaks, the game is over, or stop, called with
// each applied frame, returns true.
func (p *Player) Connect(stop func(replica.Frame) bool) error {
	conn, _, err := p.Dial(p.Base)
	if err != nil {
		return err
	}
	defer conn.Close()
	send := func(text string) error { return conn.WriteMessage(websocket.TextMessage, []byte(text)) }
	if err := send(fmt.Sprintf(`{"t":"join","g":%q,"d":{"since":%d}}`, p.game, p.Replica.Rev)); err != nil {
		return err
	}
	for !p.Replica.Over {
		_ = conn.SetReadDeadline(time.Now().Add(Never))
		var f replica.Frame
		if err := conn.ReadJSON(&f); err != nil {
			return err
		}
		if err := p.apply(f); err != nil {
			return fmt.Errorf("%w: %w", ErrDiverged, err)
		}
		if stop != nil && stop(f) {
			return nil
		}
		resend := f.T == "state" && p.pending != ""
		if !resend && (p.pending != "" || len(p.Replica.Legal) == 0) {
			continue
		}
		if !resend {
			p.decide()
		}
		if err := send(p.pending); err != nil {
			return err
		}
	}
	return nil
}

// apply applies a frame to the replica and records the revision of an acknowledged command.
func (p *Player) apply(f replica.Frame) error {
	if err := p.Replica.Apply(f); err != nil {
		return err
	}
	if before, ok := p.acked[f.CID]; f.T == "ack" && ok && before != f.Rev {
		return fmt.Errorf("%s was revision %d and is %d", f.CID, before, f.Rev)
	}
	if f.T == "ack" {
		p.acked[f.CID] = f.Rev
		p.Acks++
	}
	if (f.T == "ack" || f.T == "nak") && f.CID == p.cid {
		p.pending = ""
	}
	return nil
}

// decide makes the first legal choice the pending command.
func (p *Player) decide() {
	p.cids++
	p.cid = "c" + strconv.Itoa(p.cids)
	p.pending = fmt.Sprintf(`{"t":"cmd","g":%q,"cid":%q,"rev":%d,"d":{"action":%s}}`,
		p.game, p.cid, p.Replica.Rev, p.Replica.Legal[0].Action)
	p.Replica.Legal = nil
}

// Check fails the test unless every acknowledged command has its revision: the server answers
// a repeated command by its id.
func (p *Player) Check() {
	p.tb.Helper()
	conn, _, err := p.Dial(p.Base)
	check.NoError(p.tb, err)
	defer conn.Close()
	asked := 0
	for cid, rev := range p.acked {
		if asked++; asked > 30 { // the rate limit of a socket
			break
		}
		if asked == 1 {
			_ = conn.WriteMessage(websocket.TextMessage,
				fmt.Appendf(nil, `{"t":"join","g":%q,"d":{"since":%d}}`, p.game, p.Replica.Rev))
		}
		_ = conn.WriteMessage(websocket.TextMessage,
			fmt.Appendf(nil, `{"t":"cmd","g":%q,"cid":%q,"rev":1,"d":{"action":{"a":"offense","call":"swing"}}}`,
				p.game, cid))
		var f replica.Frame
		for f.T != "ack" && f.T != "nak" {
			check.NoError(p.tb, conn.ReadJSON(&f))
		}
		if f.T != "ack" || f.Rev != rev || string(f.D) != `{"dup":true}` {
			p.tb.Errorf("%s was acknowledged as revision %d, and is now answered %s %d %s", cid, rev, f.T, f.Rev, f.D)
		}
	}
}
