package announcements_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"pressbox/auth"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

// cookieSessions implements Sessions: a cookie's value is the id of its account.
type cookieSessions struct{}

func (cookieSessions) SignedIn(r *http.Request) (auth.Caller, error) {
	c, err := r.Cookie("pressbox_access")
	if err != nil {
		return auth.Caller{}, auth.ErrNoCredentials
	}
	return auth.Caller{Account: account(c.Value)}, nil
}

// An idempotency key belongs to its sender, a token, an account or an address: another one can use the same
// key.
func TestNotify_keyBelongsToSender(t *testing.T) {
	t.Parallel()
	const here, there = "192.168.1.20:40000", "192.168.1.21:40000"
	const plain, api = "/notify", "/api/notify"
	for name, tt := range map[string]struct {
		path                            string
		client, credentials             string
		otherPath, otherClient, another string
		same                            bool
	}{
		"another address":          {plain, here, "", plain, there, "", false},
		"another port":             {plain, here, "", plain, "192.168.1.20:41000", "", true},
		"below /api":               {plain, here, "", api, here, "", true},
		"another token":            {plain, here, "Bearer a", plain, here, "Bearer b", false},
		"a token and none":         {plain, here, "Bearer a", plain, here, "", false},
		"the token elsewhere":      {plain, here, "Bearer a", plain, there, "Bearer a", true},
		"another account":          {api, here, "ann", api, here, "bob", false},
		"the account elsewhere":    {api, here, "ann", api, there, "ann", true},
		"a session counts at /api": {api, here, "ann", plain, here, "ann", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := webtest.NewRig(t, func(c *site.Config) { c.Tokens, c.Sessions = &revocable{}, cookieSessions{} })
			post := func(path, client, credentials string) string {
				header, value := "Authorization", credentials
				if len(credentials) == 3 {
					header, value = "Cookie", "pressbox_access="+credentials
				}
				const body = `{"message": "x"}`
				w := r.Do(t, "POST", path, body, "Idempotency-Key", "k", "Client", client, header, value)
				return w.Want(202).Field("id")
			}
			first, second := post(tt.path, tt.client, tt.credentials), post(tt.otherPath, tt.otherClient, tt.another)
			if (first == second) != tt.same {
				t.Errorf("announcements %s and %s, want the same: %v", first, second, tt.same)
			}
		})
	}
}

// Reading and canceling announcements have a limit for each address; requests below /api count too, and those
// of other addresses do not.
func TestNotify_limitsReadsAndCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // so that no time passes
		r := webtest.NewRig(t)
		for method, burst := range map[string]int{"GET": 300, "DELETE": 60} {
			paths := []string{"/notify", "/notify/none", "/api/notify", "/api/notify/none"}
			for i := range burst {
				if w := r.Do(t, method, paths[i%4], ""); w.StatusCode == 429 {
					t.Fatalf("%s: request %d is limited", method, i+1)
				}
			}
			for _, path := range paths {
				if w := r.Do(t, method, path, "").Want(429); w.Header.Get("Retry-After") == "" {
					t.Errorf("429 without Retry-After: %s", w.Text)
				}
			}
			r.Do(t, method, "/notify", "", "Client", "192.168.1.21:1").Want(200)
			r.Do(t, method, "/notify", "", "Client", "127.0.0.1:1").Want(200)
		}
	})
}
