package session_test

import (
	"errors"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/packaging/check"
)

// A name is taken once, in any spelling, and free again after its account was deleted.
func TestLocalAccounts_names(t *testing.T) {
	r := newRig(t)
	local := r.Sessions.LocalAccounts()
	for _, tt := range []struct {
		name string
		want error
	}{{"", auth.ErrNotFound}, {" Anna ", nil}, {"a\nb", auth.ErrNotFound}, {"ANNA", auth.ErrNameTaken}} {
		account := auth.LocalAccount{Name: tt.name, Subject: "s1", Hash: "h1"}
		_, err := local.Create(t.Context(), account, auth.SignUpOpen, "")
		check.Require(t, errors.Is(err, tt.want), "create %q: %v, want %v", tt.name, err, tt.want)
	}
	got, err := local.Find(t.Context(), "anna")
	check.That(t, err == nil && got.Name == "Anna" && got.Subject == "s1" && !got.Created.IsZero(),
		"anna is %+v, %v", got, err)
	check.ErrorIs(t, local.Rehash(t.Context(), "Anna", "another", "h2"), auth.ErrNotFound, "rehash of another hash")
	check.NoError(t, local.Rehash(t.Context(), "Anna", "h1", "h2"))
	r.ProviderName, r.idp.Identity = auth.Local, auth.Identity{
		Provider: auth.Local, Issuer: auth.LocalIssuer, Subject: "s1", Name: "Anna",
	}
	check.ErrorIs(t, check.Err(local.Account(t.Context(), got)), auth.ErrNotFound, "account before the first sign-in")
	account := r.signIn().Account
	same, err := local.Account(t.Context(), got)
	check.That(t, err == nil && same == account, "account %+v, %v; want %+v", same, err, account)
	check.NoError(t, r.Sessions.DeleteAccount(t.Context(), account.ID))
	check.ErrorIs(t, check.Err(local.Find(t.Context(), "anna")), auth.ErrNotFound, "after its account was deleted")
	accounts, err := r.Sessions.Accounts(t.Context())
	check.That(t, err == nil && len(accounts) == 0, "accounts %+v, %v", accounts, err)
}

// An invite is valid for one account, within its week, and a taken name does not use it up.
func TestLocalAccounts_invites(t *testing.T) {
	r := newRig(t)
	invite, second := r.invite().Reveal(), r.invite().Reveal()
	create := func(name, invite string, policy auth.SignUpPolicy, want error) {
		t.Helper()
		_, err := r.Sessions.LocalAccounts().Create(t.Context(), auth.LocalAccount{Name: name}, policy, invite)
		check.ErrorIs(t, err, want, "%s with %.5s…", name, invite)
	}
	create("anna", "", auth.SignUpInvite, auth.ErrNotInvited)
	create("anna", "xi_", auth.SignUpInvite, auth.ErrNotInvited)
	create("anna", auth.NewToken(auth.KindInvite).Reveal(), auth.SignUpInvite, auth.ErrNotInvited)
	create("anna", invite, auth.SignUpInvite, nil)
	create("bert", invite, auth.SignUpInvite, auth.ErrNotInvited)
	create("anna", second, auth.SignUpInvite, auth.ErrNameTaken)
	create("bert", second, auth.SignUpInvite, nil)
	late := r.invite().Reveal()
	r.host.Pass(auth.InviteTTL + time.Second)
	create("cora", late, auth.SignUpInvite, auth.ErrNotInvited)
	create("cora", "", auth.SignUpClosed, auth.ErrNotInvited)
}
