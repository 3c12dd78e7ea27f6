package site_test

import (
	"testing"

	"pressbox/auth"
	"pressbox/daemon/web/webtest"
)

// The administrator code makes the account that sends it an administrator's, once. A code
// that would be guessed is refused.
func TestAdminCode_redeem(t *testing.T) {
	t.Parallel()
	r := webtest.NewLocalRig(t, auth.SignUpOpen)
	anna := r.LocalPlayer(t, "Anna")
	redeemAs := func(b *webtest.Browser, code string) webtest.Page {
		return b.Send("POST", "/api/auth/admin-code", `{"code": "`+code+`"}`, "Content-Type", webtest.AsJSON)
	}
	redeem := func(code string) webtest.Page { return redeemAs(anna.Browser, code) }
	redeem("opening day").Want(404, "not_found")
	set := func(code string) webtest.Page {
		return r.Administer(t, "PUT", "/admin/code", `{"code": "`+code+`"}`)
	}
	set("7 chars").Want(422, "too_short")
	set("password1").Want(422, "too_common")
	set("opening day").Want(204)
	if got := anna.Get("/api/admin").Want(200); got.Field("code") != "true" {
		t.Errorf("with a code: %s", got.Text)
	}
	guesser := r.LocalPlayer(t, "Mallory")
	for range auth.MaxCodeTries {
		redeemAs(guesser.Browser, "a guess").Want(422, "wrong")
	}
	redeemAs(guesser.Browser, "opening day").Want(429)
	redeem("closing day").Want(422, "wrong")
	redeem("opening day").Want(204)
	anna.Get("/api/admin/users").Want(200)
	redeem("opening day").Want(404, "not_found")
}
