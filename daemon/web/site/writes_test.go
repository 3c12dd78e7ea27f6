package site_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio"
	"pressbox/auth"
	"pressbox/auth/authtest"
	"pressbox/daemon/limits"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
	"pressbox/store"
)

// Every route that may save something has a row of its own, unless it saves nothing.
func TestWrites_everyRoute(t *testing.T) {
	t.Parallel()
	r, rows := webtest.NewRig(t), limits.Writes()
	routes := map[string][]string{}
	for _, rt := range site.Routes() {
		name := r.Writes(rt).Name
		routes[name] = append(routes[name], rt.Method+" "+rt.Path)
	}
	slices.Sort(routes["other changes"])
	check.Equal(t, strings.Join(routes["other changes"], ", "),
		"POST /api/speakable, POST /api/v1/audio/speech, POST /speakable, POST /v1/account/token, "+
			"POST /v1/audio/speech",

		"routes that save nothing")
	for _, row := range rows {
		check.That(t, len(routes[row.Name]) > 0 || len(row.Routes) == 0, "no route has the row %q", row.Name)
	}
}

// A drive sends a request of one row, of which the number counts from 0, and returns the answer.
type drive func(i int) webtest.Page

// driver is a client on a server with real stores, in fake time.
type driver struct {
	*webtest.Player
	other *webtest.Player // of the same household
}

// usage returns the transactions of all stores, and the bytes of a share.
func (v *driver) usage(share string) (commits uint64, bytes int64) {
	v.T.Helper()
	for _, s := range []*store.Store{v.Store, v.GameStore, v.SignInStore} {
		st := check.Must(s.Stats())(v.T)
		commits += st.Commits
		for _, sh := range st.Shares {
			check.That(v.T, sh.Used <= sh.Max, "the share of %s has %d of %d bytes", sh.Name, sh.Used, sh.Max)
			if sh.Name == share {
				bytes += sh.Used
			}
		}
	}
	return commits, bytes
}

// Each row is driven at its limit for a minute: no more requests are permitted, and what they write stays
// within their transactions and bytes, and the shares within theirs.
func TestWrites_drivenAtLimit(t *testing.T) {
	t.Parallel()
	drives := map[string]func(v *driver) drive{
		"announcements": (*driver).announce, "ends of announcements": (*driver).cancel, "sounds": (*driver).install,
		"volume, quiet, schedules, favorites": (*driver).favor, "sign-ins": (*driver).signIn,
		"local accounts": (*driver).signUp, "renewals of sessions": (*driver).renew,
		"changes of an account": (*driver).endSessions, "games": (*driver).create, "line-ups": (*driver).reorder,
		"leagues and series": (*driver).found, "commands of games and leagues": (*driver).join,
		"administration": (*driver).invite, "guests": (*driver).admit,
	}
	for _, row := range limits.Writes() {
		if len(row.Routes) == 0 || row.Name == "other changes" {
			continue // the sockets of games have a test of their own
		}
		t.Run(row.Name, func(t *testing.T) {
			check.Require(t, drives[row.Name] != nil, "nothing drives %s", row.Name)
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { driveRow(t, row, drives[row.Name]) })
		})
	}
}

func driveRow(t *testing.T, row limits.Write, start func(v *driver) drive) {
	t.Helper()
	control := func(c *site.Config) { c.ControlAccess = web.ControlLAN }
	changes, player := []func(*site.Config){webtest.WithTeams, control}, (*webtest.Rig).Player
	if row.Rate == 0 { // local accounts: each one of a client waits twice as long as the one before
		changes = append(changes, webtest.WithLocalAccounts(auth.SignUpOpen, authtest.NewHost()))
		player = (*webtest.Rig).LocalPlayer
		row.Per, row.Burst = time.Minute, 4
	}
	r := webtest.NewGamesRig(t, changes...)
	v := &driver{player(r, t, "Anna"), player(r, t, "Bob")}
	check.Run(t, func(ctx context.Context) error { // the announcements are spoken
		for {
			select {
			case r.Release <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
		}
	})
	d := start(v)
	time.Sleep(2 * time.Minute) // the allowances of a minute are whole again
	commits, bytes := v.usage(row.Share)
	sent, permitted, most := 0, 0, row.Burst+int(float64(row.Rate)*time.Minute.Seconds()/row.Per.Seconds())
	statuses, largest, before := map[int]int{}, int64(0), bytes
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		answer := d(sent)
		sent++
		check.Require(t, permitted <= 2*most, "request %d of a minute is permitted, want at most %d", permitted, most)
		if answer.StatusCode == http.StatusTooManyRequests {
			time.Sleep(time.Second / 4)
			continue
		}
		check.Require(t, answer.StatusCode < 500 || answer.StatusCode == http.StatusServiceUnavailable,
			"%s: %d %s", answer.Request.URL, answer.StatusCode, answer.Text)
		permitted++
		_, now := v.usage(row.Share)
		largest, before = max(largest, now-before), now
		statuses[answer.StatusCode]++
	}
	synctest.Wait()
	written, grown := v.usage(row.Share)
	written, grown = written-commits, grown-bytes
	t.Logf("%d of %d requests permitted, %d transactions, %d bytes, %d of one; %v",
		permitted, sent, written, grown, largest, statuses)
	check.That(t, permitted <= most && permitted >= most-2, "%d requests permitted, want %d", permitted, most)
	check.That(t, written <= uint64(most*row.Syncs) && largest <= row.Bytes,
		"%d transactions of %d requests and %d bytes of one, want at most %d of each, and %d bytes",
		written, most, largest, row.Syncs, row.Bytes)
}

