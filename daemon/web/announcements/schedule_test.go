package announcements_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

func TestNotify_newFields(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	w := r.Do(t, "POST", "/notify", `{"title": " Laundry ", "message": "The washer is done.",
		"priority": 4, "volume": 30, "chime": "ding-dong",
		"in": 3600, "ttl": 60, "repeat": {"times": 3, "every": 120}}`).
		Want(202)
	for name, want := range map[string]string{
		"status": "scheduled", "position": "", "title": "Laundry", "priority": "4", "volume": "30",
		"chime": "ding-dong", "urgent": "false",
		"repeat": `{"times":3,"every":120,"spoken":0}`, "sender": `{"kind":"address"}`, "quiet": "", "clock_unset": "",
	} {
		check.Equal(t, w.Field(name), want, "%s", name)
	}
	created, at := parseTime(t, w.Field("created_at")), parseTime(t, w.Field("at"))
	expires := parseTime(t, w.Field("expires_at"))
	if at.Sub(created) != time.Hour || expires.Sub(at) != time.Minute || w.Field("speaks_at") != w.Field("at") {
		t.Errorf("the times are %s", w.Text)
	}
	list := r.Do(t, "GET", "/notify", "").Want(200)
	got := list.Field("scheduled")
	check.That(t, strings.Contains(got, w.Field("id")) && list.Field("queue") == "[]", "the lists are %s", list.Text)
	r.Do(t, "DELETE", "/notify", "").Want(200)
	again := r.Do(t, "POST", "/notify/"+w.Field("id")+"/again", "").Want(202)
	if again.Field("status") != "queued" || again.Field("title") != "Laundry" ||
		again.Header.Get("Location") != "/notify/"+again.Field("id") {
		t.Errorf("again: %s, at %s", again.Text, again.Header.Get("Location"))
	}
	if w := r.Do(t, "POST", "/notify/"+w.Field("id")+"/ack", "").Want(200); w.Field("status") != "cancelled" ||
		!strings.Contains(w.Field("repeat"), `"acknowledged":true`) {
		t.Errorf("acknowledged: %s", w.Text)
	}
	r.Do(t, "POST", "/notify/"+w.Field("id")+"/ack", "").Want(409, "already_ended")
	r.Do(t, "POST", "/notify/"+again.Field("id")+"/ack", "").Want(409, "not_repeated")
	r.Do(t, "POST", "/notify/none/ack", "").Want(404, "not_found")
	r.Do(t, "POST", "/notify/none/again", "").Want(404, "not_found")
	r.Do(t, "POST", "/api/notify/"+again.Field("id")+"/again", "", "Idempotency-Key", "two words").
		Want(400, "bad_idempotency_key")
}

// urgent takes precedence over priority.
func TestNotify_priority(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	for _, tt := range []struct{ fields, want string }{
		{``, "false 3"},
		{`, "priority": 5`, "true 5"},
		{`, "priority": 4`, "false 4"},
		{`, "urgent": true`, "true 5"},
		{`, "urgent": true, "priority": 1`, "true 5"},
		{`, "urgent": false, "priority": 5`, "false 4"},
		{`, "urgent": false, "priority": 2`, "false 2"},
	} {
		w := r.Do(t, "POST", "/notify", `{"message": "x"`+tt.fields+`}`).Want(202)
		check.Equal(t, w.Field("urgent")+" "+w.Field("priority"), tt.want, "%s", tt.fields)
		r.Do(t, "DELETE", "/notify/"+w.Field("id"), "")
	}
}

