package main

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// join makes an account by the page of a daemon, and is the refresh token that
// the browser got for it.
func join(t *testing.T, base, name string) (token string) {
	t.Helper()
	u, err := url.Parse(base + "/api/auth")
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range newFan(t, base, name).Jar.Cookies(u) {
		if cookie.Name == "pressbox_refresh" {
			return cookie.Value
		}
	}
	t.Fatal("no session")
	return ""
}

// renew sends a refresh token as older clients do, and is the answer.
func renew(t *testing.T, base, token string) (status int, answer string) {
	t.Helper()
	resp, err := http.Post(base+"/api/auth/refresh", "application/json", strings.NewReader(`{"refresh_token":"`+token+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

var secrets = regexp.MustCompile(`x[ar]_[A-Za-z0-9_-]{43}`)

// D6: the daemon is killed right after it kept a renewal. Who did not get the
// answer asks again and gets the same one; there is one chain, and it goes on.
// F7: nothing of it is in the log.
func TestD6_KilledBetweenMarkAndAnswer(t *testing.T) {
	t.Parallel()
	dir, env := t.TempDir(), append(environment(t), "PULSE_SERVER=unix:/nonexistent")
	p := runProcess(t, dir, env)
	token := join(t, p.url, "Anna")
	status, lost := renew(t, p.url, token)
	if status != http.StatusOK {
		t.Fatalf("renewed: %d %s", status, lost)
	}
	_ = p.end(syscall.SIGKILL) // it says that it was killed
	log := p.logged()
	p = runProcess(t, dir, env)
	if status, again := renew(t, p.url, token); status != http.StatusOK || again != lost {
		t.Errorf("asked again after the kill: %d %s, want %s", status, again, lost)
	}
	if status, next := renew(t, p.url, secrets.FindAllString(lost, 2)[1]); status != http.StatusOK || next == lost {
		t.Errorf("the chain does not go on: %d %s", status, next)
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	log += p.logged()
	if strings.Contains(log, token) || secrets.MatchString(log) || strings.Contains(log, "a dog in a boat") {
		t.Errorf("a secret is in the log:\n%s", log)
	}
}

// The secret comes from its setting, else from its file, else from systemd's
// credentials.
func TestClientSecret(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("file", "in the file\n")
	for _, tt := range []struct {
		in          signInConfig
		credentials string
		want        string
	}{
		{signInConfig{}, "", ""},
		{signInConfig{}, dir, ""}, // none was given to the unit
		{signInConfig{ClientSecret: "set", SecretFile: file}, "", "set"},
		{signInConfig{SecretFile: file}, dir, "in the file"},
	} {
		t.Setenv("CREDENTIALS_DIRECTORY", tt.credentials)
		if got, err := clientSecret(tt.in); err != nil || got != tt.want {
			t.Errorf("%+v: %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
	write("idp_client_secret", "a credential")
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	if got, err := clientSecret(signInConfig{}); err != nil || got != "a credential" {
		t.Errorf("the credential: %q, %v", got, err)
	}
	if got, err := clientSecret(signInConfig{SecretFile: filepath.Join(dir, "nowhere")}); err == nil {
		t.Errorf("a file that is not there: %q", got)
	}
}

// Cookies are for https where the public address is, unless the operator says
// otherwise.
func TestSecureCookies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		setting, public string
		want            bool
	}{
		{"auto", "", false},
		{"auto", "http://pressbox.local", false},
		{"auto", "https://pressbox.example", true},
		{"always", "", true},
		{"never", "https://pressbox.example", false},
	} {
		cfg := Config{PublicURL: tt.public, SignIn: signInConfig{CookieSecure: tt.setting}}
		if got := secureCookies(cfg); got != tt.want {
			t.Errorf("COOKIE_SECURE=%s, PUBLIC_URL=%s: %v, want %v", tt.setting, tt.public, got, tt.want)
		}
	}
}
