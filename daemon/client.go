package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// A client asks a running daemon over its HTTP API.
type client struct {
	base   string // without a slash at its end
	token  string // "" means none
	socket string // the administrator's, when it is asked there; "" otherwise
	http   http.Client
}

// answerPatience is for how long a daemon may think before it begins to answer.
const answerPatience = time.Minute

// useClient gives cmd a flag for the daemon's address and returns how to make
// a client: of --server, else of $PRESSBOX_URL, else of the settings HOST and
// PORT. Its token is $PRESSBOX_TOKEN.
func useClient(cmd *cobra.Command) func() (*client, error) {
	server := cmd.Flags().String("server", "", "the daemon's `url` (default $PRESSBOX_URL, else this machine's daemon)")
	return func() (*client, error) {
		base := *server
		if base == "" {
			base = os.Getenv("PRESSBOX_URL")
		}
		if base == "" {
			var err error
			if base, err = ownDaemon(); err != nil {
				return nil, &exitError{exitUsage, err}
			}
		}
		parsed, _ := webURL(true).parse(base)
		origin, ok := parsed.(string)
		if !ok {
			return nil, &exitError{exitUsage, fmt.Errorf("the daemon's address %q: expected %s", base, webURL(true).expects)}
		}
		transport := &http.Transport{ResponseHeaderTimeout: answerPatience, Proxy: http.ProxyFromEnvironment}
		return &client{base: origin, token: os.Getenv("PRESSBOX_TOKEN"), http: http.Client{Transport: transport}}, nil
	}
}

// ownDaemon is the address of the daemon that this machine's settings start. A
// system file that this user may not read leaves its settings at their default.
func ownDaemon() (string, error) {
	cfg, err := administeredConfig("")
	if err != nil {
		return "", err
	}
	return addressOf(cfg)
}

// addressOf is where this machine reaches a daemon with these settings.
func addressOf(cfg Config) (string, error) {
	if cfg.Port == 0 {
		return "", errors.New("with PORT=0 the daemon's address is not known: give it with --server")
	}
	host := cfg.Host
	if addr, err := netip.ParseAddr(host); err == nil && addr.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(cfg.Port)), nil
}

// errInterrupted says that the user did not want to wait any longer.
var errInterrupted = errors.New("interrupted")

// A refusal is the daemon's answer (RFC 9457) to what it does not do.
type refusal struct {
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

func (r *refusal) Error() string {
	text := fmt.Sprintf("the daemon refused (%d): ", r.Status)
	switch {
	case len(r.Errors) > 0:
		said := make([]string, len(r.Errors))
		for i, e := range r.Errors {
			said[i] = strings.TrimPrefix(strings.TrimPrefix(e.Path, "/")+": ", ": ") + e.Detail
		}
		return text + strings.Join(said, "; ")
	case r.RetryAfter != "":
		return text + cmp.Or(r.Detail, r.Title) + "; try again in " + r.RetryAfter + " s"
	default:
		return text + cmp.Or(r.Detail, r.Title)
	}
}

// open sends a request, with body as JSON unless it is nil, and returns the
// answer of a success, for the caller to close.
func (c *client) open(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var sent io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		sent = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, sent)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, errInterrupted
	}
	if err != nil {
		return nil, c.unreachable(err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	refused := &refusal{}
	if err := json.NewDecoder(resp.Body).Decode(refused); err != nil { // something else than Pressbox answers
		refused.Title = http.StatusText(resp.StatusCode)
	}
	refused.Status, refused.RetryAfter = resp.StatusCode, resp.Header.Get("Retry-After")
	return nil, &exitError{exitRefused, refused}
}

// unreachable explains why no answer came.
func (c *client) unreachable(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok { // its address is in our text
		err = failed.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("it takes too long")
	}
	if c.socket != "" {
		return &exitError{exitNoDaemon, fmt.Errorf("the daemon at %s does not answer: %w", c.socket, err)}
	}
	return &exitError{exitNoDaemon, fmt.Errorf("no daemon answers at %s: %w; \"pressbox serve\" starts one, --server names another", c.base, err)}
}

// call sends a request and decodes the answer of a success.
func (c *client) call(ctx context.Context, method, path string, body, answer any) error {
	resp, err := c.open(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	err = json.NewDecoder(resp.Body).Decode(answer)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return errInterrupted
	}
	if err != nil {
		return fmt.Errorf("read the daemon's answer: %w", err)
	}
	return nil
}
