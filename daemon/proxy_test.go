package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"pressbox/daemon/lantest"
	"pressbox/daemon/replica"
)

// proxyName is the name in the README's recipe.
const proxyName = "pressbox.home.arpa"

// recipe is the block of a kind in the README: there must be one.
func recipe(t *testing.T, kind string) string {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) != 1 {
		t.Fatalf("the README has %d blocks of %s, want one", len(blocks), kind)
	}
	return blocks[0][1]
}

// startCaddy runs Debian's Caddy with the README's Caddyfile until the test
// ends, and is the certificate authority that it made.
func startCaddy(t *testing.T) *x509.CertPool {
	t.Helper()
	program, err := filepath.Abs("../.build/caddy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("there is no Caddy: run \"make test\": %v", err)
	}
	dir := t.TempDir()
	file := "{\n\tadmin off\n\tskip_install_trust\n}\n" + recipe(t, "caddyfile") // only that it leaves the machine alone
	if err := os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "run", "--config", filepath.Join(dir, "Caddyfile"))
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	log := &strings.Builder{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("Caddy's log:\n%s", log)
		}
	})
	awaitHandshake(t)
	root, err := os.ReadFile(filepath.Join(dir, "caddy", "pki", "authorities", "local", "root.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(root)
	return pool
}

// awaitHandshake tries until the proxy has its certificate.
func awaitHandshake(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), never)
	defer cancel()
	// Its authority is not known yet, so any certificate will do.
	dialer := tls.Dialer{Config: &tls.Config{ServerName: proxyName, InsecureSkipVerify: true}}
	for {
		conn, err := dialer.DialContext(ctx, "tcp", lantest.Address+":443")
		if err == nil {
			_ = conn.Close() // nothing was sent
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("Caddy does not serve: %v", err)
		}
	}
}

// A visitor asks through the proxy, as a browser at one address does.
type visitor struct {
	*testing.T
	http.Client
}

