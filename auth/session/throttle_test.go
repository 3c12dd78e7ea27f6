package session_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/auth/session"
	"pressbox/packaging/check"
	"pressbox/store"
)

// throttled runs a parallel test of a new throttle in a bubble.
func throttled(t *testing.T, test func(*session.Throttle)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(*testing.T) { test(session.NewThrottle(time.Now, nil, netip.Addr.IsLoopback)) })
}

// addresses returns n addresses from the first one on.
func addresses(first string, n int) []netip.Addr {
	all := []netip.Addr{netip.MustParseAddr(first)}
	for len(all) < n {
		all = append(all, all[len(all)-1].Next())
	}
	return all
}

// guess tries a name from each address as soon as the throttle permits it, until
// stop is called, which returns the number of permitted tries. At most atOnce
// addresses are in use at a time; each makes one try and comes back after the others.
func guess(throttle *session.Throttle, from []netip.Addr, atOnce int) (stop func() int) {
	ctx, cancel := context.WithCancel(context.Background())
	var tries atomic.Int64
	var guessers sync.WaitGroup
	for i := range atOnce {
		guessers.Go(func() {
			for next := i; ctx.Err() == nil; next += atOnce {
				for ctx.Err() == nil {
					_, wait := throttle.Try("alice", from[next%len(from)])
					if wait == 0 {
						tries.Add(1)
						break
					}
					if wait > 5*time.Second && len(from) > atOnce { // another address is sooner
						time.Sleep(time.Second)
						break
					}
					time.Sleep(wait)
				}
			}
		})
	}
	return func() int {
		cancel()
		guessers.Wait()
		return int(tries.Load())
	}
}

// Each wrong passphrase makes a client wait longer, up to a minute; the right one then works, and resets the count.
func TestThrottle_delays(t *testing.T) {
	throttled(t, func(throttle *session.Throttle) {
		lan, other := netip.MustParseAddr("192.168.1.2"), netip.MustParseAddr("192.168.1.3")
		wait := func(name string, from netip.Addr, want time.Duration) (right func()) {
			t.Helper()
			right, got := throttle.Try(name, from)
			check.Equal(t, got, want, "the wait of %s from %v", name, from)
			return right
		}
		for _, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60, 60} {
			delay := time.Duration(seconds) * time.Second
			wait("alice", lan, 0)
			wait("alice", lan, delay)
			if seconds > 8 {
				wait("bob"+delay.String(), other, 0)
			}
			time.Sleep(delay)
		}
		wait("alice", lan, 0)()
		wait("alice", lan, 0)
		time.Sleep(time.Hour)
		wait("alice", lan, 0)
		wait("alice", lan, time.Second)
	})
}

// An address has five attempts, and five a minute; exempt ones have any number.
func TestThrottle_addresses(t *testing.T) {
	throttled(t, func(throttle *session.Throttle) {
		names := 0
		try := func(from string, waits bool) {
			t.Helper()
			names++
			_, wait := throttle.Try(fmt.Sprint("name", names), netip.MustParseAddr(from))
			check.That(t, wait <= 12*time.Second && (wait > 0) == waits,
				"%s waits %v, want up to 12s: %v", from, wait, waits)
		}
		for i := range 5 {
			try(fmt.Sprintf("2001:db8::%d", i), false)
		}
		try("2001:db8::ffff", true) // the sixth of one /64
		try("2001:db8:0:1::1", false)
		for range 50 {
			try("127.0.0.1", false)
		}
		time.Sleep(12 * time.Second)
		try("2001:db8::1", false)
	})
}

// Thousands of names and addresses take bounded memory.
func TestThrottle_bounded(t *testing.T) {
	throttled(t, func(throttle *session.Throttle) {
		addr, neighbor := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fe80::1")
		for i := range 10_000 {
			name := fmt.Sprint(i)
			if right, wait := throttle.Try(name, addr); wait == 0 {
				right()
			}
			throttle.Try(name, neighbor)
			throttle.Try("alice", neighbor)
			addr, neighbor = addr.Next(), neighbor.Next()
		}
		n := session.Counters(throttle)
		check.That(t, n <= 4096, "%d entries, want at most 4096", n)
	})
}

