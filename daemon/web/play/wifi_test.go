package play_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pressbox/auth/netblock"
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

// The network reaches a client on the host, unless a proxy may have sent the request, and an administrator;
// no other client.
func TestWiFi_kiosk(t *testing.T) {
	t.Parallel()
	rigs := map[play.WiFi]*webtest.Rig{}
	for _, row := range check.Rows(`
		on the host                  | 127.0.0.1    |                 | Guests | secret words | network
		on the host, IPv6            | [::1]        |                 | Guests | secret words | network
		the wall display of the host | DISPLAY      |                 | Guests | secret words | network
		the display behind a proxy   | DISPLAY      | X-Forwarded-For | Guests | secret words | nothing
		in the network               | 192.168.1.20 |                 | Guests | secret words | nothing
		through a proxy              | 127.0.0.1    | X-Forwarded-For | Guests | secret words | nothing
		through another proxy        | 127.0.0.1    | Via             | Guests | secret words | nothing
		without a name               | 127.0.0.1    |                 |        | secret words | nothing
		without a passphrase         | 127.0.0.1    |                 | Guests |              | nothing
	`) {
		name, header, want := row[0], row[2], row[5] == "network"
		from := strings.Replace(row[1], "DISPLAY", netblock.Display().String(), 1) + ":4711"
		wifi := play.WiFi{SSID: row[3], Passphrase: row[4]}
		p := rigs[wifi]
		if p == nil {
			p = webtest.NewGamesRig(t, func(c *site.Config) { c.Access, c.Play.WiFi = web.Open, wifi })
			p.Announce(t, "Dinner is ready.") // sent after the network
			rigs[wifi] = p
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.RemoteAddr = from
			if header != "" {
				r.Header.Set(header, "192.168.1.20")
			}
			p.Handler().ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		display := webtest.OpenDisplay(t, strings.TrimPrefix(server.URL, "http://"))
		display.Await("announcement", "Dinner")
		all := strings.Join(display.All, "\n")
		got := strings.Contains(all, `wifi {"ssid":"Guests","code":"WIFI:T:WPA;S:Guests;P:secret words;;"}`)
		check.Equal(t, got, want, "%s: the display has the network", name)
		check.That(t, want || !strings.Contains(all, "secret words"), "%s: the display has the passphrase", name)
		server.CloseClientConnections()
	}
}
