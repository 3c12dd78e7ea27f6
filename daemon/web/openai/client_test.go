package openai_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pressbox/auth"
	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

//go:embed testdata/client/client.js
var clientScript string

// tokens implements web.Tokens; one is valid.
type tokens struct{}

func (tokens) NotifyToken(_ context.Context, token string, _ netip.Addr) (auth.APIToken, error) {
	if token != "good" {
		return auth.APIToken{}, errors.New("no such token")
	}
	return auth.APIToken{ID: "1"}, nil
}

// A result is what the client got.
type result struct {
	Models []string
	Model  struct{ ID string }
	Voices json.RawMessage
	Audio  map[string]struct{ Type, Data string }
	Deltas []string
	Last   json.RawMessage

	Failures []string
}

// runClient runs OpenAI's client.
func runClient(t *testing.T, urls ...string) (r result) {
	t.Helper()
	dir := check.Must(filepath.Abs("../../../.build/openai-client"))(t)
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Fatalf("OpenAI's client is not installed, run \"make parts\": %v", err)
	}
	node := filepath.Join(dir, "node_modules", ".bin", "node") // installed if the host's node is too old
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	cmd := exec.Command(node, append([]string{"--input-type=module", "-e", clientScript}, urls...)...)
	cmd.Dir, cmd.Stderr = dir, t.Output()
	check.NoError(t, json.Unmarshal(check.Must(cmd.Output())(t), &r))
	return r
}

// OpenAI's own client lists models and voices, gets speech in every format, and raises its
// own types of errors.
func TestClient(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs OpenAI's client and ffmpeg")
	}
	voices := announcements.VoiceList{Voices: []announcements.Voice{
		{Name: webtest.Voice, Label: "Ballpark"}, {Name: "broken", Error: "x"},
	}}
	usual := webtest.NewRig(t, func(c *site.Config) {
		c.Tokens = tokens{}
		c.Announcements.Voices = func() announcements.VoiceList { return voices }
	})
	// in bursts of 2
	limited := webtest.NewRig(t, func(c *site.Config) { c.Tokens, c.NotifyRate, c.LimitLoopback = tokens{}, 4, true })
	r := runClient(t, usual.ListenTCP(t), limited.ListenTCP(t))

	if !slices.Equal(r.Models, []string{"gpt-4o-mini-tts", "tts-1", "tts-1-hd"}) || r.Model.ID != "tts-1" {
		t.Errorf("models %q, model %q", r.Models, r.Model.ID)
	}
	const list = `[{"id":"en_US-ballpark-medium","name":"Ballpark"}]`
	if want := `{"object":"list","data":` + list + `,"voices":` + list + `}`; string(r.Voices) != want {
		t.Errorf("voices %s, want %s", r.Voices, want)
	}
	for format, media := range map[string]string{
		"wav": "audio/wav", "pcm": "audio/pcm", "flac": "audio/flac",
		"mp3": "audio/mpeg", "opus": "audio/ogg", "aac": "audio/aac",
	} {
		data := check.Must(base64.StdEncoding.DecodeString(r.Audio[format].Data))(t)
		if got := seconds(t, format, data); got < 0.3 || got > 0.45 || r.Audio[format].Type != media {
			t.Errorf("%s: %.2f s of %s, want 0.3 s of %s", format, got, r.Audio[format].Type, media)
		}
	}
	var pcm []byte
	for _, delta := range r.Deltas {
		pcm = append(pcm, check.Must(base64.StdEncoding.DecodeString(delta))(t)...)
	}
	if got := base64.StdEncoding.EncodeToString(pcm); len(r.Deltas) < 3 || got != r.Audio["pcm"].Data {
		t.Errorf("%d events with %d bytes, want at least 3, with the bytes of the stream without events",
			len(r.Deltas), len(pcm))
	}
	const want = `{"type":"speech.audio.done","usage":{"input_tokens":0,"output_tokens":0,"total_tokens":0}}`
	check.Equal(t, string(r.Last), want, "the last event")
	for i, want := range []string{
		"AuthenticationError 401 invalid_request_error null invalid_token: 401 invalid API token",
		"NotFoundError 404 invalid_request_error null not_found: 404 not found",
		"NotFoundError 404 invalid_request_error null not_found: 404 not found",
		"BadRequestError 400 invalid_request_error null not_json: 400 ",
		"UnprocessableEntityError 422 invalid_request_error speed out_of_range: 422 must be at most 4",
		"UnprocessableEntityError 422 invalid_request_error voice unknown_voice: 422 ",
		"RateLimitError 429 rate_limit_error null too_many_requests: 429 too many requests from this address",
	} {
		if got := r.Failures[i]; !strings.HasPrefix(got, want) {
			t.Errorf("error %d: %s, want %s", i, got, want)
		}
	}
}

// seconds returns the duration of speech, as ffmpeg decodes it.
func seconds(t *testing.T, format string, data []byte) float64 {
	t.Helper()
	input := map[string]string{"pcm": "-f s16le -ar 24000 -ac 1", "opus": "-f ogg"}[format]
	if input == "" {
		input = "-f " + format
	}
	arguments := slices.Concat([]string{"-nostdin", "-loglevel", "error"},
		strings.Fields(input), strings.Fields("-i pipe:0 -f s16le -ar 24000 -ac 1 pipe:1"))
	cmd := exec.Command("ffmpeg", arguments...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(data), t.Output()
	return float64(len(check.Must(cmd.Output())(t))) / 2 / 24000
}
