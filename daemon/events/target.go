package events

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Limits of a target.
const (
	maxQueued   = 1000            // events that wait; the oldest one beyond is dropped
	maxAnswer   = 64 << 10        // bytes of an answer that are read
	postTimeout = 5 * time.Second // for an answer

	degradedAfter = 3 // events in a row that were not accepted
)

// pauses are those before another try.
func pauses() []time.Duration { return []time.Duration{time.Second, 5 * time.Second} }

// newClient returns a client that follows no redirection, over HTTP if there is no other transport.
func newClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxResponseHeaderBytes: maxAnswer, IdleConnTimeout: time.Minute,
			ForceAttemptHTTP2: true,
		}
	}
	return &http.Client{
		Timeout: postTimeout, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A target posts events to a URL, one after another.
type target struct {
	Target
	client *http.Client
	log    *slog.Logger
	more   chan struct{} // capacity 1: something was pushed

	mu      sync.Mutex // guards what follows
	queue   [][]byte
	dropped int   // since the last that was accepted
	failed  int   // events in a row
	err     error // of the last one; nil if it was accepted
}

// push queues an event.
func (t *target) push(body []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == maxQueued {
		t.queue = t.queue[1:]
		if t.dropped++; t.dropped == 1 {
			t.log.Warn("events dropped", "url", t.Name, "waiting", maxQueued)
		}
	}
	t.queue = append(t.queue, body)
	select {
	case t.more <- struct{}{}:
	default:
	}
}

// pop removes the oldest event; nil if there is none.
func (t *target) pop() (body []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) > 0 {
		body, t.queue = t.queue[0], t.queue[1:]
	}
	return body
}

// run posts events until ctx ends.
func (t *target) run(ctx context.Context) {
	for {
		body := t.pop()
		if body == nil {
			select {
			case <-t.more:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := t.deliver(ctx, body)
		if ctx.Err() != nil {
			return
		}
		t.note(err)
	}
}

// note remembers whether an event was accepted, and logs the first that was not, and the first that was again.
func (t *target) note(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil && t.err != nil:
		t.log.Info("events accepted again", "url", t.Name, "failed", t.failed, "dropped", t.dropped)
	case err != nil && t.err == nil:
		t.log.Warn("event not accepted", "url", t.Name, "err", err)
	}
	if t.failed++; err == nil {
		t.failed, t.dropped = 0, 0
	}
	t.err = err
}

// health returns why the last events were not accepted.
func (t *target) health() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed < degradedAfter {
		return nil
	}
	return fmt.Errorf("%s: %w", t.Name, t.err)
}

// deliver posts an event, and tries again while the server is busy or does not answer.
func (t *target) deliver(ctx context.Context, body []byte) error {
	retry, err := t.post(ctx, body)
	for _, pause := range pauses() {
		if !retry || ctx.Err() != nil {
			break
		}
		select {
		case <-time.After(pause):
			retry, err = t.post(ctx, body)
		case <-ctx.Done():
		}
	}
	return err
}

// post posts an event once. retry reports whether another try may help.
func (t *target) post(ctx context.Context, body []byte) (retry bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(body))
	if err != nil {
		return false, withoutURL(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Pressbox")
	if t.Token != "" {
		r.Header.Set("Authorization", "Bearer "+t.Token)
	}
	resp, err := t.client.Do(r)
	if err != nil {
		return true, withoutURL(err)
	}
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer) // so that the connection can be used again
	_ = resp.Body.Close()
	if resp.StatusCode/100 == 2 {
		return false, nil
	}
	retry = resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode/100 == 5
	return retry, fmt.Errorf("the answer is %s", resp.Status)
}

// withoutURL returns an error of the client without the URL, whose path may be secret.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
