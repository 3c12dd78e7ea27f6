package main

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

var secrets = regexp.MustCompile(`x[ar]_[A-Za-z0-9_-]{43}`)

// Killed between the commit of a renewal and its response, the server gives a client that
// repeats the request the same tokens, and the chain continues. No secret is logged.
func TestKill_renewal(t *testing.T) {
	t.Parallel()
	dir, env := t.TempDir(), servertest.Environment(t, servertest.Silent)
	p := servertest.RunIn(t, dir, env)
	token := refreshToken(t, p.URL)
	status, lost := renew(t, p.URL, token)
	if status != http.StatusOK {
		t.Fatalf("renewed: %d %s", status, lost)
	}
	_ = p.End(syscall.SIGKILL) // the error says so
	log := p.Logged()
	p = servertest.RunIn(t, dir, env)
	if status, again := renew(t, p.URL, token); status != http.StatusOK || again != lost {
		t.Errorf("repeated after the kill: %d %s, want %s", status, again, lost)
	}
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