func newVisitor(t *testing.T, roots *x509.CertPool, from string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	dialer := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 0))}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return dialer.DialContext(ctx, network, net.JoinHostPort(lantest.Address, port))
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &visitor{t, http.Client{Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
}

// ask sends a request and fails the test unless the answer has that status.
// The headers are name and value in turn.
func (v *visitor) ask(want int, method, address, body string, headers ...string) *http.Response {
	v.Helper()
	req, err := http.NewRequestWithContext(v.Context(), method, address, strings.NewReader(body))
	if err != nil {
		v.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := v.Do(req)
	if err != nil {
		v.Fatal(err)
	}
	v.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != want {
		v.Fatalf("%s %s: %s, want %d", method, address, resp.Status, want)
	}
	return resp
}

// status is that of what a page is answered who says that somebody else asks.
func (v *visitor) status(address, forwardedFor string) int {
	v.Helper()
	req, err := http.NewRequestWithContext(v.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		v.Fatal(err)
	}
	req.Header.Set("X-Forwarded-For", forwardedFor)
	resp, err := v.Do(req)
	if err != nil {
		v.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// to is where an answer leads.
func (v *visitor) to(resp *http.Response) string {
	v.Helper()
	u, err := resp.Location()
	if err != nil {
		v.Fatal(err)
	}
	return u.String()
}

// read is the text of an answer.
func (v *visitor) read(resp *http.Response) string {
	v.Helper()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.Fatal(err)
	}
	return string(text)
}

// join makes an account: page is what was asked, in is the answer with the
// cookies.
func (v *visitor) join(base string) (page, in *http.Response) {
	v.Helper()
	page = v.ask(http.StatusOK, "GET", v.to(v.ask(http.StatusFound, "GET", base+"/api/auth/idp/login", "")), "")
	form := regexp.MustCompile(`action="([^"]+)"`).FindStringSubmatch(v.read(page))
	claim := url.Values{"form": {"create"}, "name": {"Anna"}, "passphrase": {"seven quiet herons"}}.Encode()
	back := v.ask(http.StatusSeeOther, "POST", base+html.UnescapeString(form[1]), claim,
		"Content-Type", "application/x-www-form-urlencoded", "Origin", base)
	return page, v.ask(http.StatusSeeOther, "GET", v.to(back), "")
}

// behindCaddy starts both as the README says, and is the daemon and the proxy's
// authority.
func behindCaddy(t *testing.T) (*appliance, *x509.CertPool) {
	t.Helper()
	a := &appliance{tb: t, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(a.dir, ".env"), []byte(recipe(t, "env")), 0o600); err != nil {
		t.Fatal(err)
	}
	a.run(append(environment(t), "PORT=8888", "PULSE_SERVER=unix:/nowhere"))
	return a, startCaddy(t)
}

// With the README's recipe, to the letter, people sign in over https, and
// the daemon knows who asks.
func TestOverHTTPS(t *testing.T) {
	t.Parallel()
	if !lantest.Inside(t) {
		return
	}
	a, roots := behindCaddy(t)
	const base = "https://" + proxyName
	v := newVisitor(t, roots, lantest.Address)

	page, in := v.join(base)
	if hsts := page.Header.Get("Strict-Transport-Security"); hsts == "" {
		t.Error("https is not insisted on")
	}
	var kept []string
	for _, c := range in.Cookies() {
		if c.MaxAge > 0 {
			kept = append(kept, fmt.Sprint(c.Name, " ", c.Path, " ", c.Secure))
		}
	}
	if got, want := strings.Join(kept, "; "), "__Secure-pressbox_access /api true; __Secure-pressbox_refresh /api/auth true"; got != want {
		t.Errorf("cookies %s, want %s", got, want)
	}
	v.ask(http.StatusOK, "POST", base+"/api/auth/refresh", "", "Origin", base)
	if me := v.read(v.ask(http.StatusOK, "GET", base+"/api/auth/me", "")); !strings.Contains(me, `"name":"Anna"`) {
		t.Errorf("me: %s", me)
	}
	if !a.process.awaitLog("path=/api/auth/refresh status=200 bytes=") || !strings.Contains(a.process.logged(), "client="+lantest.Address) {
		t.Errorf("the log does not say who asked:\n%s", a.process.logged())
	}
}

// Through the proxy, a page of the recipe's origin plays a game over a
// websocket, with the cookie; a page of another one does not.
func TestAGameOverHTTPS(t *testing.T) {
	t.Parallel()
	if !lantest.Inside(t) {
		return
	}
	_, roots := behindCaddy(t)
	const base = "https://" + proxyName
	v := newVisitor(t, roots, lantest.Address)
	v.join(base)
	f := &fan{v.Client, t, base}
	id, known := f.play(`"innings": 3`)
	transport, ok := v.Transport.(*http.Transport)
	if !ok {
		t.Fatalf("a transport of type %T", v.Transport)
	}
	dialer := websocket.Dialer{NetDialContext: transport.DialContext, TLSClientConfig: transport.TLSClientConfig, Jar: v.Jar}
	conn, resp, err := dialer.Dial("wss://"+proxyName+"/api/ws", http.Header{"Origin": {base}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	defer conn.Close()
	if err := conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"t":"join","g":%q,"d":{"since":%d}}`, id, known.Rev)); err != nil {
		t.Fatal(err)
	}
	for cids := 0; !known.Over; {
		var frame replica.Frame
		if err := conn.ReadJSON(&frame); err != nil {
			t.Fatal(err)
		}
		if err := known.Take(frame); err != nil {
			t.Fatal(err)
		}
		if len(known.Legal) > 0 {
			cids++
			command := fmt.Appendf(nil, `{"t":"cmd","g":%q,"cid":"c%d","rev":%d,"d":{"action":%s}}`, id, cids, known.Rev, known.Legal[0].Action)
			known.Legal = nil
			if err := conn.WriteMessage(websocket.TextMessage, command); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, refused, err := dialer.Dial("wss://"+proxyName+"/api/ws", http.Header{"Origin": {"https://elsewhere.example"}})
	if err == nil || refused.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another origin: %v", err)
	}
}

// Through the proxy as well, who is not on the local network needs a token,
// whatever they say of themselves, each address has a limit of its own, and
// events come as they happen.
func TestOverHTTPSTheDaemonKnowsWhoAsks(t *testing.T) {
	t.Parallel()
	if !lantest.Inside(t) {
		return
	}
	_, roots := behindCaddy(t)
	const base = "https://" + proxyName
	neighbour, stranger := newVisitor(t, roots, lantest.Address), newVisitor(t, roots, lantest.Stranger)
	events := bufio.NewScanner(neighbour.ask(http.StatusOK, "GET", base+"/events", "").Body)
	const notice = `{"message": "The door is open."}`
	stranger.ask(http.StatusUnauthorized, "POST", base+"/notify", notice,
		"Content-Type", "application/json", "X-Forwarded-For", lantest.Address)
	neighbour.ask(http.StatusAccepted, "POST", base+"/notify", notice, "Content-Type", "application/json")
	for !strings.Contains(events.Text(), "The door is open.") {
		if !events.Scan() {
			t.Fatalf("the events end: %v", events.Err())
		}
	}
	// An allowance comes back at one a second: who asks faster is refused at last,
	// whoever he says that he asks for.
	for i := 0; stranger.status(base+"/api/auth/idp/login", fmt.Sprintf("198.51.100.%d", i%250)) != http.StatusTooManyRequests; i++ {
		if i == 1000 {
			t.Fatal("a thousand sign-ins were begun and none refused")
		}
	}
	neighbour.ask(http.StatusFound, "GET", base+"/api/auth/idp/login", "")
}
