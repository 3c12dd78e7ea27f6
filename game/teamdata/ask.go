package teamdata

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"pressbox/game/teams"
)

// Bounds of what the API may make us wait for and read.
const (
	patience  = 10 * time.Second // for one answer, redirects included
	maxBody   = 4 << 20          // bytes of one answer, unpacked
	redirects = 3
)

var (
	errTooLong  = errors.New("the answer is longer than 4 MiB")
	errRedirect = errors.New("it redirects to another host, or too often")
)

// newTransport returns what a client that is rarely used needs: few connections that are soon given up.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: patience / 2}).DialContext,
		TLSHandshakeTimeout:    patience / 2,
		MaxConnsPerHost:        4,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
	}
}

// sameHost lets the API move a page, but nobody send us, and the token, elsewhere.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Host != first.Host || r.URL.Scheme != first.Scheme || len(via) > redirects {
		return errRedirect
	}
	return nil
}

// ask sends one request and returns the record that is to be kept after it. known is the one that is kept now; its
// zero value is none.
func (c *Client) ask(ctx context.Context, r resource, known record) (record, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := c.request(ctx, r, known)
	if err != nil {
		return record{}, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return record{}, &downError{error: err}
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && known.Body != nil:
		known.confirm(resp.Header, r.usually())
		return known, nil
	case resp.StatusCode == http.StatusNotFound:
		return record{}, teams.ErrUnknown
	case resp.StatusCode != http.StatusOK:
		return record{}, &downError{fmt.Errorf("status %d", resp.StatusCode), retryAfter(resp.Header)}
	}
	body, err := readBody(resp)
	if err != nil {
		return record{}, err
	}
	next := record{Address: r.address, Body: body}
	next.confirm(resp.Header, r.usually())
	return next, nil
}

func (c *Client) request(ctx context.Context, r resource, known record) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "pressbox")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if known.ETag != "" {
		req.Header.Set("If-None-Match", known.ETag)
	}
	if known.Modified != "" {
		req.Header.Set("If-Modified-Since", known.Modified)
	}
	return req, nil
}

// readBody returns an answer that is whole, not too long, and JSON.
func readBody(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, &downError{error: fmt.Errorf("read the answer: %w", err)}
	case len(body) > maxBody:
		return nil, errTooLong
	case !json.Valid(body):
		return nil, &downError{error: fmt.Errorf("%.60q is no JSON", resp.Header.Get("Content-Type"))}
	}
	return bytes.TrimSpace(body), nil
}

// retryAfter returns for how long the API asks to be left alone, in either form of RFC 9110 §10.2.3.
func retryAfter(h http.Header) time.Duration {
	said := h.Get("Retry-After")
	if s, err := strconv.ParseUint(said, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(said); err == nil {
		return time.Until(at)
	}
	return 0
}
