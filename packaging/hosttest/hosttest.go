//go:build installed || image

package hosttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

// A Client sends requests to the server of a host.
type Client struct {
	http.Client
	URL string
}

// Request sends a request, with further headers, and decodes a successful answer into answer, which a *[]byte receives
// as it is, unless that is nil.
func (c *Client) Request(method, path string, body, answer any, headers ...string) (*http.Response, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if body == nil {
		encoded = nil
	}
	req, err := http.NewRequestWithContext(context.Background(), method, c.URL+path, bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: status %d: %s", method, path, resp.StatusCode, got)
	}
	if raw, ok := answer.(*[]byte); ok {
		*raw = got
	} else if err == nil && answer != nil {
		err = json.Unmarshal(got, answer)
	}
	return resp, err
}

// StartGame signs up an account, whose session the client has from then on, and starts a game of which it manages both
// sides.
func (c *Client) StartGame(t *testing.T) (id string) {
	t.Helper()
	c.Jar = check.Must(cookiejar.New(nil))(t)
	page := check.Must(c.Get(c.URL + "/api/auth/idp/login"))(t)
	form := url.Values{"form": {"create"}, "name": {"Manager"}, "passphrase": {"a dog in a boat"}}
	signedIn := check.Must(c.PostForm(page.Request.URL.String(), form))(t)
	check.NoError(t, errors.Join(page.Body.Close(), signedIn.Body.Close()))
	var teams struct{ Teams []struct{ ID string } }
	check.Must(c.Request("GET", "/api/teams", nil, &teams))(t)
	var game struct{ ID, Status string }
	check.Must(c.Request("POST", "/api/games", map[string]any{
		"home_team": teams.Teams[0].ID, "away_team": teams.Teams[1].ID,
		"options": map[string]any{"opponent": "hotseat"},
	}, &game))(t)
	for _, side := range []string{"home", "away"} {
		path := "/api/games/" + game.ID + "/lineups/" + side
		var lineup json.RawMessage
		check.Must(c.Request("POST", path+"/suggest", struct{}{}, &lineup))(t)
		check.Must(c.Request("PUT", path, lineup, &game))(t)
	}
	check.Require(t, game.Status == "active", "with both line-ups the game is %s", game.Status)
	return game.ID
}

// SourcesFile is apt's file of the repository on a host, and UpdateCommand has apt read this source alone, as the
// host has no other one within reach.
const (
	SourcesFile   = "/etc/apt/sources.list.d/pressbox.sources"
	UpdateCommand = "apt-get update --quiet=2 --error-on=any -o Dir::Etc::SourceList=sources.list.d/pressbox.sources " +
		"-o Dir::Etc::SourceParts=- -o APT::Get::List-Cleanup=0"
)

// Publish makes a signed repository of a package in the folder repo below dist, which is served at address, with the
// script packaging/repo/build, and returns the content of [SourcesFile].
func Publish(t *testing.T, deb, dist, address string) (sources []byte) {
	t.Helper()
	home := check.Must(os.MkdirTemp("", "gpg"))(t) //nolint:usetesting // short, for the socket of gpg's agent
	t.Cleanup(func() { check.NoError(t, os.RemoveAll(home)) })
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "GNUPGHOME="+home, "DIST="+dist)
		out, err := cmd.CombinedOutput()
		check.Require(t, err == nil, "%q: %v\n%s", args, err, out)
		return string(out)
	}
	run("cp", deb, dist)
	_, created, _ := strings.Cut(run("gpg", "--batch", "--quiet", "--passphrase", "", "--status-fd", "1",
		"--quick-gen-key", "releaser@example.org", "ed25519", "sign", "never"), "KEY_CREATED P ")
	run(filepath.Join(check.Root(t), "packaging/repo/build"), strings.Fields(created)[0], address)
	run("gpgconf", "--kill", "all")
	return check.Must(os.ReadFile(filepath.Join(dist, "repo/pressbox.sources")))(t)
}
