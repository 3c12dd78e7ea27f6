package limits

import (
	"net/netip"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"pressbox/auth/netblock"
)

// A Write is a row of the table of what clients can cause to be saved. Each change costs a sync of the
// disk, unless it shares one, and bytes of a share of the store. From the table come the limits, the
// table in SECURITY.md, and the test that drives each route at its limit.
type Write struct {
	Name  string
	Owner Owner // whose changes are counted together
	Rate  int   // changes in the time Per; 0: others limit them, as Bound says
	Per   time.Duration
	Burst int    // changes at once
	Syncs int    // transactions of a change, at most
	Bytes int64  // by which a change makes its share larger, at most
	Share string // of the store
	Bound string // of all of it
	// Guessed has addresses count that have no limit elsewhere, as loopback's: a secret can be guessed.
	Guessed bool
	// Routes are patterns as of [net/http.ServeMux]: the most specific one counts. A GET that changes
	// something has its method in the pattern.
	Routes []string
}

// An Owner is one of those whose changes are counted together.
type Owner string

// The owners.
const (
	// Client is an address, or the block of addresses that counts as one client.
	Client Owner = "address"
	// Account is an account; the accounts of one address have [Household] times its allowance.
	Account Owner = "account"
	// Session is one browser or program of an account.
	Session Owner = "session"
)

// Household is the number of accounts for which the allowance of an address suffices.
const Household = 8

// Writes returns the table. Routes without a row of their own are in the last one.
func Writes() []Write {
	return slices.Concat(announcementWrites(), signInWrites(), gameWrites(), []Write{
		{
			Name: "other changes", Owner: Account, Rate: 120, Per: time.Minute, Burst: 60,
			Syncs: 1, Bytes: 0, Share: "announcements", Bound: "nothing is saved",
			Routes: []string{"/"},
		},
	})
}

const kib = 1 << 10

func announcementWrites() []Write {
	return []Write{
		{
			Name: "announcements", Owner: Client, Rate: 120, Per: time.Minute, Burst: 60, // or NOTIFY_RATE
			Syncs: 2, Bytes: 40 * kib, Share: "announcements",
			Bound: "QUEUE_MAX_SIZE and 12 places, 200 planned, the last 200 or 24 hours; 1,000 idempotency keys each",
			Routes: []string{
				"POST /notify", "POST /api/notify", "POST /notify/{id}/again", "POST /api/notify/{id}/again",
				"POST /favorites/{id}/announce", "POST /api/favorites/{id}/announce",
				"POST /hooks/", "POST /api/hooks/", "/ntfy/", "/api/ntfy/", "POST /{$}", "POST /message",
			},
		},
		{
			Name: "sounds", Owner: Client, Rate: 20, Per: time.Minute, Burst: 10,
			Syncs: 0, Bytes: 0, Share: "announcements",
			Bound: "files beside the store: 100 sounds of 2.9 MB, and 30 recordings, 5 of a client, which " +
				"count as ten announcements each",
			Routes: []string{
				"PUT /sounds/{name}", "PUT /api/sounds/{name}", "DELETE /sounds/{name}", "DELETE /api/sounds/{name}",
			},
		},
		{
			Name: "ends of announcements", Owner: Client, Rate: 120, Per: time.Minute, Burst: 60,
			Syncs: 1, Bytes: 1 * kib, Share: "announcements", Bound: "announcements that are there",
			Routes: []string{
				"DELETE /notify", "DELETE /api/notify", "/notify/", "/api/notify/",
			},
		},
		{
			Name: "volume, quiet, schedules, favorites", Owner: Client, Rate: 120, Per: time.Minute, Burst: 60,
			Syncs: 1, Bytes: 400 * kib, Share: "announcements",
			Bound: "a quarter of the share; 100 schedules, 50 favorites",
			Routes: []string{
				"/volume", "/quiet", "/favorites", "/favorites/", "/schedules", "/schedules/",
				"/api/volume", "/api/quiet", "/api/favorites", "/api/favorites/", "/api/schedules", "/api/schedules/",
			},
		},
	}
}

