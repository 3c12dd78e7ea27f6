package session_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/session"
	"pressbox/store"
)

// A sign-in: the browser goes to the provider, returns with a code, and gets the
// tokens of a new session.
func Example() {
	ctx, log := context.Background(), slog.New(slog.DiscardHandler)
	dir, err := os.MkdirTemp("", "pressbox")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(filepath.Join(dir, "pressbox.db"), store.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	clock, err := session.OpenClock(ctx, s.Auth(), authtest.NewHost().Source(), time.Time{})
	if err != nil {
		panic(err)
	}
	sessions := session.New(s.Auth(), clock, 0, log)
	in := session.SignIn{
		Provider:     &authtest.Provider{Identity: auth.Identity{Provider: "example", Subject: "4711", Name: "Anna"}},
		ProviderName: "example", SignUp: auth.SignUpOpen, Sessions: sessions, Log: log,
	}

	flow, err := in.Begin(ctx, auth.FlowOptions{Redirect: "https://box.example/callback", Return: "/games"})
	if err != nil {
		panic(err)
	}
	result, err := in.Finish(ctx, auth.Callback{State: flow.State, Binding: flow.Binding, Code: "code"})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Account.Name, result.Return)

	caller, err := sessions.Authenticate(ctx, auth.RequestCredentials{Cookies: []string{result.Access.Reveal()}})
	fmt.Println(caller.Account.Name, err)
	// Output:
	// Anna /games
	// Anna <nil>
}
