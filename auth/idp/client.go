package idp

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"pressbox/auth"
)

// Bounds of what a provider may make us wait for and read.
const (
	patience = 10 * time.Second // for all requests of one sign-in together
	maxBody  = 1 << 20          // bytes of one answer
)

// errTooLong is what reading beyond maxBody says.
var errTooLong = errors.New("the answer is too long")

// client is how a provider is spoken to.
type client struct {
	http    *http.Client
	trusted func() bool
}

func newClient(c Config) client {
	transport := c.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	trusted := c.ClockTrusted
	if trusted == nil {
		trusted = func() bool { return true }
	}
	return client{&http.Client{Transport: bounded{transport}, CheckRedirect: sameHost}, trusted}
}

// bounded limits each answer's body and says who asks; GitHub demands it.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", "pressbox")
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &limited{resp.Body, maxBody}
	return resp, nil
}

// limited is a body that fails beyond its limit instead of seeming to end.
type limited struct {
	io.ReadCloser
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLong
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// sameHost lets a provider move a page, not a secret to somebody else.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Host != first.Host || r.URL.Scheme != first.Scheme || len(via) > 3 {
		return http.ErrUseLastResponse
	}
	return nil
}

// with is ctx with the client, as x/oauth2 wants it.
func (c client) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, c.http)
}

// exchange trades a code for tokens.
func (c client) exchange(ctx context.Context, conf *oauth2.Config, flow auth.AuthorizationRequest, code string) (*oauth2.Token, error) {
	token, err := conf.Exchange(c.with(ctx), code, oauth2.VerifierOption(flow.Verifier))
	if err != nil {
		return nil, c.refuse(exchangeError(err), auth.CodeUnreachable)
	}
	return token, nil
}

// exchangeError is err without the answer's body, which is not for the log, and
// as a refusal where the provider did answer and said no.
func exchangeError(err error) error {
	retrieve, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return err
	}
	status := 0
	if retrieve.Response != nil {
		status = retrieve.Response.StatusCode
	}
	plain := fmt.Errorf("token endpoint: status %d, error %.60q", status, retrieve.ErrorCode)
	if retrieve.ErrorCode != "" || status >= 400 && status < 500 {
		return &auth.RefusalError{Code: auth.CodeExchangeFailed, Err: plain}
	}
	return plain
}

// fetch reads a JSON object.
func (c client) fetch(ctx context.Context, url string, token *oauth2.Token) (map[string]any, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if token != nil {
		token.SetAuthHeader(req)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.refuse(err, auth.CodeUnreachable)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, c.refuse(err, auth.CodeUnreachable)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // GitHub's ids are numbers, and may outgrow a float
	if err := decoder.Decode(&object); err != nil {
		return nil, fmt.Errorf("read a JSON object: %w", err)
	}
	return object, nil
}

// refuse is err as a refusal with the given code, or with the clock's when the
// certificate's dates are wrong because ours are.
func (c client) refuse(err error, code auth.Code) error {
	invalid, ok := errors.AsType[x509.CertificateInvalidError](err)
	if ok && invalid.Reason == x509.Expired && !c.trusted() {
		code = auth.CodeClockUnsynced
	}
	return auth.Refuse(code, err)
}
