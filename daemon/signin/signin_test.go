package signin

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/daemon/settings"
	"pressbox/packaging/check"
	"pressbox/store/clock"
)

// The secret comes from its setting, else from its file, else from systemd's credentials.
func TestClientSecret(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		check.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	file := write("file", "in the file\n")
	for _, tt := range []struct {
		in          settings.SignIn
		credentials string
		want        string
	}{
		{settings.SignIn{}, "", ""},
		{settings.SignIn{}, dir, ""}, // the unit has no such credential
		{settings.SignIn{ClientSecret: "set", SecretFile: file}, "", "set"},
		{settings.SignIn{SecretFile: file}, dir, "in the file"},
	} {
		t.Setenv("CREDENTIALS_DIRECTORY", tt.credentials)
		got, err := clientSecret(tt.in)
		check.That(t, err == nil && got == tt.want, "%+v: %q, %v; want %q", tt.in, got, err, tt.want)
	}
	write("idp_client_secret", "a credential")
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	got, err := clientSecret(settings.SignIn{})
	check.That(t, err == nil && got == "a credential", "the credential: %q, %v", got, err)
	got, err = clientSecret(settings.SignIn{SecretFile: filepath.Join(dir, "missing")})
	check.That(t, err != nil, "a missing file: %q", got)
}

// Each change of the wall clock is passed on, also one that is too small for sessions.
func TestCheckClock_notifies(t *testing.T) {
	t.Parallel()
	host, changes := authtest.NewHost(), 0
	s := &SignIn{
		ClockChanged: func() { changes++ }, clock: clock.New(host.Source(), time.Time{}, nil),
		log: slog.New(slog.DiscardHandler),
	}
	for _, by := range []time.Duration{time.Second, time.Hour, -time.Hour} {
		host.Correct(by)
		s.checkClock()
	}
	check.Equal(t, changes, 3, "changes of the clock")
	check.That(t, ClockSet(time.Now().Add(-time.Hour)), "a clock after the release is not set")
}

// SIGN_UP=open admits clients from outside of the local network only if NOTIFY_ACCESS=open does.
func TestSignUpPolicy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		signUp, access string
		want           auth.SignUpPolicy
	}{
		{"open", "open", auth.SignUpOpen},
		{"open", "lan", auth.SignUpLocal},
		{"open", "token", auth.SignUpLocal},
		{"open", "off", auth.SignUpLocal},
		{"invite", "open", auth.SignUpInvite},
		{"closed", "lan", auth.SignUpClosed},
	} {
		cfg := settings.Config{NotifyAccess: tt.access, SignIn: settings.SignIn{SignUp: tt.signUp}}
		check.Equal(t, signUpPolicy(cfg), tt.want, "SIGN_UP=%s, NOTIFY_ACCESS=%s", tt.signUp, tt.access)
	}
}

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
		cfg := settings.Config{PublicURL: tt.public, SignIn: settings.SignIn{CookieSecure: tt.setting}}
		check.Equal(t, secureCookies(cfg), tt.want, "COOKIE_SECURE=%s, PUBLIC_URL=%s", tt.setting, tt.public)
	}
}

// An invite's link has PUBLIC_URL or an address that other hosts reach.
func TestOrigin_settings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		public, host string
		port         int
		outbound     string // "" means that the host has no route
		want         string
	}{
		{"https://pressbox.example", "127.0.0.1", 8888, "", "https://pressbox.example"},
		{"", "0.0.0.0", 8888, "192.168.1.20", "http://192.168.1.20:8888"},
		{"", "::", 8888, "192.168.1.20", "http://192.168.1.20:8888"},
		{"", "0.0.0.0", 8888, "", ""},
		{"", "192.168.1.30", 80, "192.168.1.20", "http://192.168.1.30:80"},
		{"", "fd00::1", 8888, "", "http://[fd00::1]:8888"},
		{"", "127.0.0.1", 8888, "192.168.1.20", ""},
		{"", "0.0.0.0", 0, "192.168.1.20", ""},
		{"", "localhost", 8888, "192.168.1.20", ""},
	} {
		outbound := func() (a netip.Addr) { a, _ = netip.ParseAddr(tt.outbound); return a }
		got := origin(settings.Config{PublicURL: tt.public, Host: tt.host, Port: tt.port}, outbound)
		check.Equal(t, got, tt.want,
			"PUBLIC_URL=%s HOST=%s PORT=%d, address %q", tt.public, tt.host, tt.port, tt.outbound)
	}
}