func TestNotify_scheduleFull(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.NotifyRate, c.Tokens = 1000, &revocable{} })
	w := fill(t, r, "", 50, "schedule_full", "/sender schedule_full", "POST", "/hooks/apprise", "POST", "/message")
	check.That(t, w.Header.Get("Retry-After") == "60", "Retry-After %q", w.Header.Get("Retry-After"))
	const other, token = "192.168.1.21:1", "Authorization"
	fill(t, r, other, 50, "schedule_full", "/sender schedule_full")
	r.Do(t, "POST", "/notify", `{"message": "x", "in": 3600}`, "Client", other, token, "Bearer a").Want(202)
	fill(t, r, "127.0.0.1:1", 99, "schedule_full", "")
	now := r.Do(t, "POST", "/notify", `{"message": "x"}`).Want(202).Field("id")
	r.Do(t, "DELETE", "/notify/"+now, "").Want(200)

	// Each client cancels its own scheduled ones, those that may change what all hear everybody's.
	cancel := func(h http.Handler, want, query string, headers ...string) {
		t.Helper()
		w := r.Send(t, h, webtest.NewRequest("DELETE", "/notify"+query, "", headers...)).Want(200)
		check.Equal(t, w.Field("cancelled"), want, "cancelled by %v", headers)
	}
	cancel(r.Handler(), "0", "")
	cancel(r.Handler(), "0", "?scheduled=false")
	cancel(r.Handler(), "50", "?scheduled=true")
	cancel(r.Handler(), "1", "?scheduled=yes", "Client", other, token, "Bearer a")
	cancel(r.AdminHandler(), "149", "?scheduled=1", "Client", "@")
	r.Do(t, "DELETE", "/notify?scheduled=maybe", "").Want(422, "not_offered")
}

// Signed-in users see the names of senders, administrators also their addresses, others and the wall neither.
func TestSender_shown(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) {
		c.Access, c.Tokens, c.Sessions = web.Open, &revocable{}, cookieSessions{}
	})
	cookie := []string{"Cookie", "pressbox_access=ann"}
	ids := map[string]string{
		"address": r.Do(t, "POST", "/notify", `{"message": "x", "in": 60}`).Want(202).Field("id"),
		"token": r.Do(t, "POST", "/notify", `{"message": "x", "in": 60}`, "Authorization", "Bearer a").
			Want(202).
			Field("id"),
		"page": r.Do(t, "POST", "/api/notify", `{"message": "x", "in": 60}`, cookie...).Want(202).Field("id"),
	}
	names := map[string]string{"address": "192.168.1.20", "token": "kitchen", "page": "Name of ann"}
	admin := func(id string) webtest.Page {
		return r.Send(t, r.AdminHandler(), webtest.NewRequest(http.MethodGet, "/notify/"+id, ""))
	}
	for kind, id := range ids {
		kindOnly, named := fmt.Sprintf(`{"kind":%q}`, kind), fmt.Sprintf(`{"kind":%q,"name":%q}`, kind, names[kind])
		toUser := named
		if kind == "address" {
			toUser = kindOnly
		}
		for who, tt := range map[string]struct {
			page webtest.Page
			want string
		}{
			"a client":             {r.Do(t, "GET", "/notify/"+id, ""), kindOnly},
			"a client with cookie": {r.Do(t, "GET", "/notify/"+id, "", cookie...), kindOnly},
			"a token":              {r.Do(t, "GET", "/api/notify/"+id, "", "Authorization", "Bearer a"), kindOnly},
			"a user":               {r.Do(t, "GET", "/api/notify/"+id, "", cookie...), toUser},
			"an administrator":     {admin(id), named},
			"root":                 {r.Do(t, "GET", "/api/notify/"+id, "", "Cookie", "pressbox_access=root"), named},
			"root without session": {r.Do(t, "GET", "/notify/"+id, "", "Cookie", "pressbox_access=root"), kindOnly},
		} {
			got := tt.page.Want(200).Field("sender")
			check.That(t, got == tt.want, "%s sees %s of %s, want %s", who, got, kind, tt.want)
		}
	}
}

// account returns an account whose name differs from its id; root is an administrator.
func account(id string) auth.Account {
	return auth.Account{ID: id, Name: "Name of " + id, Admin: id == "root"}
}

// cookieSessions implements Sessions: a cookie's value is the id of its account.
type cookieSessions struct{}

func (cookieSessions) SignedIn(r *http.Request) (auth.Caller, error) {
	c, err := r.Cookie("pressbox_access")
	if err != nil {
		return auth.Caller{}, auth.ErrNoCredentials
	}
	return auth.Caller{Account: account(c.Value)}, nil
}

// An idempotency key belongs to its sender, a token, an account or an address: another one can use the same key.
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
			check.That(t, (first == second) == tt.same,
				"announcements %s and %s, want the same: %v", first, second, tt.same)
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
