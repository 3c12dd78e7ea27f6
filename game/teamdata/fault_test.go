package teamdata_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/game/teamdata"
	"pressbox/game/teams"
	"pressbox/packaging/check"
)

func respond(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
}

// Each fault gives an error that names it, caches nothing, and delays the next request.
func TestClient_faults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault http.HandlerFunc
		want  string
	}{
		"500":                  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "status 500"},
		"401":                  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "status 401"},
		"304 unconditional":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, "status 304"},
		"nothing":              {respond(""), "is not JSON"},
		"HTML":                 {respond("<!doctype html><p>Sign in"), `(Content-Type "text/html; charset=utf-8")`},
		"truncated, no length": {respond(`{"count":4,"teams":[{"id":31,"abb`), "is not JSON"},
		"truncated":            {truncated, "unexpected EOF"},
		"hangs up":             {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"too long":             {respond(strings.Repeat("x", 5<<20)), "exceeds 4 MiB"},
		"bomb":                 {bomb(), "exceeds 4 MiB"},
		"list":                 {respond(`[{"id":31}]`), "not an object"},
		"other name":           {respond(`{"clubs":[{"id":31}]}`), "no list of teams"},
		"object":               {respond(`{"teams":{"31":{}}}`), "no list of teams"},
		"empty":                {respond(`{"count":0,"teams":[]}`), "no such season"},
		"404":                  {http.NotFound, "no such season"},
		"another season":       {respond(`{"teams":[{"id":31,"season":2,"abbrev":"ZAP"}]}`), "no valid entry"},
		"no valid entry":       {respond(`{"teams":[7,null,"x",[],{}]}`), "no valid entry"},
		"endless redirects": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.String(), http.StatusFound) },
			"redirect",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.api.set(tt.fault)
			_, err := r.Teams(t.Context(), 3)
			check.Require(t, err != nil && strings.Contains(err.Error(), tt.want), "error %v, want %q", err, tt.want)
			check.That(t, errors.Is(err, teams.ErrUnavailable) || errors.Is(err, teams.ErrUnknown),
				"%v wraps no sentinel", err)
			check.That(t, len(r.cache.clone().items) == 0, "it was cached")
			requests := r.api.requests()
			_, again := r.Teams(t.Context(), 3)
			check.That(t, again != nil && r.api.requests() == requests, "immediate second request: %v", again)
		})
	}
}

// truncated sends less than its Content-Length.
func truncated(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	io.WriteString(w, `{"count":4,"teams":[{"id":31,"abb`)
}

// bomb returns 64 MiB of zeros, compressed once in advance.
func bomb() http.HandlerFunc {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(make([]byte, 64<<20))
	z.Close()
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(packed.Bytes())
	}
}

func TestClient_gzip(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.api.set(func(w http.ResponseWriter, q *http.Request) {
		check.That(t, q.Header.Get("Accept-Encoding") == "gzip", "gzip is not accepted")
		rec := httptest.NewRecorder()
		league(rec, q)
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write(rec.Body.Bytes())
		z.Close()
	})
	got, err := r.Teams(t.Context(), 3)
	check.That(t, err == nil && len(got.Teams) == 2, "%+v, %v", got, err)
}

// Redirects are followed within the host only, so that no other host gets the token.
func TestClient_redirects(t *testing.T) {
	t.Parallel()
	refuse := func(http.ResponseWriter, *http.Request) { t.Error("request to another host") }
	other := httptest.NewServer(http.HandlerFunc(refuse))
	t.Cleanup(other.Close)
	away := newRig(t, func(c *teamdata.Config) { c.Token = "hush" })
	away.api.set(func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, other.URL, http.StatusTemporaryRedirect)
	})
	if _, err := away.Teams(t.Context(), 3); err == nil || !strings.Contains(err.Error(), "another host") {
		t.Error(err)
	}
	near := newRig(t)
	near.api.set(func(w http.ResponseWriter, q *http.Request) {
		if moved, ok := strings.CutSuffix(q.URL.Path, "/"); ok {
			q.URL.Path = moved
			league(w, q)
			return
		}
		http.Redirect(w, q, q.URL.Path+"/?"+q.URL.RawQuery, http.StatusTemporaryRedirect)
	})
	check.Must(near.Teams(t.Context(), 3))(t)
}

