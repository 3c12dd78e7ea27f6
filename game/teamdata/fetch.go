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

// Limits on the API's responses.
const (
	requestTimeout = 10 * time.Second // per response, redirects included
	maxBody        = 4 << 20          // bytes, uncompressed
	redirects      = 3
)

var (
	errTooLong  = errors.New("response exceeds 4 MiB")
	errRedirect = errors.New("redirect to another host, or too many redirects")
)

// newTransport returns a transport for rare requests: few connections with short idle times.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: requestTimeout / 2}).DialContext,
		TLSHandshakeTimeout:    requestTimeout / 2,
		MaxConnsPerHost:        4,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
	}
}

// sameHost allows redirects within the host only, so that the token is not sent to another one.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Host != first.Host || r.URL.Scheme != first.Scheme || len(via) > redirects {
		return errRedirect
	}
	return nil
}

// fetch sends one request and returns the entry to save. cached is the current entry, zero for none.
func (c *Client) fetch(ctx context.Context, r resource, cached cacheEntry) (cacheEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := c.newRequest(ctx, r, cached)
	if err != nil {
		return cacheEntry{}, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return cacheEntry{}, &apiError{error: err}
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && cached.Body != nil:
		cached.revalidated(resp.Header, r.defaultFreshness())
		return cached, nil
	case resp.StatusCode == http.StatusNotFound:
		return cacheEntry{}, teams.ErrUnknown
	case resp.StatusCode != http.StatusOK:
		return cacheEntry{}, &apiError{fmt.Errorf("status %d", resp.StatusCode), retryAfter(resp.Header)}
	}
	body, err := readBody(resp)
	if err != nil {
		return cacheEntry{}, err
	}
	next := cacheEntry{URL: r.url, Body: body}
	next.revalidated(resp.Header, r.defaultFreshness())
	return next, nil
}

func (c *Client) newRequest(ctx context.Context, r resource, cached cacheEntry) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "pressbox")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if cached.ETag != "" {
		req.Header.Set("If-None-Match", cached.ETag)
	}
	if cached.Modified != "" {
		req.Header.Set("If-Modified-Since", cached.Modified)
	}
	return req, nil
}

// readBody returns a complete JSON body within the size limit.
func readBody(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, &apiError{error: fmt.Errorf("read response: %w", err)}
	case len(body) > maxBody:
		return nil, errTooLong
	case !json.Valid(body):
		return nil,
			&apiError{error: fmt.Errorf("response is not JSON (Content-Type %.60q)", resp.Header.Get("Content-Type"))}
	}
	return bytes.TrimSpace(body), nil
}

// retryAfter returns the delay in Retry-After, in either form of RFC 9110 §10.2.3, 0 if there is none.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if s, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return time.Until(at)
	}
	return 0
}