func signInWrites() []Write {
	return []Write{
		{
			Name: "sign-ins", Owner: Client, Rate: 60, Per: time.Minute, Burst: 60,
			Syncs: 3, Bytes: 6 * kib, Share: "sign-in",
			Bound:  "256 pending flows; accounts in half of the share; 32 sessions each",
			Routes: []string{"GET /api/auth/idp/login"}, // a callback ends what one has started
		},
		{
			Name: "local accounts", Owner: Client, Syncs: 1, Bytes: 2 * kib, Share: "sign-in",
			Bound: "a try every two seconds for a name, five a minute of a client, each after twice the time of the " +
				"one before; accounts in half of the share",
			Routes: []string{"POST /api/auth/local/authorize"},
		},
		{
			Name: "guests", Owner: Client, Rate: 20, Per: time.Minute, Burst: 20,
			Syncs: 4, Bytes: 8 * kib, Share: "sign-in", Bound: "50 guests, 4 of a game; accounts in half of the share",
			Guessed: true, Routes: []string{"POST /api/auth/guest"},
		},
		{
			Name: "renewals of sessions", Owner: Session, Rate: 12, Per: time.Hour, Burst: 12,
			Syncs: 1, Bytes: 3 * kib, Share: "sign-in",
			Bound:  "four used tokens of a session; a sixteenth of the share each account",
			Routes: []string{"POST /api/auth/refresh"},
		},
		{
			Name: "changes of an account", Owner: Account, Rate: 60, Per: time.Minute, Burst: 60,
			Syncs: 2, Bytes: 4 * kib, Share: "sign-in", Bound: "what the account has",
			Routes: []string{"/api/auth/"},
		},
		{
			Name: "administration", Owner: Account, Rate: 120, Per: time.Minute, Burst: 60,
			Syncs: 1, Bytes: 4 * kib, Share: "sign-in",
			Bound:  "100 tokens, 100 invites; a file each for backups and voices",
			Routes: []string{"/api/admin/"},
		},
	}
}

func gameWrites() []Write {
	return []Write{
		{
			Name: "games", Owner: Account, Rate: 30, Per: time.Hour, Burst: 30,
			Syncs: 2, Bytes: 64 * kib, Share: "games",
			Bound:  "200 pending and active, 500 finished ones of an account; the former a quarter of the share",
			Routes: []string{"POST /api/games", "POST /api/games/{id}/rematch"},
		},
		{
			Name: "line-ups", Owner: Account, Rate: 60, Per: time.Minute, Burst: 30,
			Syncs: 2, Bytes: 4 * kib, Share: "games",
			Bound:  "before the start the current one of each side; of 500 accounts 20 saved ones of 2 KiB",
			Routes: []string{"PUT /api/games/{id}/lineups/{side}", "/api/lineups/"},
		},
		{
			Name: "leagues and series", Owner: Account, Rate: 30, Per: time.Hour, Burst: 30,
			Syncs: 1, Bytes: 64 * kib, Share: "games",
			Bound:  "100 of 64 KiB, 40 of them for accounts without an unfinished one",
			Routes: []string{"POST /api/leagues", "POST /api/series"},
		},
		{
			Name: "commands of games and leagues", Owner: Account, Rate: 240, Per: time.Minute, Burst: 120,
			Syncs: 2, Bytes: 64 * kib, Share: "games", Bound: "games and leagues that are there",
			Routes: []string{"/api/games/", "/api/leagues/", "/api/series/"},
		},
		Moves(),
	}
}

// Moves returns the row of the commands of websockets, a whole game of them at once.
func Moves() Write {
	return Write{
		Name: "moves of games", Owner: Account, Rate: 1200, Per: time.Minute, Burst: 600,
		Syncs: 2, Bytes: 64 << 10, Share: "games",
		Bound: "a quarter of the share for the unfinished games of an account",
	}
}

// A WriteLimiter limits the changes of one row.
type WriteLimiter struct {
	clients  *Limiter             // by address
	accounts *generations[string] // nil: accounts are not counted
}

// Limiter returns a limiter of the changes of a row; nil if others limit them.
func (w Write) Limiter(blocks *netblock.Table) *WriteLimiter {
	if w.Rate == 0 || w.Owner == Session {
		return nil
	}
	every := rate.Limit(float64(w.Rate) / w.Per.Seconds())
	if w.Owner == Client {
		return &WriteLimiter{clients: newLimiter(blocks, every, w.Burst)}
	}
	return &WriteLimiter{
		newLimiter(blocks, every*Household, w.Burst*Household), newGenerations[string](every, w.Burst),
	}
}

// Reserve counts a change of an account, "" for none, and of an address, the zero value for one that
// has no limit. It returns 0 if the change is permitted, otherwise the time until the next one is.
func (l *WriteLimiter) Reserve(account string, client netip.Addr, now time.Time) (wait time.Duration) {
	var allowances []*rate.Limiter
	if client.IsValid() {
		allowances = l.clients.allowances(l.clients.blocks.Of(client), now)
	}
	if account != "" && l.accounts != nil {
		allowances = append(allowances, l.accounts.allowance(account, 1, now))
	}
	return reserve(now, 1, allowances)
}