// signIn requests an attempt each second until it is permitted, for at most a minute.
func signIn(throttle *session.Throttle, from netip.Addr) (right func()) {
	for range 60 {
		if right, wait := throttle.Try("alice", from); wait == 0 {
			return right
		}
		time.Sleep(time.Second)
	}
	return func() {}
}

// Clients that guess a name at every opening, from any number of addresses,
// keep its owner out for at most five seconds.
func TestThrottle_ownerNotLockedOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, first string
		addresses   int
		atOnce      int
		owner       string
		mistaken    bool // the owner, before the first time
	}{
		{"one address", "192.168.1.100", 1, 1, "192.168.1.2", false},
		{"one address, after a mistake", "192.168.1.100", 1, 1, "192.168.1.2", true},
		{"many addresses of the owner's network", "192.168.1.10", 200, 1, "192.168.1.220", false},
		{"all addresses of the owner's network", "192.168.1.10", 200, 60, "192.168.1.220", false},
		{"another network", "10.0.0.1", 250, 60, "192.168.1.2", false},
		{"another network, after a mistake", "10.0.0.1", 250, 60, "192.168.1.2", true},
		{"local IPv6 addresses", "fe80::1", 1000, 1, "fe80:0:0:0:1::", false},
		{"another IPv6 network", "fd00:1::1", 1000, 60, "fe80:0:0:0:1::", false},
		{"the internet", "203.0.113.1", 1000, 60, "198.51.100.7", false},
		{"the internet, after a mistake", "203.0.113.1", 1000, 60, "198.51.100.7", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			throttled(t, func(throttle *session.Throttle) {
				stop := guess(throttle, addresses(tt.first, tt.addresses), tt.atOnce)
				owner := netip.MustParseAddr(tt.owner)
				for i := range 5 { // each time from another address
					time.Sleep(time.Minute)
					if i == 0 && tt.mistaken {
						signIn(throttle, owner)
						time.Sleep(time.Second)
					}
					began := time.Now()
					signIn(throttle, owner)()
					waited := time.Since(began)
					check.That(t, waited <= 5*time.Second, "the owner at %v waited %v, want at most 5s", owner, waited)
					owner = owner.Next()
				}
				n := stop()
				check.That(t, n >= 8, "only %d guesses: the test shows nothing", n)
			})
		})
	}
}

// A client that has given the right passphrase does not wait for those that guess,
// even if they have every other address of its network.
func TestThrottle_knownClient(t *testing.T) {
	throttled(t, func(throttle *session.Throttle) {
		owner := netip.MustParseAddr("fe80::ffff")
		right, _ := throttle.Try("alice", owner)
		right()
		stop := guess(throttle, addresses("fe80::1", 500), 60)
		for range 5 {
			time.Sleep(time.Minute)
			right, wait := throttle.Try("alice", owner)
			check.That(t, wait == 0, "a client that has signed in waits %v", wait)
			right()
		}
		stop()
	})
}

// The number of guesses for a name is bounded, however many addresses they come from.
func TestThrottle_totalRate(t *testing.T) {
	t.Parallel()
	const most = 30 * 5 // a try every two seconds
	for _, tt := range []struct {
		name, first       string
		addresses, atOnce int
		atLeast, atMost   int
	}{
		{"one address", "192.168.1.100", 1, 1, 9, 11},
		{"loopback", "127.0.0.1", 1, 1, most, most},
		{"the local network", "192.168.1.1", 250, 50, most, most + 250},
		{"a network of 65,536", "10.0.0.1", 1000, 50, most, most + 256 + 256*5/15},
		{"local IPv6 addresses", "fe80::1", 1000, 50, most / 2, most + 4},
		{"the internet", "203.0.113.1", 1000, 50, most / 2, most + 4*4}, // four networks
	} {
		t.Run(tt.name, func(t *testing.T) {
			throttled(t, func(throttle *session.Throttle) {
				stop := guess(throttle, addresses(tt.first, tt.addresses), tt.atOnce)
				time.Sleep(5*time.Minute - time.Nanosecond)
				n := stop()
				check.That(t, n >= tt.atLeast && n <= tt.atMost,
					"%d guesses in five minutes, want %d to %d", n, tt.atLeast, tt.atMost)
			})
		})
	}
}

