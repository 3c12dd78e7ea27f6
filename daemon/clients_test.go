package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/daemon/client"
	"pressbox/daemon/lantest"
	"pressbox/daemon/servertest"
	"pressbox/daemon/trust/trusttest"
	"pressbox/packaging/check"
)

// runHostile runs a command in a directory that another user wrote, and returns what it
// printed to its output and to its errors. Settings of the test are not in its environment.
func runHostile(t *testing.T, dir string, args ...string) (out, errs string) {
	t.Helper()
	trusttest.Give(t, dir)
	cmd := exec.Command("pressbox", args...)
	cmd.Dir = dir
	// nothing leaves the host
	for _, value := range append(os.Environ(), servertest.Silent, "HTTPS_PROXY=http://127.0.0.1:1") {
		if !strings.HasPrefix(value, "ONNXRUNTIME_LIB=") {
			cmd.Env = append(cmd.Env, value)
		}
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	printed, err := cmd.Output()
	_, ended := errors.AsType[*exec.ExitError](err)
	check.Require(t, err == nil || ended, "%v", err)
	return string(printed), stderr.String()
}

// checkIgnored fails the test unless root's command reported that it ignored .env, and another user's did not.
func checkIgnored(t *testing.T, dir, errs string) {
	t.Helper()
	reported := strings.Contains(errs, "pressbox: ignored "+filepath.Join(dir, ".env")+": ") &&
		strings.Contains(errs, "not to root")
	if root := os.Geteuid() == 0; reported != root {
		t.Errorf("reported that .env is ignored: %v, want %v: %s", reported, root, errs)
	}
}

func writeDotenv(t *testing.T, dir, format string, args ...any) {
	t.Helper()
	check.NoError(t, os.WriteFile(filepath.Join(dir, ".env"), fmt.Appendf(nil, format, args...), 0o644))
}

// A library that another user's .env names is not loaded by root's doctor.
func TestHostileEnv_library(t *testing.T) {
	t.Parallel()
	servertest.Settings(t)
	dir := t.TempDir()
	library, source := filepath.Join(dir, "evil.so"), filepath.Join(dir, "evil.c")
	const code = `#include <stdio.h>
__attribute__((constructor)) static void run(void) { FILE *f = fopen("owned", "w"); if (f) fclose(f); }`
	check.NoError(t, os.WriteFile(source, []byte(code), 0o600))
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
	writeDotenv(t, dir, "ONNXRUNTIME_LIB=%s\n", library)
	out, errs := runHostile(t, dir, "doctor")
	checkIgnored(t, dir, errs)
	_, err := os.Stat(filepath.Join(dir, "owned"))
	if root := os.Geteuid() == 0; root != errors.Is(err, os.ErrNotExist) || root == strings.Contains(out, library) {
		t.Errorf("the library ran: %v; as root: %v\n%s", err == nil, root, out)
	}
}

// Root's commands do not administer through the socket of another user's server: neither
// one that .env names nor one in the working directory.
func TestHostileEnv_socket(t *testing.T) {
	t.Parallel()
	servertest.Settings(t)
	for _, where := range []string{"elsewhere", "state"} {
		dir := t.TempDir()
		state := filepath.Join(dir, where)
		check.NoError(t, os.Mkdir(state, 0o700))
		writeDotenv(t, dir, "STATE_DIR=%s\n", state)
		serveHostile(t, filepath.Join(state, "admin.sock"))
		out, errs := runHostile(t, dir, "users", "reset", "Alice")
		checkIgnored(t, dir, errs)
		if root := os.Geteuid() == 0; root == strings.Contains(out, "chosen by the attacker") {
			t.Errorf("%s: as root: %v; printed %q, %s", where, root, out, errs)
		}
	}
}

// serveHostile serves another user's administrator's socket.
func serveHostile(t *testing.T, path string) {
	t.Helper()
	l := trusttest.Listen(t, path)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"passphrase":"chosen by the attacker"}`)
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close() // Serve returns an error
		<-served
	})
}

// A catalog and a directory that another user's .env names are not used to write voices.
func TestHostileEnv_voices(t *testing.T) {
	t.Parallel()
	servertest.Settings(t)
	const name = "en_US-copy-medium"
	dir, target := t.TempDir(), t.TempDir()
	writeDotenv(t, dir, "VOICES_URL=%s\nMODEL_DIR=%s\n", serveCatalog(t, name, copied()), target)
	_, errs := runHostile(t, dir, "voices", "install", "--insecure-http", name)
	checkIgnored(t, dir, errs)
	files, err := os.ReadDir(target)
	root := os.Geteuid() == 0
	check.That(t, err == nil && root != (len(files) > 0), "as root: %v; written: %v, %v", root, files, err)
}

// A hostileState is a STATE_DIR that another user controls, beside a directory that only root may enter.
type hostileState struct {
	t              *testing.T
	state, private string
}

// newHostileState returns one with a damaged store.
func newHostileState(t *testing.T) hostileState {
	t.Helper()
	servertest.Settings(t)
	reachable(t)
	dir := t.TempDir()
	h := hostileState{t, filepath.Join(dir, "theirs", "state"), filepath.Join(dir, "private")}
	check.NoError(t, errors.Join(os.Mkdir(h.private, 0o700), os.MkdirAll(filepath.Join(h.state, "backups"), 0o755),
		os.WriteFile(filepath.Join(h.state, "pressbox.db"), []byte("damaged"), 0o600)))
	trusttest.Give(t, filepath.Dir(h.state))
	return h
}

// run runs a command, which must end, on a STATE_DIR.
func (h hostileState) run(state string, args ...string) (out string, err error) {
	h.t.Helper()
	ctx, stop := context.WithTimeout(h.t.Context(), servertest.MaxWait)
	defer stop()
	cmd := exec.CommandContext(ctx, "pressbox", append(args, "--state-dir", state)...)
	cmd.Dir, cmd.Env = h.private, servertest.Environment(h.t, servertest.Silent)
	printed, err := cmd.CombinedOutput()
	check.Require(h.t, ctx.Err() == nil, "%v does not end: %s", args, printed)
	return string(printed), err
}

// secret returns a backup that only root may read.
func (h hostileState) secret() (path string) {
	h.t.Helper()
	path = filepath.Join(h.private, "secret.db")
	for _, args := range [][]string{{"tokens", "create", "secret"}, {"backup", path}} {
		out, err := h.run(filepath.Join(h.private, "state"), args...)
		check.Require(h.t, err == nil, "%v: %v: %s", args, err, out)
	}
	return path
}

// Root's commands do not read for another user what only root may read, by whatever link it was put into STATE_DIR.
func TestHostileState_readsNothing(t *testing.T) {
	t.Parallel()
	root := os.Geteuid() == 0
	for name, link := range map[string]func(from, to string) error{"symbolic": os.Symlink, "hard": os.Link} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHostileState(t)
			planted := filepath.Join(h.state, "backups", "pressbox-000001-20260101.db")
			check.NoError(t, link(h.secret(), planted))
			out, err := h.run(h.state, "restore", planted)
			check.That(t, (err != nil) == root, "restore: %v: %s", err, out)
			check.NoError(t, os.WriteFile(filepath.Join(h.state, "pressbox.db"), []byte("damaged"), 0o600))
			for _, args := range [][]string{{"tokens", "list"}, {"backup", filepath.Join(h.private, name)}} {
				out, err := h.run(h.state, args...)
				check.That(t, err == nil && (!root || !strings.Contains(out, "secret")), "%v: %v: %s", args, err, out)
			}
		})
	}
}

// Links do not lead root's commands out of STATE_DIR, and what they make there belongs to its owner.
func TestHostileState_writesNothing(t *testing.T) {
	t.Parallel()
	root := os.Geteuid() == 0
	for _, name := range []string{"pressbox.db", "pressbox.db.open", "backups"} {
		h := newHostileState(t)
		path, made := filepath.Join(h.state, name), filepath.Join(h.private, "made")
		check.NoError(t, errors.Join(os.RemoveAll(path), os.Symlink(made, path)))
		out, _ := h.run(h.state, "tokens", "create", "mine")
		check.ErrorIs(t, check.Err(os.Lstat(made)), os.ErrNotExist, "%s led to a file: %s", name, out)
		check.NoError(t, filepath.WalkDir(h.state, func(path string, entry fs.DirEntry, _ error) error {
			info, err := os.Lstat(path)
			theirs := err == nil && info.Sys().(*syscall.Stat_t).Uid == trusttest.Stranger
			check.That(t, theirs || !root || entry.Type() == fs.ModeSymlink, "%s is root's, %v", path, err)
			return nil
		}))
	}
}

// A FIFO in STATE_DIR does not keep a command of root's waiting, nor the start of the host.
func TestHostileState_waitsForNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"pressbox.db", "pressbox.db.open", "backups/pressbox-000001-20260101.db", "models/crow.onnx.json",
	} {
		h := newHostileState(t)
		path := filepath.Join(h.state, name)
		check.NoError(t, errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o755),
			syscall.Mkfifo(path, 0o666),
			os.WriteFile(filepath.Join(h.private, "pressbox.txt"), []byte("admin_code=seventh inning\n"), 0o600)))
		for _, args := range [][]string{
			{"tokens", "list"},
			{"doctor"},
			{"backup", filepath.Join(h.private, "backup.db")},
			{"try-upgrade"},
			{"first-start", "--root", h.private, h.private},
		} {
			_, _ = h.run(h.state, args...) // it ends
		}
	}
}

// Root saves and restores the store of another user by files of its own.
func TestHostileState_ownFiles(t *testing.T) {
	t.Parallel()
	h := newHostileState(t)
	secret, saved := h.secret(), filepath.Join(h.private, "saved.db")
	for _, args := range [][]string{{"restore", secret}, {"backup", saved}, {"tokens", "list"}} {
		out, err := h.run(h.state, args...)
		listed := args[0] != "tokens" || strings.Contains(out, "secret")
		check.That(t, err == nil && listed, "%v: %v: %s", args, err, out)
	}
	for path, owner := range map[string]int{filepath.Join(h.state, "pressbox.db"): trusttest.Stranger, saved: 0} {
		got := int(check.Must(os.Stat(path))(t).Sys().(*syscall.Stat_t).Uid)
		check.That(t, got == owner || os.Geteuid() != 0, "%s belongs to %d, want %d", path, got, owner)
	}
}

// A client on this host connects to an address, not to a name: what a resolver returns for localhost does not count.
func TestSay_withoutResolver(t *testing.T) {
	t.Parallel()
	var asked atomic.Value // the host of the last request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Host)
		_, _ = io.WriteString(w, `{"voices":[]}`)
	}))
	t.Cleanup(server.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	for _, host := range []string{"0.0.0.0", "localhost"} {
		cmd := exec.Command("pressbox", "voices")
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PORT="+port, "HOST="+host, "PRESSBOX_URL=")
		if out, err := cmd.CombinedOutput(); err != nil || asked.Load() != "127.0.0.1:"+port {
			t.Errorf("HOST=%s: requested from %q, %v: %s", host, asked.Load(), err, out)
		}
	}
}

const (
	floodPosts   = 20_000
	floodClients = 32
	floodWatched = 1000 // event streams, and as many websockets
)

// BenchmarkFlood measures the resident memory of a server with the unit's GOMEMLIMIT that plays an announcement, after
// 20,000 announcements of the largest size were posted and cancelled behind it, and with 1,000 event streams and 1,000
// websockets more. Limits: 200 MB, x-limit ≤ 1; 250 MB, x-watched ≤ 1.
func BenchmarkFlood(b *testing.B) {
	b.Setenv("GOMEMLIMIT", "256MiB")
	for b.Loop() {
		s := servertest.NewServer(b)
		// Its speech lasts nine minutes, longer than the flood on a quiet host.
		current := s.Post(client.Announcement{Message: strings.Repeat("This is spoken slowly. ", 130), Rate: 60})
		s.AwaitStatus(current.ID, "playing")
		flood(b, s.URL)
		flooded := residentMB(b, s)
		watch(b, s.URL)
		watched := residentMB(b, s)
		b.ReportMetric(flooded/200, "x-limit")
		b.ReportMetric(watched/250, "x-watched")
	}
	b.ReportMetric(0, "ns/op")
}

// residentMB returns the resident memory of a server.
func residentMB(b *testing.B, s *servertest.Server) float64 {
	b.Helper()
	return float64(status(b, fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid), "VmRSS")) * 1024 / 1e6
}

// flood posts and cancels announcements of 5,000 characters: with line separators, which have
// six bytes in JSON, and with characters of four bytes.
func flood(b *testing.B, url string) {
	b.Helper()
	bodies := [][]byte{largestBody(b, "\u2028"), largestBody(b, "😀")}
	c := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: floodClients}}
	defer c.CloseIdleConnections()
	var posted atomic.Int64
	var clients sync.WaitGroup
	for range floodClients {
		clients.Go(func() {
			for i := posted.Add(1); i <= floodPosts && !b.Failed(); i = posted.Add(1) {
				err := postAndCancel(&c, url, bodies[i%2])
				check.That(b, err == nil, "announcement %d: %v", i, err)
			}
		})
	}
	if clients.Wait(); b.Failed() {
		b.FailNow()
	}
}

// largestBody returns the request of an announcement of 5,000 characters, nearly all the same.
func largestBody(b *testing.B, character string) []byte {
	b.Helper()
	return check.Must(json.Marshal(client.Announcement{Message: "Ball" + strings.Repeat(character, 4991) + "four."}))(b)
}

func postAndCancel(c *http.Client, url string, body []byte) error {
	r, err := exchange(c, http.MethodPost, url+"/notify", body, http.StatusAccepted)
	if err == nil {
		_, err = exchange(c, http.MethodDelete, url+"/notify/"+r.ID, nil, http.StatusOK)
	}
	return err
}

// exchange sends a request and returns the announcement of the response, which must have a status.
func exchange(c *http.Client, method, url string, body []byte, want int) (r client.Report, err error) {
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return r, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		return r, fmt.Errorf("%s %s: %s, want %d: %s (%w)", method, url, resp.Status, want, text, err)
	}
	return r, json.Unmarshal(text, &r)
}

// watch opens event streams and websockets, which are open until the benchmark ends.
func watch(b *testing.B, url string) {
	b.Helper()
	account := servertest.SignUp(b, url)
	for range floodWatched {
		watchEvents(b, strings.TrimPrefix(url, "http://"))
		conn, _, err := account.Dial(url)
		check.NoError(b, err)
		check.Close(b, conn)
	}
}

// watchEvents opens an event stream, and reads until its first event.
func watchEvents(b *testing.B, address string) {
	b.Helper()
	conn := check.Must(net.Dial("tcp", address))(b)
	check.Close(b, conn)
	fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: %s\r\n\r\n", address)
	for lines := bufio.NewReader(conn); ; {
		line := check.Must(lines.ReadString('\n'))(b)
		if strings.HasPrefix(line, "event: ") {
			return
		}
	}
}

// proxyName is the host name in packaging/doc/https.md.
const proxyName = "pressbox.home.arpa"

// recipe returns the code block of a kind in packaging/doc/https.md, of which there is one.
func recipe(t *testing.T, kind string) string {
	t.Helper()
	document := check.Must(os.ReadFile("../packaging/doc/https.md"))(t)
	blocks := regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(string(document), -1)
	check.Require(t, len(blocks) == 1, "packaging/doc/https.md has %d blocks of %s, want one", len(blocks), kind)
	return blocks[0][1]
}

// startCaddy runs Debian's Caddy with the document's Caddyfile until the test ends, and
// returns its certificate authority.
func startCaddy(t *testing.T) *x509.CertPool {
	t.Helper()
	program := check.Must(filepath.Abs("../.build/caddy"))(t)
	_, err := os.Stat(program)
	check.Require(t, err == nil, "Caddy is missing: run \"make .build/caddy\": %v", err)
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
		check.Require(t, ctx.Err() == nil, "Caddy does not serve: %v", err)
	}
}

// newVisitor returns a browser at an address that uses the proxy, whose certificate authority is roots.
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

// behindCaddy starts a server and Caddy as the document says, and returns Caddy's certificate authority.
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
	form := v.SignUp()
	check.That(t, form.Header.Get("Strict-Transport-Security") != "", "there is no Strict-Transport-Security")
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
	_, refused, err := p.Dial("https://elsewhere.example")
	check.That(t, err != nil && refused.StatusCode == http.StatusForbidden, "a page of another origin: %v", err)
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
		check.Require(t, events.Scan(), "the events end: %v", events.Err())
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

// Each example in connect.md is marked as run, tried or not run, and those that are run here work as they stand.
func TestConnect(t *testing.T) {
	t.Parallel()
	examples := connectExamples(t)
	dir, env := t.TempDir(), servertest.Environment(t, servertest.Silent, "WYOMING=off")
	server := servertest.RunIn(t, dir, env)
	address := check.Must(url.Parse(server.URL))(t).Host
	create := exec.Command("pressbox", "tokens", "create", "connect")
	create.Dir, create.Env = dir, env
	token := strings.Fields(string(check.Must(create.Output())(t)))[0]
	home := t.TempDir()
	check.NoError(t, os.WriteFile(filepath.Join(home, ".curlrc"),
		[]byte("connect-to = pressbox.local:8888:"+address+"\n"), 0o600))
	ran := 0
	for _, e := range examples {
		if e.mark != "run: TestConnect" {
			continue
		}
		ran++
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(e.text, "TOKEN", token))
		cmd.Env = append(os.Environ(), "HOME="+home)
		out, err := cmd.CombinedOutput()
		check.That(t, err == nil, "%s: %v\n%s", e.text, err, out)
	}
	check.That(t, ran >= 10, "%d examples were run", ran)
}

// An example is an indented block of connect.md with the paragraph before it.
type example struct{ mark, text string }

func connectExamples(t *testing.T) []example {
	t.Helper()
	document := string(check.Must(os.ReadFile("../packaging/doc/connect.md"))(t))
	var all []example
	var before string
	for block := range strings.SplitSeq(document, "\n\n") {
		if text, indented := strings.CutPrefix(block, "    "); indented {
			marked := strings.HasPrefix(before, "run: Test") || strings.HasPrefix(before, "tried: ") ||
				strings.HasPrefix(before, "not run")
			check.That(t, marked, "the example has no mark: %s", block)
			all = append(all, example{before, strings.ReplaceAll(text, "\n    ", "\n")})
		}
		before = block
	}
	return all
}

var secrets = regexp.MustCompile(`x[ar]_[A-Za-z0-9_-]{43}`)

// Killed between the commit of a renewal and its response, the server gives a client that
// repeats the request the same tokens, and the chain continues. No secret is logged.
func TestKill_renewal(t *testing.T) {
	t.Parallel()
	dir, env := t.TempDir(), servertest.Environment(t, servertest.Silent)
	p := servertest.RunIn(t, dir, env)
	var token, lost, again, log string
	for range 5 { // a busy host may take longer to start than the tokens are repeated for
		token = refreshToken(t, p.URL)
		var status int
		status, lost = renew(t, p.URL, token)
		check.Require(t, status == http.StatusOK, "renewed: %d %s", status, lost)
		renewed := time.Now()
		_ = p.End(syscall.SIGKILL) // the error says so
		log += p.Logged()
		p = servertest.RunIn(t, dir, env)
		status, again = renew(t, p.URL, token)
		if status == http.StatusOK || time.Since(renewed) < auth.ReuseGrace {
			break
		}
	}
	check.Equal(t, again, lost, "repeated after the kill")
	if status, next := renew(t, p.URL, secrets.FindAllString(lost, 2)[1]); status != http.StatusOK || next == lost {
		t.Errorf("the next renewal: %d %s", status, next)
	}
	check.NoError(t, p.End(syscall.SIGTERM))
	log += p.Logged()
	if strings.Contains(log, token) || secrets.MatchString(log) || strings.Contains(log, "a dog in a boat") {
		t.Errorf("a secret is in the log:\n%s", log)
	}
}

// refreshToken creates an account and returns its refresh token.
func refreshToken(t *testing.T, base string) string {
	t.Helper()
	u := check.Must(url.Parse(base + "/api/auth"))(t)
	for _, cookie := range servertest.SignUp(t, base).Jar.Cookies(u) {
		if cookie.Name == "pressbox_refresh" {
			return cookie.Value
		}
	}
	t.Fatal("no session")
	return ""
}

// renew sends a refresh token in the body.
func renew(t *testing.T, base, token string) (status int, body string) {
	t.Helper()
	resp := servertest.NewBrowser(t, base, nil).Request("POST", "/api/auth/refresh", `{"refresh_token":"`+token+`"}`)
	text := check.Must(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, string(text)
}
