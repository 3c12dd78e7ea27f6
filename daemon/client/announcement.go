package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"pressbox/audio"
	"pressbox/daemon/exitcode"
	"pressbox/voice/announce"
)

// maxAbsence is the time for which [Client.Follow] waits for a server that restarts.
const maxAbsence = 30 * time.Second

// An Announcement is what an announcement says, and how.
type Announcement = announce.Content

// A Report is the state of an announcement.
type Report struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Position *int   `json:"position"`
	Error    string `json:"error"`
	Reason   string `json:"reason"` // why it was not heard

	Warnings []string `json:"warnings"` // of the response to the request
}

// Ended reports whether the announcement's status is final.
func (r Report) Ended() bool {
	return slices.Contains([]string{"done", "failed", "cancelled", "expired", "unheard", "silenced"}, r.Status)
}

// Speaking reports whether the announcement is being made or played.
func (r Report) Speaking() bool { return r.Status == "synthesizing" || r.Status == "playing" }

// Announce creates an announcement.
func (c *Client) Announce(ctx context.Context, a announce.AnnouncementRequest) (Report, error) {
	var r Report
	err := c.Call(ctx, http.MethodPost, "/notify", a, &r)
	return r, err
}

// AnnounceSound announces the sound in a file, with the fields of an announcement.
func (c *Client) AnnounceSound(ctx context.Context, a announce.AnnouncementRequest, path string) (r Report, err error) {
	text, err := json.Marshal(a)
	var fields map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil {
		return r, fmt.Errorf("encode the request: %w", err)
	}
	query := url.Values{}
	for name, value := range fields {
		var plain string
		if json.Unmarshal(value, &plain) != nil {
			plain = string(value)
		}
		if plain != "" {
			query.Set(name, plain)
		}
	}
	err = c.upload(ctx, http.MethodPost, "/notify?"+query.Encode(), path, &r)
	return r, err
}

// PutSound installs the sound in a file under a name.
func (c *Client) PutSound(ctx context.Context, name, path string) error {
	return c.upload(ctx, http.MethodPut, "/sounds/"+url.PathEscape(name), path, new(any))
}

// upload sends the sound in a file.
func (c *Client) upload(ctx context.Context, method, to, path string, response any) error {
	file, err := os.Open(path) //nolint:gosec // of the user who runs this program
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was read
	return c.Call(ctx, method, to, Sound{file}, response)
}

// A Speakable is a message as it would be spoken.
type Speakable struct {
	Text     string  `json:"text"`
	Words    int     `json:"words"`
	Seconds  float64 `json:"seconds"`
	Phonemes string  `json:"phonemes"`
}

// Speakable returns an announcement's message as it would be spoken.
func (c *Client) Speakable(ctx context.Context, a Announcement) (Speakable, error) {
	var s Speakable
	err := c.Call(ctx, http.MethodPost, "/speakable", Announcement{Message: a.Message, Voice: a.Voice}, &s)
	return s, err
}

// maxSpeech limits speech, in bytes: ten minutes at the highest rate have less.
const maxSpeech = 64 << 20

// Speech returns an announcement's speech without announcing it.
func (c *Client) Speech(ctx context.Context, a Announcement) (audio.Clip, error) {
	body := map[string]any{"input": a.Message, "voice": a.Voice, "response_format": "wav"}
	if a.Rate != 0 {
		body["rate"] = a.Rate
	}
	resp, err := c.Open(ctx, http.MethodPost, "/v1/audio/speech", body)
	if err != nil {
		return audio.Clip{}, err
	}
	defer resp.Body.Close()
	speech, err := audio.DecodeWAV(io.LimitReader(resp.Body, maxSpeech))
	if err != nil {
		return audio.Clip{}, fmt.Errorf("read the speech: %w", err)
	}
	return speech, nil
}

// Follow returns the final report of an announcement. It reconnects to a server that
// restarts.
func (c *Client) Follow(ctx context.Context, id string) (Report, error) {
	const pause = 500 * time.Millisecond
	absence := time.Duration(0)
	for {
		r, connected, err := c.followOnce(ctx, id)
		if connected {
			absence = 0
		}
		code, _ := exitcode.Of(err)
		if err == nil || code == exitcode.Refused || ctx.Err() != nil || absence >= maxAbsence {
			return r, err
		}
		select {
		case <-time.After(pause):
			absence += pause
		case <-ctx.Done():
		}
	}
}

// followOnce follows an announcement over one connection; connected reports whether there
// was one.
func (c *Client) followOnce(ctx context.Context, id string) (r Report, connected bool, err error) {
	events, err := c.Open(ctx, http.MethodGet, "/events", nil)
	if err != nil {
		return r, false, err
	}
	defer events.Body.Close()
	// The state is read after the events are open, so that no end is missed between.
	if err := c.Call(ctx, http.MethodGet, "/notify/"+url.PathEscape(id), nil, &r); err != nil || r.Ended() {
		return r, true, err
	}
	lines := bufio.NewScanner(events.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		var next Report
		if err := json.Unmarshal([]byte(data), &next); err != nil {
			return r, true, fmt.Errorf("decode an event: %w", err)
		}
		if next.ID == id && next.Ended() {
			return next, true, nil
		}
	}
	if ctx.Err() != nil {
		return r, true, exitcode.ErrInterrupted
	}
	return r, true, c.unreachable(errors.Join(io.ErrUnexpectedEOF, lines.Err()))
}
