// Package client sends requests to a Pressbox server, over HTTP or its admin socket.
//
// One law: every error names the server and has an exit code.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/settings"
	"pressbox/daemon/trust"
)

// A Client sends requests to one server.
type Client struct {
	Base  string // without a slash at its end
	Token string // a bearer token; "" means none
	HTTP  http.Client

	socket string // the admin socket; "" means that Base is used
}

// ResponseTimeout is the maximum time until a server begins its response.
const ResponseTimeout = time.Minute

// New returns a client of the server at origin.
func New(origin, token string) *Client {
	transport := &http.Transport{ResponseHeaderTimeout: ResponseTimeout, Proxy: http.ProxyFromEnvironment}
	return &Client{Base: origin, Token: token, HTTP: http.Client{Transport: transport}}
}

// ForSocket returns a client of the server whose admin socket is at path. Only root, the
// service and this user may run it; see [trust.Peer].
func ForSocket(path string) *Client {
	return &Client{Base: "http://localhost", socket: path, HTTP: http.Client{Transport: &http.Transport{
		ResponseHeaderTimeout: ResponseTimeout,
		DialContext: func(ctx context.Context,
			_, _ string,
		) (net.Conn, error) {
			return dialSocket(ctx, path)
		},
	}}}
}

// dialSocket connects to an admin socket.
func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	local, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s is not a Unix socket", path), conn.Close())
	}
	if err := trust.Peer(local, settings.UserName); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), conn.Close())
	}
	return conn, nil
}

// ForHandler returns a client whose requests h answers in this process.
func ForHandler(h http.Handler) *Client {
	return &Client{Base: "http://localhost", HTTP: http.Client{Transport: InProcess{h}}}
}

// Origin returns the origin at which this host reaches a server with these settings: an
// address, as a resolver on the network could answer for a name.
func Origin(cfg settings.Config) (string, error) {
	if cfg.Port == 0 {
		return "", errors.New("with PORT=0 the server's address is unknown: pass it with --server")
	}
	addr, err := netip.ParseAddr(cfg.Host)
	switch {
	case cfg.Host == "localhost":
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case err != nil:
		return "", fmt.Errorf("HOST=%s is a name, which may stand for another host: "+
			"pass the server's address with --server", cfg.Host)
	case addr.IsUnspecified() && addr.Is4():
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case addr.IsUnspecified():
		addr = netip.IPv6Loopback()
	}
	//nolint:gosec // the settings have at most 65535
	return "http://" + netip.AddrPortFrom(addr, uint16(cfg.Port)).String(), nil
}

// FindSocket returns the admin socket of the server with these settings; "" if none runs.
func FindSocket(ctx context.Context, h settings.Host) (path string, err error) {
	return firstListening(ctx, sockets(h, os.Geteuid() == 0)...)
}

// sockets returns the admin sockets to try. For root the service's is the first: another
// user may have made STATE_DIR, unless it was chosen.
func sockets(h settings.Host, root bool) []string {
	if root && !h.Chosen {
		return []string{settings.SharedAdmin, h.AdminSocket()}
	}
	return []string{h.AdminSocket(), settings.SharedAdmin}
}

// firstListening returns the first path on which a server listens; "" if there is none. A
// path that this user cannot reach is an error only if there is no other: the group adm
// may use the shared socket and not enter STATE_DIR.
func firstListening(ctx context.Context, paths ...string) (path string, err error) {
	var denied error
	for _, path := range paths {
		conn, err := dialSocket(ctx, path)
		switch {
		case err == nil:
			_ = conn.Close() // nothing was sent
			return path, nil
		case errors.Is(err, fs.ErrPermission):
			denied = cmp.Or(denied, fmt.Errorf("only root, the user pressbox and the group adm may administer the "+
				"server: %w", err))
		case errors.Is(err, trust.ErrPeer):
			denied = cmp.Or(denied, err)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED):
			return "", fmt.Errorf("connect to the server: %w", err)
		}
	}
	return "", denied
}

// A ProblemError is an error response (RFC 9457).
type ProblemError struct {
	Status     int    `json:"status"`
	Code       string `json:"code"`
	Title      string `json:"title"`
	Detail     string `json:"detail"`
	RetryAfter string `json:"-"` // the header: seconds
	Errors     []struct {
		Path   string `json:"path"`
		Detail string `json:"detail"`
	} `json:"errors"`
}

