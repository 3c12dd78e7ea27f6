package play_test

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"

	"pressbox/daemon/limits"
	"pressbox/daemon/web"
	"pressbox/daemon/web/play"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// The characters that separate fields are escaped.
func TestWiFi_code(t *testing.T) {
	t.Parallel()
	for _, row := range check.Rows(`
		Guests       | four strikes | WIFI:T:WPA;S:Guests;P:four strikes;;
		a;b,c:d"e\f  | \;,:"        | WIFI:T:WPA;S:a\;b\,c\:d\"e\\f;P:\\\;\,\:\";;
		Café ☕       | ünïcode1     | WIFI:T:WPA;S:Café ☕;P:ünïcode1;;
	`) {
		check.Equal(t, play.WiFi{SSID: row[0], Passphrase: row[1]}.Code(), row[2], "%q, %q", row[0], row[1])
	}
}

// parseWiFi reads a code as phones do: fields end at a semicolon without a backslash before it.
func parseWiFi(code string) (fields []string) {
	field := ""
	for i := len("WIFI:"); i < len(code); i++ {
		switch {
		case code[i] == '\\' && i+1 < len(code):
			i++
			field += code[i : i+1]
		case code[i] == ';':
			fields, field = append(fields, field), ""
		default:
			field += code[i : i+1]
		}
	}
	return fields
}

// Any name and passphrase are read back as they are.
func FuzzWiFi_code(f *testing.F) {
	f.Add("Guests", "four strikes")
	f.Add(`\;,:"`, `P:x;;\`)
	f.Fuzz(func(t *testing.T, ssid, passphrase string) {
		code := play.WiFi{SSID: ssid, Passphrase: passphrase}.Code()
		got := parseWiFi(code)
		if len(got) != 4 || got[0] != "T:WPA" || got[1] != "S:"+ssid || got[2] != "P:"+passphrase || got[3] != "" {
			t.Errorf("%q is read as %q", code, got)
		}
	})
}

// from is a listener whose connections have the remote address of another host.
type from struct {
	net.Listener
	remote string
}

func (l from) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return fromConn{conn, l.remote}, err
}

type fromConn struct {
	net.Conn
	remote string
}

func (c fromConn) RemoteAddr() net.Addr { return webtest.Address(c.remote + ":4711") }

// The network reaches a client on the host that uses a name of this host alone, unless a proxy may have sent the
// request, and an administrator; no other client, whatever its address.
func TestWiFi_kiosk(t *testing.T) {
	t.Parallel()
	rigs := map[play.WiFi]*webtest.Rig{}
	for _, row := range check.Rows(`
		on the host                  |              | localhost  |                 | Guests | secret words | network
		on the host, by its address  |              | 127.0.0.1  |                 | Guests | secret words | network
		on the host, IPv6            | [::1]        | [::1]      |                 | Guests | secret words | network
		a page of another host       |              | evil.local |                 | Guests | secret words | nothing
		the wall display of the host | DISPLAY      | localhost  |                 | Guests | secret words | network
		the display behind a proxy   | DISPLAY      | localhost  | X-Forwarded-For | Guests | secret words | nothing
		with the display's address   | 169.254.0.1  | localhost  |                 | Guests | secret words | nothing
		in the network               | 192.168.1.20 | localhost  |                 | Guests | secret words | nothing
		through a proxy              |              | localhost  | X-Forwarded-For | Guests | secret words | nothing
		through another proxy        |              | localhost  | Via             | Guests | secret words | nothing
		without a name               |              | localhost  |                 |        | secret words | nothing
		without a passphrase         |              | localhost  |                 | Guests |              | nothing
	`) {
		name, want := row[0], row[6] == "network"
		wifi := play.WiFi{SSID: row[4], Passphrase: row[5]}
		p := rigs[wifi]
		if p == nil {
			p = webtest.NewGamesRig(t, func(c *site.Config) { c.Access, c.Play.WiFi = web.Open, wifi })
			p.Announce(t, "Dinner is ready.") // sent after the network
			rigs[wifi] = p
		}
		l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
		address := l.Addr().String()
		switch row[1] {
		case "":
		case "DISPLAY":
			l = limits.ListenWithDisplay(l, os.Getuid())
		default:
			l = from{l, row[1]}
		}
		check.Run(t, func(ctx context.Context) error { return p.Serve(ctx, l) })
		headers := []string{"Host", row[2]}
		if row[3] != "" {
			headers = append(headers, row[3], "192.168.1.20")
		}
		display := webtest.OpenDisplay(t, address, headers...)
		display.Await("announcement", "Dinner")
		all := strings.Join(display.All, "\n")
		got := strings.Contains(all, `wifi {"ssid":"Guests","code":"WIFI:T:WPA;S:Guests;P:secret words;;"}`)
		check.Equal(t, got, want, "%s: the display has the network", name)
		check.That(t, want || !strings.Contains(all, "secret words"), "%s: the display has the passphrase", name)
	}
}