// Stale data is revalidated with a conditional request in the background.
func TestClient_staleWhileRevalidate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		r.api.etag = `"v1"`
		r.api.head = map[string]string{"Last-Modified": "Mon, 02 Jan 2006 15:04:05 GMT"}
		first := list(t, r)
		time.Sleep(29 * time.Minute)
		if got := list(t, r); got.Stale || r.api.requests() != 1 {
			t.Errorf("after 29 minutes: stale %v, %d requests", got.Stale, r.api.requests())
		}
		time.Sleep(2 * time.Minute)
		got := list(t, r)
		check.That(t, got.Stale && got.FetchedAt.Equal(first.FetchedAt), "after 31 minutes: %+v", got)
		for range 20 {
			go func() {
				if _, err := r.Teams(t.Context(), 3); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		q := r.api.last()
		check.That(t, r.api.requests() == 2 && q.Header.Get("If-None-Match") == `"v1"` &&
			q.Header.Get("If-Modified-Since") == r.api.head["Last-Modified"],
			"%d requests, the last with %v", r.api.requests(), q.Header)
		if got := list(t, r); got.Stale || !got.FetchedAt.After(first.FetchedAt) || len(got.Teams) != 2 {
			t.Errorf("after a 304: %+v", got)
		}
	})
}

// A request that found stale data just before its revalidation does not cause a second one.
func TestClient_revalidatesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		list(t, r)
		time.Sleep(time.Hour)
		r.cache.slow = 2 * time.Second
		for range 2 { // the second reads before the first has saved
			go r.Teams(t.Context(), 3)
			time.Sleep(3 * time.Second)
		}
		synctest.Wait()
		time.Sleep(time.Minute)
		check.Equal(t, r.api.requests(), 2, "requests")
	})
}

// While the API is down for a day, cached data is served as stale and requests are rare; afterwards all is fresh again.
func TestClient_downForADay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		first := list(t, r)
		time.Sleep(time.Hour)
		r.api.set(down)
		for range 24 * 60 * 2 { // every half minute
			time.Sleep(30 * time.Second)
			got := list(t, r)
			check.Require(t, got.Stale && got.FetchedAt.Equal(first.FetchedAt), "%+v", got)
			synctest.Wait()
		}
		_, err := r.Roster(t.Context(), 3, "31")
		check.That(t, errors.Is(err, teams.ErrUnavailable) && strings.Contains(err.Error(), "status 502"),
			"not cached: %v", err)
		n := r.api.requests()
		check.That(t, n >= 24*12 && n <= 24*12*2+20, "%d requests in a day, want one per 2½ to 5 minutes", n)
		r.api.set(nil)
		time.Sleep(5 * time.Minute)
		list(t, r)
		synctest.Wait()
		got := list(t, r)
		check.That(t, !got.Stale, "still stale when the API is back")
		r.api.set(down)
		requests := r.api.requests()
		time.Sleep(time.Hour)
		for range 2 { // the backoff starts over
			list(t, r)
			synctest.Wait()
			time.Sleep(time.Second)
		}
		check.Equal(t, r.api.requests()-requests, 2, "requests a second after the first failure")
	})
}

func TestClient_staleFor30Days(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		list(t, r)
		r.api.set(down)
		time.Sleep(30*24*time.Hour - time.Second)
		list(t, r)
		time.Sleep(time.Hour)
		_, err := r.Teams(t.Context(), 3)
		check.That(t, errors.Is(err, teams.ErrUnavailable), "after 30 days: %v", err)
	})
}

func TestClient_cacheControl(t *testing.T) {
	t.Parallel()
	for control, want := range map[string]time.Duration{
		"":                           30 * time.Minute,
		"public, max-age=7200":       2 * time.Hour,
		"max-age=0, must-revalidate": time.Minute,
		"No-Store":                   time.Minute,
		"max-age=99999999":           24 * time.Hour,
		"max-age=soon":               30 * time.Minute,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newBubbleRig(t)
			r.api.head = map[string]string{"Cache-Control": control}
			list(t, r)
			time.Sleep(want - time.Second)
			check.That(t, !list(t, r).Stale, "%q: stale before %v", control, want)
			time.Sleep(time.Second)
			check.That(t, list(t, r).Stale, "%q: fresh after %v", control, want)
		})
	}
}