// Error returns the status and all details.
func (p *ProblemError) Error() string {
	text := fmt.Sprintf("the server refused the request (%d): ", p.Status)
	switch {
	case len(p.Errors) > 0:
		details := make([]string, len(p.Errors))
		for i, e := range p.Errors {
			details[i] = strings.TrimPrefix(strings.TrimPrefix(e.Path, "/")+": ", ": ") + e.Detail
		}
		return text + strings.Join(details, "; ")
	case p.RetryAfter != "":
		return text + cmp.Or(p.Detail, p.Title) + "; try again in " + p.RetryAfter + " s"
	default:
		return text + cmp.Or(p.Detail, p.Title)
	}
}

// An Archive is the body of a request that is not JSON: a zip file.
type Archive []byte

// A Sound is the body of a request that is a sound, of whatever format.
type Sound struct{ io.Reader }

// encode returns a body and its media type; none for nil.
func encode(body any) (content io.Reader, media string, err error) {
	if archive, ok := body.(Archive); ok {
		return bytes.NewReader(archive), "application/zip", nil
	}
	if sound, ok := body.(Sound); ok {
		return sound.Reader, "audio/x-sound", nil
	}
	if body == nil {
		return nil, "", nil
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, "", fmt.Errorf("encode the request: %w", err)
	}
	return bytes.NewReader(text), "application/json", nil
}

// Open sends a request, with body as JSON unless it is nil, an [Archive] or a [Sound], and returns the
// response if it is a success. The caller closes it.
func (c *Client) Open(ctx context.Context, method, path string, body any) (*http.Response, error) {
	encoded, media, err := encode(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, encoded)
	if err != nil {
		return nil, fmt.Errorf("create the request: %w", err)
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, exitcode.ErrInterrupted
	}
	if err != nil {
		return nil, c.unreachable(err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	problem := &ProblemError{}
	if err := decode(resp, problem); err != nil { // the server is not Pressbox
		problem.Title = http.StatusText(resp.StatusCode)
	}
	problem.Status, problem.RetryAfter = resp.StatusCode, resp.Header.Get("Retry-After")
	return nil, exitcode.With(exitcode.Refused, problem)
}

// unreachable explains why there is no response.
func (c *Client) unreachable(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok { // its URL is in our text
		err = failed.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("timeout")
	}
	if c.socket != "" {
		return exitcode.With(exitcode.Unreachable, fmt.Errorf("the server at %s does not answer: %w", c.socket, err))
	}
	return exitcode.With(exitcode.Unreachable,
		fmt.Errorf("no server answers at %s: %w; start one with \"pressbox serve\", or name another with --server",
			c.Base, err))
}

// maxReply limits a response's body but speech, events and backups, in bytes: a list of a server's games has less.
const maxReply = 16 << 20

// decode decodes a response's body.
func decode(resp *http.Response, v any) error {
	return json.NewDecoder(io.LimitReader(resp.Body, maxReply)).Decode(v)
}

// Call sends a request and decodes a successful response.
func (c *Client) Call(ctx context.Context, method, path string, body, response any) error {
	resp, err := c.Open(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	err = decode(resp, response)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return exitcode.ErrInterrupted
	}
	if err != nil {
		return fmt.Errorf("decode the server's response: %w", err)
	}
	return nil
}

// Send sends a request whose successful response has no body.
func (c *Client) Send(ctx context.Context, method, path string, body any) error {
	resp, err := c.Open(ctx, method, path, body)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Backup copies the server's store to w.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	resp, err := c.Open(ctx, http.MethodGet, "/admin/backup", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("read the backup: %w", err)
	}
	return nil
}

// InProcess is a [http.RoundTripper] over a handler.
type InProcess struct{ http.Handler }

// RoundTrip serves the request and returns the response.
func (p InProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := &recorder{Response: http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r}}
	p.ServeHTTP(w, r)
	w.Body = io.NopCloser(&w.body)
	return &w.Response, nil
}

// A recorder records a response.
type recorder struct {
	http.Response
	body bytes.Buffer
}

// Header returns the headers of the response.
func (w *recorder) Header() http.Header { return w.Response.Header }

// WriteHeader sets the status.
func (w *recorder) WriteHeader(status int) { w.StatusCode = status }

// Write appends to the body.
func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }
