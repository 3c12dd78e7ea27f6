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

// proxyName is the host name in packaging/doc/https.md.
const proxyName = "pressbox.home.arpa"

// recipe returns the code block of a kind in packaging/doc/https.md, of which there is one.
func recipe(t *testing.T, kind string) string {
	t.Helper()
	document, err := os.ReadFile("../packaging/doc/https.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(string(document), -1)
	if len(blocks) != 1 {
		t.Fatalf("packaging/doc/https.md has %d blocks of %s, want one", len(blocks), kind)
	}
	return blocks[0][1]
}

// startCaddy runs Debian's Caddy with the document's Caddyfile until the test ends, and
// returns its certificate authority.
func startCaddy(t *testing.T) *x509.CertPool {
	t.Helper()
	program, err := filepath.Abs("../.build/caddy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("Caddy is missing: run \"make .build/caddy\": %v", err)
	}
	dir := t.TempDir()
	file := "{\n\tadmin off\n\tskip_install_trust\n}\n" + recipe(t, "caddyfile") // it changes nothing outside dir
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
		_ = cmd.Wait() // the error says that it was killed
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

// awaitHandshake waits until the proxy has its certificate.
func awaitHandshake(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), never)
	defer cancel()
	// Its authority is not known yet.
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

// A visitor is a browser at one address that uses the proxy.
type visitor struct {
	*testing.T
	http.Client
}

func newVisitor(t *testing.T, roots *x509.CertPool, from string) *visitor {
	t.Helper()
	cookies, err := cookiejar.New(nil)
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
	return &visitor{t, http.Client{Jar: cookies, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
}

// ask sends a request and fails the test unless the response has that status. headers
// alternates names and values.
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

// status returns the status of a request with a forged X-Forwarded-For.
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

// location returns the target of a redirection.
func (v *visitor) location(resp *http.Response) string {
	v.Helper()
	u, err := resp.Location()
	if err != nil {
		v.Fatal(err)
	}
	return u.String()
}

// body returns the body of a response.
func (v *visitor) body(resp *http.Response) string {
	v.Helper()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.Fatal(err)
	}
	return string(text)
}

// signUp creates an account and returns the form and the response that sets the cookies.
func (v *visitor) signUp(base string) (page, callback *http.Response) {
	v.Helper()
	page = v.ask(http.StatusOK, "GET", v.location(v.ask(http.StatusFound, "GET", base+"/api/auth/idp/login", "")), "")
	form := regexp.MustCompile(`action="([^"]+)"`).FindStringSubmatch(v.body(page))
	claim := url.Values{"form": {"create"}, "name": {"Anna"}, "passphrase": {"seven quiet herons"}}.Encode()
	back := v.ask(http.StatusSeeOther, "POST", base+html.UnescapeString(form[1]), claim,
		"Content-Type", "application/x-www-form-urlencoded", "Origin", base)
	return page, v.ask(http.StatusSeeOther, "GET", v.location(back), "")
}

// behindCaddy starts a server and Caddy as the document says, and returns Caddy's certificate
// authority.
func behindCaddy(t *testing.T) (*process, *x509.CertPool) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(recipe(t, "env")), 0o600); err != nil {
		t.Fatal(err)
	}
	return runProcessIn(t, dir, environment(t, "PORT=8888", silent)), startCaddy(t)
}

// Behind the documented proxy, clients sign in over https, and the log has their addresses.
func TestProxy_signIn(t *testing.T) {
	t.Parallel()
	if !lantest.Inside(t) {
		return
	}
	p, roots := behindCaddy(t)
	const base = "https://" + proxyName
	v := newVisitor(t, roots, lantest.Address)

	page, callback := v.signUp(base)
	if hsts := page.Header.Get("Strict-Transport-Security"); hsts == "" {
		t.Error("there is no Strict-Transport-Security")
	}
	var set []string
	for _, c := range callback.Cookies() {
		if c.MaxAge > 0 {
			set = append(set, fmt.Sprint(c.Name, " ", c.Path, " ", c.Secure))
		}
	}
	if got, want := strings.Join(set, "; "), "__Secure-pressbox_access /api true; __Secure-pressbox_refresh /api/auth true"; got != want {
		t.Errorf("cookies %s, want %s", got, want)
	}
	v.ask(http.StatusOK, "POST", base+"/api/auth/refresh", "", "Origin", base)
	if me := v.body(v.ask(http.StatusOK, "GET", base+"/api/auth/me", "")); !strings.Contains(me, `"name":"Anna"`) {
		t.Errorf("me: %s", me)
	}
	if !p.awaitLog("path=/api/auth/refresh status=200 bytes=") || !strings.Contains(p.logged(), "client="+lantest.Address) {
		t.Errorf("the log does not have the client's address:\n%s", p.logged())
	}
}

// Behind the proxy, a page of the server's origin plays a game over a websocket with the
// cookie; a page of another origin is refused.
func TestProxy_websocket(t *testing.T) {
	t.Parallel()
	if !lantest.Inside(t) {
		return
	}
	_, roots := behindCaddy(t)
	const base = "https://" + proxyName
	v := newVisitor(t, roots, lantest.Address)
	v.signUp(base)
	b := &browser{v.Client, t, base}
	id, known := b.play(`"innings": 3`)
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
		if err := known.Apply(frame); err != nil {
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

// Behind the proxy, a client outside the local network needs a token even with a forged
// header, each address has its own rate limit, and events are not buffered.
func TestProxy_clientAddress(t *testing.T) {
	t.Parallel()
	if !lantest.Inside(t) {
		return
	}
	_, roots := behindCaddy(t)
	const base = "https://" + proxyName
	local, remote := newVisitor(t, roots, lantest.Address), newVisitor(t, roots, lantest.PublicAddress)
	events := bufio.NewScanner(local.ask(http.StatusOK, "GET", base+"/events", "").Body)
	const announcement = `{"message": "The door is open."}`
	remote.ask(http.StatusUnauthorized, "POST", base+"/notify", announcement,
		"Content-Type", "application/json", "X-Forwarded-For", lantest.Address)
	local.ask(http.StatusAccepted, "POST", base+"/notify", announcement, "Content-Type", "application/json")
	for !strings.Contains(events.Text(), "The door is open.") {
		if !events.Scan() {
			t.Fatalf("the events end: %v", events.Err())
		}
	}
	// The rate limit is one per second: a faster client is refused, whatever its header.
	for i := 0; remote.status(base+"/api/auth/idp/login", fmt.Sprintf("198.51.100.%d", i%250)) != http.StatusTooManyRequests; i++ {
		if i == 1000 {
			t.Fatal("a thousand sign-ins were started and none was refused")
		}
	}
	local.ask(http.StatusFound, "GET", base+"/api/auth/idp/login", "")
}
