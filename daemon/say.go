package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pressbox/audio"
)

// patience is for how long a daemon that is being followed may be away.
const patience = 30 * time.Second

// An announcement is a request to announce, and what the daemon says of it.
type announcement struct {
	Message string `json:"message"`
	Voice   string `json:"voice,omitempty"`
	Rate    int    `json:"rate,omitempty"`
	Urgent  bool   `json:"urgent,omitempty"`
	TTL     int    `json:"ttl,omitempty"` // seconds
}

// A report is the daemon's word about an announcement.
type report struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Position *int   `json:"position"`
	Error    string `json:"error"`
}

func newSayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "say [flags] TEXT...",
		Short: "Announce a text",
		Long: "Say gives a text to the daemon, which speaks it when its turn has come. With \"-\" as\n" +
			"the text it is read from the standard input.\n\n" + exitCodes,
		Example: "  pressbox say Dinner is ready.\n  pressbox say --urgent --wait \"The oven is on fire!\"\n" +
			"  fortune | pressbox say --out fortune.wav -",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("nothing to say: give a text, or \"-\" to read it from the standard input")
			}
			return nil
		},
	}
	connect := useClient(cmd)
	var a announcement
	cmd.Flags().StringVar(&a.Voice, "voice", "", "`name` of an installed voice (default the daemon's)")
	cmd.Flags().IntVar(&a.Rate, "rate", 0, "`words` per minute, 60 to 400 (default the daemon's)")
	cmd.Flags().BoolVar(&a.Urgent, "urgent", false, "speak before the others, and louder")
	cmd.Flags().IntVar(&a.TTL, "ttl", 0, "`seconds` after which it is too late to speak it (default the daemon's)")
	wait := cmd.Flags().Bool("wait", false, "wait until it has been spoken")
	out := cmd.Flags().String("out", "", "write the speech into a WAV `file` instead of announcing it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		if *out != "" && (a.Urgent || a.TTL != 0 || *wait) {
			return &exitError{exitUsage, errors.New("--out announces nothing: it does not go with --urgent, --ttl and --wait")}
		}
		var err error
		if a.Message, err = spokenText(cmd.InOrStdin(), args); err != nil {
			return err
		}
		c, err := connect()
		if err != nil {
			return err
		}
		if *out != "" {
			return c.saveSpeech(ctx, a, *out)
		}
		var r report
		if err := c.call(ctx, http.MethodPost, "/notify", a, &r); err != nil {
			return err
		}
		if *wait {
			if r, err = c.follow(ctx, r.ID); err != nil {
				return err
			}
		}
		return printReport(cmd.OutOrStdout(), r)
	}
	return cmd
}

// spokenText is the text that the arguments are, or the input for "-".
func spokenText(input io.Reader, args []string) (string, error) {
	if len(args) != 1 || args[0] != "-" {
		return strings.Join(args, " "), nil
	}
	text, err := io.ReadAll(input)
	if err != nil {
		return "", fmt.Errorf("read the text: %w", err)
	}
	return string(text), nil
}

func printReport(w io.Writer, r report) error {
	switch {
	case r.Status == "done":
		_, err := fmt.Fprintln(w, r.ID, "spoken")
		return err
	case r.ended():
		return &exitError{exitUnspoken, fmt.Errorf("%s was not spoken: %s", r.ID, strings.TrimSuffix(r.Status+": "+r.Error, ": "))}
	case r.Position != nil:
		_, err := fmt.Fprintf(w, "%s %s, %d before it\n", r.ID, r.Status, *r.Position)
		return err
	default:
		_, err := fmt.Fprintln(w, r.ID, r.Status)
		return err
	}
}

func (r report) ended() bool {
	return r.Status == "done" || r.Status == "failed" || r.Status == "cancelled" || r.Status == "expired"
}

// follow returns the last report of an announcement, once it has ended. A
// daemon that restarts meanwhile is waited for.
func (c *client) follow(ctx context.Context, id string) (report, error) {
	const pause = 500 * time.Millisecond
	away := time.Duration(0)
	for {
		r, seen, err := c.followOnce(ctx, id)
		if seen {
			away = 0
		}
		exit, ok := errors.AsType[*exitError](err)
		refused := ok && exit.code == exitRefused
		if err == nil || refused || ctx.Err() != nil || away >= patience {
			return r, err
		}
		select {
		case <-time.After(pause):
			away += pause
		case <-ctx.Done():
		}
	}
}

// followOnce follows an announcement for as long as the daemon stays; seen
// says whether it was there at all.
func (c *client) followOnce(ctx context.Context, id string) (r report, seen bool, err error) {
	events, err := c.open(ctx, http.MethodGet, "/events", nil)
	if err != nil {
		return r, false, err
	}
	defer events.Body.Close()
	// Asked after the events were opened, so that no end falls between them.
	if err := c.call(ctx, http.MethodGet, "/notify/"+id, nil, &r); err != nil || r.ended() {
		return r, true, err
	}
	lines := bufio.NewScanner(events.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		var next report
		if err := json.Unmarshal([]byte(data), &next); err != nil {
			return r, true, fmt.Errorf("read an event: %w", err)
		}
		if next.ID == id && next.ended() {
			return next, true, nil
		}
	}
	if ctx.Err() != nil {
		return r, true, errInterrupted
	}
	return r, true, c.unreachable(errors.Join(io.ErrUnexpectedEOF, lines.Err()))
}

// saveSpeech writes the speech of an announcement into a WAV file, which is
// there only once it is whole.
func (c *client) saveSpeech(ctx context.Context, a announcement, path string) error {
	body := map[string]any{"input": a.Message, "voice": a.Voice, "response_format": "wav"}
	if a.Rate != 0 {
		body["rate"] = a.Rate
	}
	resp, err := c.open(ctx, http.MethodPost, "/v1/audio/speech", body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	speech, err := audio.DecodeWAV(resp.Body) // a stream does not say how long it is; a file does
	if err != nil {
		return fmt.Errorf("read the speech: %w", err)
	}
	if err := writeSpeech(path, speech); err != nil {
		return fmt.Errorf("write the speech: %w", err)
	}
	return nil
}

func writeSpeech(path string, speech audio.Clip) error {
	part, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) //nolint:errcheck // after the rename there is none
	if err := errors.Join(audio.WriteWAV(part, speech), part.Chmod(0o644), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), path)
}
