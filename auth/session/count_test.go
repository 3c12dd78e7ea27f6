package session_test

import "testing"

func TestCountsAreOfWhatIsAlive(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.signIn()
	gone := h.signIn()
	h.idp.who.Subject = "2"
	h.signIn()
	if err := h.Sessions.Logout(t.Context(), gone.Access); err != nil {
		t.Fatal(err)
	}
	if accounts, sessions, err := h.Sessions.Count(t.Context()); accounts != 2 || sessions != 2 || err != nil {
		t.Errorf("%d accounts, %d sessions, %v; want 2 and 2", accounts, sessions, err)
	}
	h.machine.pass(100 * 24 * 60 * 60 * 1e9)
	if accounts, sessions, err := h.Sessions.Count(t.Context()); accounts != 2 || sessions != 0 || err != nil {
		t.Errorf("after a hundred days: %d accounts, %d sessions, %v; want 2 and 0", accounts, sessions, err)
	}
}