// send returns a drive of requests.
func (v *driver) send(request func(i int) (method, path, body string)) drive {
	return func(i int) webtest.Page {
		method, path, body := request(i)
		headers := []string{"Sec-Fetch-Site", "same-origin", "Idempotency-Key", fmt.Sprint(i)}
		if body != "" {
			headers = append(headers, "Content-Type", webtest.AsJSON)
		}
		return v.Send(method, path, body, headers...)
	}
}

// long is the longest message in its longest stored form.
var long = strings.Repeat("<", 5000)

func (v *driver) announce() drive {
	body := check.Must(json.Marshal(map[string]string{"message": long}))(v.T)
	return v.send(func(int) (string, string, string) { return "POST", "/notify", string(body) })
}

func (v *driver) admit() drive {
	var codes []string
	for range auth.MaxGuestsEach {
		id := v.CreateGame(`{}`).ID
		codes = append(codes, v.Ask("POST", "/api/games/"+id+"/guest", "", 201, nil).Field("code"))
	}
	return v.send(func(i int) (string, string, string) {
		return "POST", "/api/auth/guest", fmt.Sprintf(`{"code": %q, "name": "Mia"}`, codes[i%len(codes)])
	})
}

func (v *driver) install() drive {
	var file bytes.Buffer
	check.NoError(v.T, audio.WriteWAV(&file, audio.Clip{Rate: 24000, Samples: make([]float32, 2400)}))
	return v.send(func(i int) (string, string, string) {
		return "PUT", fmt.Sprintf("/sounds/s%d", i%10), file.String()
	})
}

func (v *driver) cancel() drive {
	var ids []string
	for range 50 {
		ids = append(ids, v.Ask("POST", "/notify", `{"message": "x", "in": 43200}`, 202, nil).Field("id"))
	}
	return v.send(func(i int) (string, string, string) { return "DELETE", "/notify/" + ids[i%len(ids)], "" })
}

// favor replaces the favorites by others of the largest size.
func (v *driver) favor() drive {
	return v.send(func(i int) (string, string, string) {
		messages := []string{fmt.Sprintf(`{"message": "%d"}`, i)}
		for range 12 {
			messages = append(messages, `{"message": "`+long+`"}`)
		}
		return "PUT", "/favorites", `{"favorites": [` + strings.Join(messages, ",") + `]}`
	})
}

func (v *driver) signIn() drive {
	return func(int) webtest.Page {
		begun := v.Get("/api/auth/idp/login")
		if begun.StatusCode == http.StatusFound {
			v.Callback(begun.Query("state"), "code "+auth.NewSecret()).Want(http.StatusSeeOther)
		}
		return begun
	}
}

// signUp creates accounts whose sign-ins have begun before.
func (v *driver) signUp() drive {
	var forms []string
	for range 20 {
		forms = append(forms, v.LocalForm())
	}
	return func(i int) webtest.Page {
		form, name := forms[i%len(forms)], fmt.Sprint("u", i)
		return v.Submit(form, "form", "create", "name", name, "passphrase", webtest.Passphrase)
	}
}

func (v *driver) renew() drive {
	return func(int) webtest.Page { return v.Post("/api/auth/refresh") }
}

func (v *driver) endSessions() drive {
	return v.send(func(i int) (string, string, string) {
		return "DELETE", fmt.Sprint("/api/auth/sessions/", i), ""
	})
}

func (v *driver) create() drive {
	return v.send(func(int) (string, string, string) {
		return "POST", "/api/games", `{"home_team": "BWH", "away_team": "CPR", "options": {}}`
	})
}

// reorder submits line-ups that differ.
func (v *driver) reorder() drive {
	g := v.CreateGame(`{}`)
	text := v.Ask("POST", "/api/games/"+g.ID+"/lineups/home/suggest", "", 200, nil).Text
	var lineup map[string]json.RawMessage
	check.NoError(v.T, json.Unmarshal([]byte(text), &lineup))
	var order []json.RawMessage
	check.NoError(v.T, json.Unmarshal(lineup["batting_order"], &order))
	return v.send(func(i int) (string, string, string) {
		order[i%8], order[8] = order[8], order[i%8]
		lineup["batting_order"] = check.Must(json.Marshal(order))(v.T)
		return "PUT", "/api/games/" + g.ID + "/lineups/home", string(check.Must(json.Marshal(lineup))(v.T))
	})
}

const openSeries = `{"name": "x", "seats": [{"team": "BWH", "manager": "me"}, {"team": "CPR", "manager": "open"}]}`

func (v *driver) found() drive {
	return v.send(func(int) (string, string, string) { return "POST", "/api/series", openSeries })
}

// join joins and leaves another's league.
func (v *driver) join() drive {
	path := "/api/leagues/" + v.other.Ask("POST", "/api/leagues", `{"name": "x", "seats": [
		{"team": "BWH", "manager": "me"}, {"team": "CPR", "manager": "open"}, {"team": "DUN", "manager": "open"}]}`,
		201, nil).Field("id")
	return v.send(func(i int) (string, string, string) {
		return "POST", path + []string{"/join", "/leave"}[i%2], ""
	})
}

func (v *driver) invite() drive {
	t, ok := v.T.(*testing.T)
	check.Require(v.T, ok, "a test")
	promote(t, v.Player)
	return v.send(func(int) (string, string, string) { return "POST", "/api/admin/invites", "" })
}
