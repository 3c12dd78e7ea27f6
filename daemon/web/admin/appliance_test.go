package admin_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"pressbox/daemon/web/admin"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	report := func(h admin.Health, detail string) func() admin.Condition {
		return func() admin.Condition {
			return admin.Condition{Health: h, Detail: detail, Facts: map[string]any{"waiting": 3}}
		}
	}
	for _, tt := range []struct {
		checks []admin.Check
		status int
		want   admin.Health
	}{
		{nil, 200, admin.OK},
		{[]admin.Check{{"a", report("", "")}, {"b", report(admin.OK, "")}}, 200, admin.OK},
		{[]admin.Check{{"a", report(admin.OK, "")}, {"b", report(admin.Degraded, "no sound server")}}, 200, admin.Degraded},
		{[]admin.Check{{"a", report(admin.Degraded, "x")}, {"b", report(admin.OK, "")}}, 200, admin.Degraded},
		{[]admin.Check{{"a", report(admin.Failing, "disk full")}, {"b", report(admin.Degraded, "x")}}, 503, admin.Failing},
		{[]admin.Check{{"a", report(admin.Degraded, "x")}, {"b", report(admin.Failing, "x")}}, 503, admin.Failing},
	} {
		began := time.Now()
		r := webtest.NewRig(t, func(c *site.Config) { c.Admin.Checks = tt.checks })
		w := r.Do(t, "GET", "/health", "").Want(tt.status, "")
		if got := w.Field("status"); got != string(tt.want) {
			t.Errorf("%v: status %s, want %s", tt.checks, got, tt.want)
		}
		uptime, err := strconv.Atoi(w.Field("uptime_seconds"))
		if w.Field("version") != "1.2.3" || err != nil || uptime < 0 || float64(uptime) > time.Since(began).Seconds() {
			t.Errorf("%s, %v", w.Body, err)
		}
		for _, check := range tt.checks {
			if !strings.Contains(w.Field("checks"), `"`+check.Name+`":{`) || !strings.Contains(w.Field("checks"), `"waiting":3`) {
				t.Errorf("checks %s", w.Field("checks"))
			}
		}
	}
}

func TestAdministratorsStatus(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	r.Announce(t, "hello")
	w := r.Send(t, r.AdminHandler(), webtest.NewRequest("GET", "/admin/status", "", "Host", "anything", "Client", "@")).Want(200, "")
	if w.Field("versions") != `{"go":"go1.26","pressbox":"1.2.3"}` || !strings.Contains(w.Field("queue"), "hello") || !strings.Contains(w.Field("health"), `"ok"`) {
		t.Errorf("%s", w.Body)
	}
}