// A name has an attempt every two seconds, besides the first one of clients whose network has at
// most three failures. One whose turn comes within five seconds is queued, or within three after more
// failures, and can be made until a minute after its turn. A right passphrase takes no turn.
func TestThrottle_queue(t *testing.T) {
	throttled(t, func(throttle *session.Throttle) {
		try := func(from string, want time.Duration) (right func()) {
			t.Helper()
			right, wait := throttle.Try("alice", netip.MustParseAddr(from))
			check.Equal(t, wait, want, "%s waits", from)
			return right
		}
		for _, from := range []string{
			"203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4",
			"198.51.100.1", "192.0.2.1", "198.18.0.1", "198.19.0.1",
		} {
			try(from, 0)
		}
		time.Sleep(time.Second)
		try("198.51.100.1", 0)
		try("192.0.2.1", 2*time.Second)
		try("198.18.0.1", 4*time.Second)
		try("198.19.0.1", time.Second) // until its turn would come in 5 s
		try("203.0.113.5", 3*time.Second)
		time.Sleep(time.Second)
		try("198.19.0.1", 5*time.Second)

		time.Sleep(time.Minute + time.Second)
		try("192.0.2.1", 0)   // a minute after its turn
		try("203.0.113.5", 0) // as that was no new one
		time.Sleep(2*time.Second + 1)
		try("198.18.0.1", 0) // more than a minute after its turn: a new one
		try("203.0.113.6", 2*time.Second)
		try("203.0.113.7", time.Second)
		try("198.51.100.1", 4*time.Second)
		time.Sleep(2 * time.Second)
		try("203.0.113.6", 0)()
		try("192.0.2.1", 2*time.Second) // the right one takes no turn
	})
}

// The addresses of a local IPv6 network have forty tries together, and forty a minute.
func TestThrottle_ipv6Network(t *testing.T) {
	throttled(t, func(throttle *session.Throttle) {
		permitted := 0
		for i, from := range addresses("fd00::1", 50) {
			if _, wait := throttle.Try(fmt.Sprint("name", i), from); wait == 0 {
				permitted++
			}
		}
		check.Equal(t, permitted, 40, "tries of a /64 at once")
		_, wait := throttle.Try("alice", netip.MustParseAddr("fd00:0:0:1::1"))
		check.That(t, wait == 0, "an address of another /64 waits %v", wait)
	})
}

// Of many who use an invite at once, one gets an account.
func TestLocalAccounts_inviteRace(t *testing.T) {
	r := newRig(t)
	for round := range 5 {
		invite, created, refused := r.invite().Reveal(), atomic.Int64{}, atomic.Int64{}
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				account := auth.LocalAccount{Name: fmt.Sprintf("guest %d of %d", i, round)}
				_, err := r.Sessions.LocalAccounts().Create(t.Context(), account, auth.SignUpInvite, invite)
				if err == nil {
					created.Add(1)
				} else if errors.Is(err, auth.ErrNotInvited) {
					refused.Add(1)
				}
			})
		}
		all.Wait()
		check.Equal(t, created.Load(), 1, "accounts")
		check.Equal(t, refused.Load(), 19, "refusals")
	}
}

// newSmallRig returns a rig whose store has so many MiB: of 4, there is room for some 50 accounts.
func newSmallRig(t *testing.T, size int64) *rig {
	t.Helper()
	r := newRig(t)
	r.size = size << 20
	r.start()
	return r
}

