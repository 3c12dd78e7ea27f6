package push_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// tokens accepts the token "good".
type tokens struct{}

func (tokens) NotifyToken(_ context.Context, token string, _ netip.Addr) (auth.APIToken, error) {
	if token != "good" {
		return auth.APIToken{}, errors.New("no such token")
	}
	return auth.APIToken{ID: "1", Name: "apprise"}, nil
}

// Apprise itself, by its plug-ins for ntfy, Gotify and forms, each with a token in the
// place where it sends one.
func TestAll_apprise(t *testing.T) {
	t.Parallel()
	program := check.Part(t, "apprise")
	r := webtest.NewRig(t, func(c *site.Config) { c.Access, c.Tokens = web.Token, tokens{} })
	server := httptest.NewServer(r.Handler())
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	apprise := func(url string) (string, error) {
		cmd := exec.CommandContext(t.Context(), program, "--title", "Kitchen", "--body", "Dinner & wine.", url)
		cmd.Env = append(os.Environ(), "NO_PROXY=*", "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	token := []string{"Authorization", "Bearer good", "Client", "127.0.0.1:1"}
	for _, tt := range []struct{ url, priority string }{
		{"ntfy://user:good@" + address + "/alerts?mode=private", "3"},
		{"ntfy://user:good@" + address + "/alerts?mode=private&priority=high&tags=bell&click=http://x", "4"},
		{"ntfy://user:good@" + address + "/alerts?mode=private&priority=max", "5"},
		{"gotify://" + address + "/good?priority=low", "2"},
		{"gotify://" + address + "/good", "3"},
		{"gotify://" + address + "/good?priority=emergency", "5"},
		{"form://user:good@" + address + "/notify", "3"},
	} {
		if out, err := apprise(tt.url); err != nil {
			t.Errorf("%s: %v: %s", tt.url, err, out)
			continue
		}
		var list struct {
			Queue []struct {
				ID, Title, Message string
				Priority           int
			}
		}
		r.Do(t, "GET", "/notify", "", token...).Want(200).Decode(&list)
		if len(list.Queue) != 1 || list.Queue[0].Title != "Kitchen" || list.Queue[0].Message != "Dinner & wine." ||
			string(rune('0'+list.Queue[0].Priority)) != tt.priority {
			t.Errorf("%s: %+v, want priority %s", tt.url, list, tt.priority)
		}
		for _, a := range list.Queue {
			r.Do(t, "DELETE", "/notify/"+a.ID, "", token...).Want(200)
		}
	}
	for _, url := range []string{
		"ntfy://user:bad@" + address + "/alerts?mode=private", "gotify://" + address + "/bad",
		"json://" + address + "/notify",
	} {
		if out, err := apprise(url); err == nil {
			t.Errorf("%s without a valid token: %s", url, out)
		}
	}
}
