package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pressbox/daemon/lantest"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

// proxyName is the host name in packaging/doc/https.md.
const proxyName = "pressbox.home.arpa"

// recipe returns the code block of a kind in packaging/doc/https.md, of which there is one.
func recipe(t *testing.T, kind string) string {
	t.Helper()
	document := check.Must(os.ReadFile("../packaging/doc/https.md"))(t)
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
	program := check.Must(filepath.Abs("../.build/caddy"))(t)
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("Caddy is missing: run \"make .build/caddy\": %v", err)
	}
	dir := t.TempDir()
	file := "{\n\tadmin off\n\tskip_install_trust\n}\n" + recipe(t, "caddyfile") // it changes nothing outside dir
	check.NoError(t, os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(file), 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "run", "--config", filepath.Join(dir, "Caddyfile"))
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	log := &strings.Builder{}
	cmd.Stderr = log
	check.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // the error says that it was killed
		if t.Failed() {
			t.Logf("Caddy's log:\n%s", log)
		}
	})
	awaitHandshake(t)
	root := check.Must(os.ReadFile(filepath.Join(dir, "caddy", "pki", "authorities", "local", "root.crt")))(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(root)
	return pool
}

// awaitHandshake waits until the proxy has its certificate.
func awaitHandshake(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Never)
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

// newVisitor returns a browser at an address that uses the proxy, whose certificate authority
// is roots.
func newVisitor(t *testing.T, roots *x509.CertPool, from string) *servertest.Browser {
	t.Helper()
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
	return servertest.NewBrowser(t, "https://"+proxyName, transport)
}

// behindCaddy starts a server and Caddy as the document says, and returns Caddy's certificate
// authority.
func behindCaddy(t *testing.T) (*servertest.Process, *x509.CertPool) {
	t.Helper()
	dir := t.TempDir()
	check.NoError(t, os.WriteFile(filepath.Join(dir, ".env"), []byte(recipe(t, "env")), 0o600))
	return servertest.RunIn(t, dir, servertest.Environment(t, "PORT=8888", servertest.Silent)), startCaddy(t)
}

// Behind the documented proxy, clients sign in over https, and the log has their addresses.
func TestProxy_signIn(t *testing.T) {
	t.Parallel()
	if !lantest.Inside(t) {
		return
	}
	p, roots := behindCaddy(t)
	v := newVisitor(t, roots, lantest.Address)
	if form := v.SignUp(); form.Header.Get("Strict-Transport-Security") == "" {
		t.Error("there is no Strict-Transport-Security")
	}
	refreshed := v.Request("POST", "/api/auth/refresh", "", "Origin", v.Base)
	var set []string
	for _, c := range refreshed.Cookies() {
		set = append(set, fmt.Sprint(c.Name, " ", c.Path, " ", c.Secure, " ", c.MaxAge > 0))
	}
	check.Equal(t, strings.Join(set, "; "), "__Secure-pressbox_access /api true true; "+
		"__Secure-pressbox_refresh /api/auth true true; __Secure-pressbox_session / true true",
		"%s with the cookies", refreshed.Status)
	check.Contains(t, string(v.Ask("GET", "/api/auth/me", "", http.StatusOK)), `"name":"Anna"`, "me")
	if !p.AwaitLog("path=/api/auth/refresh status=200 bytes=") ||
		!strings.Contains(p.Logged(), "client="+lantest.Address) {
		t.Errorf("the log does not have the client's address:\n%s", p.Logged())
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
	p := &servertest.Player{Browser: newVisitor(t, roots, lantest.Address)}
	p.SignUp()
	p.Play(`"innings": 3`)
	check.NoError(t, p.Connect(nil))
	if _, refused, err := p.Dial("https://elsewhere.example"); err == nil ||
		refused.StatusCode != http.StatusForbidden {
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
	local, remote := newVisitor(t, roots, lantest.Address), newVisitor(t, roots, lantest.PublicAddress)
	events := bufio.NewScanner(local.Request("GET", "/events", "").Body)
	const announcement = `{"message": "The door is open."}`
	if resp := remote.Request("POST", "/notify", announcement,
		"X-Forwarded-For", lantest.Address); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a remote client: %s, want 401", resp.Status)
	}
	local.Ask("POST", "/notify", announcement, http.StatusAccepted)
	for !strings.Contains(events.Text(), "The door is open.") {
		if !events.Scan() {
			t.Fatalf("the events end: %v", events.Err())
		}
	}
	// The rate limit is one per second: a faster client is refused, whatever its header.
	for i := range 1000 {
		resp := remote.Request("GET", "/api/auth/idp/login", "", "X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i%250))
		if resp.StatusCode == http.StatusTooManyRequests {
			local.Ask("GET", "/api/auth/idp/login", "", http.StatusOK)
			return
		}
	}
	t.Error("a thousand sign-ins were started and none was refused")
}
