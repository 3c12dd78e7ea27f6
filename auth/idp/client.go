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

// Limits on the requests to a provider.
const (
	signInTimeout = 10 * time.Second // for all requests of one sign-in together
	maxBody       = 1 << 20          // bytes of one response: a document, keys, tokens or an identity
	maxHeader     = 64 << 10         // bytes of its header
)

// A client sends requests to a provider.
type client struct {
	http         *http.Client
	clockTrusted func() bool
}

func newClient(c Config) client {
	transport := c.Transport
	if transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck,forcetypeassert // it is one
		own.MaxResponseHeaderBytes = maxHeader
		transport = own
	}
	clockTrusted := c.ClockTrusted
	if clockTrusted == nil {
		clockTrusted = func() bool { return true }
	}
	return client{&http.Client{Transport: limitedTransport{transport}, CheckRedirect: sameHost}, clockTrusted}
}

// limitedTransport limits the body of each response and sets User-Agent, which
// GitHub requires.
type limitedTransport struct{ next http.RoundTripper }

func (t limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", "pressbox")
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxBody)
	return resp, nil
}

// sameHost follows redirects within the provider's origin only, so that no secret
// is sent to another host.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Host != first.Host || r.URL.Scheme != first.Scheme || len(via) > 3 {
		return http.ErrUseLastResponse
	}
	return nil
}

// with returns ctx with the client, where x/oauth2 looks for it.
func (c client) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, c.http)
}

// exchange exchanges a code for tokens.
func (c client) exchange(
	ctx context.Context, conf *oauth2.Config, request auth.AuthorizationRequest, code string,
) (*oauth2.Token, error) {
	token, err := conf.Exchange(c.with(ctx), code, oauth2.VerifierOption(request.Verifier))
	if err != nil {
		return nil, c.refuse(exchangeError(err), auth.CodeUnreachable)
	}
	return token, nil
}

// exchangeError returns err without the body of the response, which must not be
// logged. It is a refusal if the provider rejected the code.
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

// fetch gets a JSON object.
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
		return nil, fmt.Errorf("status %d, want 200", resp.StatusCode)
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // GitHub's ids are numbers that may exceed a float64
	if err := decoder.Decode(&object); err != nil {
		return nil, fmt.Errorf("decode a JSON object: %w", err)
	}
	return object, nil
}

// refuse returns err as a refusal with the given code, or with
// [auth.CodeClockUnsynced] if a certificate seems expired and the host's clock is
// not trusted.
func (c client) refuse(err error, code auth.Code) error {
	invalid, ok := errors.AsType[x509.CertificateInvalidError](err)
	if ok && invalid.Reason == x509.Expired && !c.clockTrusted() {
		code = auth.CodeClockUnsynced
	}
	return auth.Refuse(code, err)
}