func TestClient_retryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, date := range []bool{false, true} {
			after := "600"
			if date {
				after = time.Now().Add(10 * time.Minute).UTC().Format(http.TimeFormat)
			}
			r := newBubbleRig(t)
			r.api.set(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", after)
				w.WriteHeader(http.StatusTooManyRequests)
			})
			for wait, want := range []int{1, 1, 2} {
				_, err := r.Teams(t.Context(), 3)
				check.That(t, err != nil && r.api.requests() == want,
					"Retry-After %s, after %d × 6 minutes: %d requests, %v", after, wait, r.api.requests(), err)
				time.Sleep(6 * time.Minute)
			}
		}
	})
}

// A slow API delays a request for ten seconds at most, and none for cached data or with a shorter context.
func TestClient_slow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		list(t, r)
		r.api.set(func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
		time.Sleep(time.Hour)
		start := time.Now()
		got := list(t, r)
		check.That(t, got.Stale && time.Since(start) <= 0, "stale %v after %v", got.Stale, time.Since(start))
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if _, err := r.Teams(ctx, 2); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		_, err := r.Teams(t.Context(), 2)
		check.That(t, errors.Is(err, teams.ErrUnavailable) && time.Since(start) == 10*time.Second,
			"%v after %v", err, time.Since(start))
	})
}

// Run cancels its requests and returns after the last one.
func TestClient_run(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		list(t, r)
		time.Sleep(time.Hour)
		const last = time.Second // duration of a cancelled request
		r.api.set(func(_ http.ResponseWriter, q *http.Request) {
			<-q.Context().Done()
			time.Sleep(last)
		})
		list(t, r) // one request in the background, one with a waiting caller
		failed := make(chan error, 1)
		go func() {
			_, err := r.Teams(t.Context(), 2)
			failed <- err
		}()
		synctest.Wait()
		start := time.Now()
		r.stop()
		took := time.Since(start)
		check.That(t, took == last, "ended after %v, want %v", took, last)
		if err := <-failed; !errors.Is(err, teams.ErrUnavailable) {
			t.Error(err)
		}
		check.That(t, r.log.Len() == 0, "a cancelled request was logged: %s", r.log)
	})
}

func list(t *testing.T, r *rig) teams.List {
	t.Helper()
	return check.Must(r.Teams(t.Context(), 3))(t)
}

// A team with too few players is an error; the others are not affected.
func TestClient_tooFewPlayers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.api.set(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Query().Get("team_id") != "32" {
			league(w, q)
			return
		}
		send(w, object{"players": squad("3", "32")[3:]}) // seven hitters
	})
	_, err := r.Roster(t.Context(), 3, "32")
	check.That(t, errors.Is(err, teams.ErrTooFewPlayers) && strings.Contains(err.Error(), "of BH in season 3") &&
		strings.Contains(err.Error(), "7 hitters and 2 pitchers"), "%v", err)
	check.Must(r.Roster(t.Context(), 3, "31"))(t)
}

// Variants of the API's format are accepted; invalid players are left out.
func TestClient_playerFormats(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	unusual := []object{
		{"id": "p1", "name": "Id Isaword", "team": 32, "sbaplayer": 77, "pos_1": "p", "season": "3"},
		{
			"id": 5.0, "name": " Two\u202e  Way\n", "team": "32", "pos_1": "sp", "pos_2": "OF", "pos_3": "LF",
			"pos_9": "C", "bats": "l", "throws": "S", "number": 17,
		},
		{
			"id": 6, "sbaplayer": object{"first_name": "Only", "last_name": "Person"}, "pos_1": "XX", "pos_4": 3,
			"headshot": "javascript:alert(1)", "new_field": []int{1},
		},
		{"id": 6, "name": "Twice", "team": 32},
		{"name": "No Id", "team": 32},
		{"id": 8, "team": 32},
		{"id": 9, "name": "Other Team", "team": object{"id": 31}},
		{"id": 10, "name": "Other Season", "season": 2},
	}
	r.api.set(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, "teams") {
			league(w, q)
			return
		}
		send(w, object{"players": append(unusual, squad("3", "32")...)})
	})
	roster := check.Must(r.Roster(t.Context(), 3, "32"))(t)
	var got strings.Builder
	for _, p := range roster.Players[:len(roster.Players)-12] {
		fmt.Fprintf(&got, "%s|%s|%s%s|%v|%s|%s\n", p.ID, p.Name, p.Bats, p.Throws, p.Positions, p.Number, p.ImageURL)
	}
	const want = "p1|Id Isaword|RR|[SP RP]||\n5|Two Way|LR|[SP LF CF RF]|17|\n6|Only Person|RR|[DH]||\n"
	check.That(t, got.String() == want, "got\n%swant\n%s", &got, want)
}
