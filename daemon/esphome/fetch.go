package esphome

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Errors of what a client wants fetched.
var (
	errURL   = errors.New("not an http or https address with a host")
	errReply = errors.New("the file cannot be fetched")
	errLate  = fmt.Errorf("%w: its first byte did not come in %d seconds", errReply, int(firstByte.Seconds()))
)

// maxHeaderBytes limits the header of the reply.
const maxHeaderBytes = 64 << 10

// fetch returns the file at an address, whose name counts for nothing: the connection goes to the port at the client
// itself, and its certificate is not checked.
func (c *client) fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, errURL
	}
	host, _, err := net.SplitHostPort(c.conn.RemoteAddr().String())
	if err != nil {
		return nil, fmt.Errorf("%w: the address of the client is unknown", errReply)
	}
	client := http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				_, port, err := net.SplitHostPort(addr)
				if err != nil {
					return nil, err
				}
				return c.Dial(ctx, network, net.JoinHostPort(host, port))
			},
			//nolint:gosec // its certificate names a host; the address is the client's
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
			DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeaderBytes,
		},
	}
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(firstByte, func() { cancel(errLate) })
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, errURL
	}
	resp, err := client.Do(r) //nolint:bodyclose // the caller closes it
	if err != nil {
		late.Stop()
		if errors.Is(context.Cause(ctx), errLate) {
			return nil, errLate
		}
		return nil, fmt.Errorf("%w: %w", errReply, errors.Unwrap(err))
	}
	f := &fetched{Reader: bufio.NewReader(resp.Body), body: resp.Body, cancel: func() { cancel(nil) }}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode != http.StatusOK:
		err = fmt.Errorf("%w: status %d", errReply, resp.StatusCode)
	case !strings.HasPrefix(media, "audio/") && media != "application/octet-stream":
		err = fmt.Errorf("%w: its type is %q, and no sound", errReply, media)
	default: // the first byte, as the rest may wait for its turn to be read
		if _, err = f.Peek(1); errors.Is(context.Cause(ctx), errLate) {
			err = errLate
		} else if late.Stop(); errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		late.Stop()
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// A fetched is a file that is being fetched.
type fetched struct {
	*bufio.Reader
	body   io.Closer
	cancel func()
}

// Close ends the request.
func (f *fetched) Close() error {
	f.cancel()
	return f.body.Close()
}
