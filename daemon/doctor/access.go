package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"time"

	"pressbox/auth"
	"pressbox/daemon/settings"
	"pressbox/daemon/web"
)

// probeTimeout is the time for a request through PUBLIC_URL.
const probeTimeout = 5 * time.Second

// exposureFindings names settings that open the server to the internet.
func exposureFindings(cfg settings.Config) []Finding {
	permitted := cfg.Exposed()
	if permitted == "" {
		return nil
	}
	return finding("access", Warning, "unless this is intended, set NOTIFY_ACCESS=lan or NOTIFY_ACCESS=token",
		"every client that reaches the server through its proxy or public address may %s", permitted)
}

// openAccountFindings names the accounts whose sessions NOTIFY_ACCESS=token does not admit.
func openAccountFindings(cfg settings.Config, all []auth.Account) []Finding {
	var names []string
	for _, a := range all {
		if a.Open && !a.Admin && !a.Disabled {
			names = append(names, a.Name)
		}
	}
	if cfg.NotifyAccess != string(web.Token) || len(names) == 0 {
		return nil
	}
	return finding("access", Warning,
		"\"pressbox users invite\" makes a link by which one can sign in, and may then; SIGN_UP=invite asks new accounts for it",
		"made without an invite, %d accounts may not announce (NOTIFY_ACCESS=token): %s",
		len(names), strings.Join(names[:min(len(names), 5)], ", "))
}

// checkProxy sends a request through PUBLIC_URL and checks what the proxy sends about the
// client. It checks nothing without PUBLIC_URL.
func (s Inside) checkProxy(ctx context.Context) []Finding {
	origin := s.Started.PublicURL
	if origin == "" || s.Probe == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, probeTimeout)
	defer stop()
	transport := &http.Transport{
		// The proxy's authority may be its own, and nothing secret is sent.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
	}
	defer transport.CloseIdleConnections()
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	arrival, err := s.Probe(ctx, &http.Client{Transport: transport, CheckRedirect: noRedirect}, origin)
	return proxyFindings(origin, arrival, err)
}

// proxyFindings judges how a request through PUBLIC_URL arrived.
func proxyFindings(origin string, a web.Arrival, err error) []Finding {
	const correctProxy = "have the proxy send X-Forwarded-For (see /usr/share/doc/pressbox/https.md)"
	switch {
	case errors.Is(err, web.ErrNotThisServer):
		return finding("proxy", Warning, "correct PUBLIC_URL or the proxy", "%s is answered by another server", origin)
	case err != nil:
		return finding("proxy", Warning, "correct PUBLIC_URL or the proxy",
			"%s cannot be reached from this host: %s", origin, oneLine(err))
	case a.Direct:
		return finding("proxy", OK, "", "%s leads here without a proxy", origin)
	case !a.Forwarded && a.Peer.IsLoopback():
		return finding("proxy", Warning, correctProxy,
			"the proxy at %s does not send the client's address: every client counts as local and has no limits",
			origin)
	case !a.Forwarded:
		return finding("proxy", Warning, correctProxy,
			"the proxy at %s does not send the client's address: its clients are unknown, or all count as the proxy",
			origin)
	case !a.Trusted:
		return finding("proxy", Warning, "add "+a.Peer.String()+" to TRUSTED_PROXIES",
			"the proxy at %s is not trusted: all its clients are unknown", origin)
	default:
		return finding("proxy", OK, "", "the proxy at %s sends the client's address", origin)
	}
}