// as signs in with the identity of a subject.
func (r *rig) as(subject string) (auth.Result, error) {
	r.t.Helper()
	r.idp.Identity = auth.Identity{Provider: "test", Subject: subject, Name: subject}
	return r.Finish(r.t.Context(), authtest.Callback(r.begin()))
}

// room returns the room of sign-in in the store.
func (r *rig) room() store.Share {
	r.t.Helper()
	return check.Must(r.store.Stats())(r.t).Shares[1]
}

// Two accounts that sign in and renew as often as they can have a sixteenth of the room each, and others sign in. An
// account has the sessions for which it has room; the next one ends the one that has been idle longest.
func TestRoom_attack(t *testing.T) {
	r := newSmallRig(t, 8) // room for four sessions of each
	var live []auth.Result
	for _, name := range []string{"Mallory", "Trudy"} {
		for range 12 {
			result := check.Must(r.as(name))(t)
			live = append(live, result)
			for token, err := result.Refresh, error(nil); err == nil; {
				var next auth.Result
				if next, err = r.Sessions.Refresh(t.Context(), token); err == nil {
					token, live[len(live)-1] = next.Refresh, next
				}
				_, throttled := errors.AsType[*auth.ThrottledError](err)
				check.Require(t, err == nil || throttled, "renewed: %v", err)
			}
			r.host.Pass(time.Second)
		}
	}
	room := r.room()
	check.That(t, room.Used <= room.Max/8, "two accounts have %d of %d bytes", room.Used, room.Max)
	r.invalid(live[19].Access)
	for _, result := range live[20:] {
		r.valid(result.Access)
	}
	victim := check.Must(r.as("Anna"))(t)
	r.refresh(victim.Refresh)
}

// When accounts have filled what they may, administrators and sign-ins that begin have a reserve: an administrator
// signs in, renews, invites and disables; others are refused until there is room again.
func TestRoom_reserve(t *testing.T) {
	r := newSmallRig(t, 4)
	admin, yes := check.Must(r.as("admin"))(t), true
	check.NoError(t, r.Sessions.ChangeAccount(t.Context(), admin.Account.ID, session.AccountChange{Admin: &yes}))
	var last auth.Result
	var err error
	accounts := 0
	for ; err == nil; accounts++ {
		var result auth.Result
		if result, err = r.as(fmt.Sprint("account", accounts)); err == nil {
			last = result
		}
	}
	room := r.room()
	check.That(t, errors.Is(err, auth.ErrFull) && auth.CodeOf(err) == auth.CodeFull && accounts > 20 &&
		room.Used <= room.Max*7/8 && room.Used > room.Max*6/8, "after %d accounts, with %+v: %v", accounts, room, err)
	r.notRefreshed(last.Refresh, auth.ErrFull)
	err = nil
	for i := 0; err == nil && i < 20; i++ { // until no record fits
		local := auth.LocalAccount{Name: fmt.Sprint("local", i), Hash: "hash"}
		_, err = r.Sessions.LocalAccounts().Create(t.Context(), local, auth.SignUpOpen, "")
	}
	check.ErrorIs(t, err, auth.ErrFull, "local accounts")
	for range 2 * auth.MaxPendingFlows {
		r.begin()
	}
	for range 3 {
		admin = check.Must(r.as("admin"))(t)
		r.refresh(admin.Refresh)
		r.invite()
		_, _, err := r.Sessions.CreateAPIToken(t.Context(), auth.APIToken{Name: "doorbell"})
		check.NoError(t, err)
	}
	check.NoError(t, r.Sessions.SaveAdminCode(t.Context(), "hash"))
	check.NoError(t, r.Sessions.Reauthenticated(t.Context(), admin.Session))
	check.NoError(t, r.disable(last.Account.ID, true))
	for _, account := range check.Must(r.Sessions.Accounts(t.Context()))(t)[:accounts/2] {
		if !account.Admin {
			check.NoError(t, r.Sessions.DeleteAccount(t.Context(), account.ID))
		}
	}
	check.NoError(t, r.Sessions.DeleteExpired(t.Context()))
	check.Must(r.as("another"))(t)
}
