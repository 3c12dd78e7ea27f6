package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pressbox/audio"
	"pressbox/daemon/client"
	"pressbox/daemon/exitcode"
	"pressbox/store/atomicfile"
)

func sayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "say [flags] TEXT...",
		Short: "Announce a text",
		Long: "Say creates an announcement. With \"-\" as the text, it is read from the standard input.\n" +
			"On the server's host, root, the user pressbox and the group adm need neither a token nor\n" +
			"NOTIFY_ACCESS: say uses the administrator's socket. Others use the port.\n\n" +
			exitcode.Help,
		Example: "  pressbox say Dinner is ready.\n  pressbox say --urgent --wait \"The oven is on fire!\"\n" +
			"  fortune | pressbox say --out fortune.wav -",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no text: pass one, or \"-\" to read it from the standard input")
			}
			return nil
		},
	}
	connect := serverFlag(cmd, true)
	var a client.Announcement
	cmd.Flags().StringVar(&a.Voice, "voice", "", "`name` of an installed voice (default the server's)")
	cmd.Flags().IntVar(&a.Rate, "rate", 0, "`words` per minute, 60 to 400 (default the server's)")
	cmd.Flags().BoolVar(&a.Urgent, "urgent", false, "play it before others, and louder")
	cmd.Flags().IntVar(&a.TTL, "ttl", 0, "`seconds` after which it expires (default the server's)")
	cmd.Flags().StringVar(&a.Room, "room", "", "`names` of rooms, separated by commas, or all (default the server's)")
	wait := cmd.Flags().Bool("wait", false, "wait until it has been played")
	out := cmd.Flags().String("out", "", "write the speech to a WAV `file` instead of announcing it")
	show := cmd.Flags().Bool("show", false, "show the text in words and its phonemes instead of announcing it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *show && (*out != "" || a.Urgent || a.TTL != 0 || a.Rate != 0 || a.Room != "" || *wait) {
			return exitcode.With(exitcode.Usage, errors.New("--show can be combined only with --voice"))
		}
		if *out != "" && (a.Urgent || a.TTL != 0 || a.Room != "" || *wait) {
			return exitcode.With(exitcode.Usage, errors.New("--out cannot be combined with --urgent, --ttl, --room and --wait"))
		}
		var err error
		if a.Message, err = message(cmd.InOrStdin(), args); err != nil {
			return err
		}
		c, err := connect()
		if err != nil {
			return err
		}
		if *show {
			return showSpeakable(cmd, c, a)
		}
		if *out != "" {
			return saveSpeech(cmd.Context(), c, a, *out)
		}
		return announce(cmd, c, a, *wait)
	}
	return cmd
}

// announce creates an announcement, waits for its end if wait is set, and prints its state.
func announce(cmd *cobra.Command, c *client.Client, a client.Announcement, wait bool) error {
	r, err := c.Announce(cmd.Context(), a)
	if err == nil && wait {
		r, err = c.Follow(cmd.Context(), r.ID)
	}
	if err != nil {
		return err
	}
	return printReport(cmd.OutOrStdout(), r)
}

// message returns the text in args, or the input for "-".
func message(input io.Reader, args []string) (string, error) {
	if len(args) != 1 || args[0] != "-" {
		return strings.Join(args, " "), nil
	}
	text, err := io.ReadAll(input)
	if err != nil {
		return "", fmt.Errorf("read the text: %w", err)
	}
	return string(text), nil
}

func printReport(w io.Writer, r client.Report) error {
	switch {
	case r.Status == "done":
		_, err := fmt.Fprintln(w, r.ID, "played")
		return err
	case r.Ended():
		return exitcode.With(exitcode.NotPlayed, fmt.Errorf("%s was not played: %s", r.ID, strings.TrimSuffix(r.Status+": "+r.Error, ": ")))
	case r.Position != nil:
		_, err := fmt.Fprintf(w, "%s %s, position %d\n", r.ID, r.Status, *r.Position)
		return err
	default:
		_, err := fmt.Fprintln(w, r.ID, r.Status)
		return err
	}
}

// showSpeakable prints an announcement's message as it would be spoken.
func showSpeakable(cmd *cobra.Command, c *client.Client, a client.Announcement) error {
	s, err := c.Speakable(cmd.Context(), a)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n%d words, %.1f s\n", s.Text, s.Phonemes, s.Words, s.Seconds)
	return err
}

// saveSpeech writes the speech of an announcement to a WAV file, atomically.
func saveSpeech(ctx context.Context, c *client.Client, a client.Announcement, path string) error {
	speech, err := c.Speech(ctx, a)
	if err != nil {
		return err
	}
	if _, err := atomicfile.Write(path, atomicfile.Own(0o644), func(w io.Writer) error { return audio.WriteWAV(w, speech) }, nil); err != nil {
		return fmt.Errorf("write the speech: %w", err)
	}
	return nil
}
