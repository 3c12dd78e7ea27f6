package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pressbox/audio"
	"pressbox/daemon/client"
	"pressbox/daemon/exitcode"
	"pressbox/store/atomicfile"
	"pressbox/voice/announce"
)

func sayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "say [flags] TEXT...|FILE",
		Short: "Announce a text, or a sound",
		Long: "Say creates an announcement. With \"-\" as the text, it is read from the standard input.\n" +
			"A file of sound is announced instead of a text, such as doorbell.wav.\n" +
			"On the server's host, root, the user pressbox and the group adm need neither a token nor\n" +
			"NOTIFY_ACCESS: say uses the administrator's socket. Others use the port.\n\n" +
			exitcode.Help,
		Example: "  pressbox say Dinner is ready.\n  pressbox say --urgent --wait \"The oven is on fire!\"\n" +
			"  fortune | pressbox say --out fortune.wav -\n  pressbox say --sound ding\n  pressbox say doorbell.wav",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !cmd.Flags().Changed("sound") {
				return errors.New("no text: pass one, or \"-\" to read it from the standard input")
			}
			return nil
		},
	}
	var a announce.AnnouncementRequest
	a.Repeat = &announce.Repetition{}
	others := append(addFields(cmd, "", reflect.ValueOf(&a).Elem()), "wait", "out", "show")
	wait := cmd.Flags().Bool("wait", false, "wait until it has been played")
	out := cmd.Flags().String("out", "", "write the speech to a WAV `file` instead of announcing it")
	show := cmd.Flags().Bool("show", false, "show the text in words and its phonemes instead of announcing it")
	return runWith(cmd, serverFlag(cmd, true), func(cmd *cobra.Command, c *client.Client, args []string) error {
		if err := onlyWith(cmd, "show", others, "voice"); err != nil {
			return err
		}
		if err := onlyWith(cmd, "out", others, "voice", "rate"); err != nil {
			return err
		}
		if *a.Repeat == (announce.Repetition{}) {
			a.Repeat = nil
		}
		var err error
		if a.Message, err = message(cmd.InOrStdin(), args); err != nil {
			return err
		}
		switch {
		case *show:
			return showSpeakable(cmd, c, a.Content)
		case *out != "":
			return saveSpeech(cmd.Context(), c, a.Content, *out)
		default:
			return request(cmd, c, a, *wait)
		}
	})
}

// isSound reports whether a text is the name of a file of sound.
func isSound(text string) bool {
	formats := []string{".wav", ".flac", ".mp3", ".ogg", ".oga", ".opus", ".aac", ".m4a", ".amr", ".webm"}
	info, err := os.Stat(text)
	return err == nil && info.Mode().IsRegular() && slices.Contains(formats, strings.ToLower(filepath.Ext(text)))
}

// addFields adds a flag for each field of an announcement, except for the message, and returns their names. Those
// of a struct in it have its name before theirs.
func addFields(cmd *cobra.Command, prefix string, of reflect.Value) (names []string) {
	flags := cmd.Flags()
	for _, f := range announce.Fields(of.Type()) {
		name, usage := prefix+strings.ReplaceAll(f.Name, "_", "-"), fieldUsage(f)
		if name == "message" {
			continue
		}
		switch v := of.FieldByIndex(f.Index).Addr().Interface().(type) {
		case *string:
			flags.StringVar(v, name, "", usage)
		case *int:
			flags.IntVar(v, name, 0, usage)
		case *bool:
			flags.BoolVar(v, name, false, usage)
		case *time.Time:
			flags.Func(name, usage, func(text string) error { return v.UnmarshalText([]byte(text)) })
		case *announce.RoomList:
			flags.Func(name, usage, func(names string) error { *v = announce.ParseRooms(names); return nil })
		case **announce.Repetition:
			names = append(names, addFields(cmd, name+"-", reflect.ValueOf(*v).Elem())...)
			continue
		}
		names = append(names, name)
	}
	return names
}

// fieldUsage returns the usage of a field's flag.
func fieldUsage(f announce.Field) string {
	usage := strings.ReplaceAll(f.Tag.Get("help"), "'", "`")
	if least, most, ok := f.Range(); ok {
		usage += fmt.Sprintf(", %d to %d", least, most)
	}
	if enum := f.Enum(); len(enum) > 0 {
		usage += ": " + strings.Join(enum, ", ")
	}
	return usage
}

// onlyWith returns an error if a flag is given together with one of the others that is not allowed.
func onlyWith(cmd *cobra.Command, flag string, others []string, allowed ...string) error {
	for _, other := range others {
		conflict := other != flag && !slices.Contains(allowed, other)
		if conflict && cmd.Flags().Changed(flag) && cmd.Flags().Changed(other) {
			with := strings.Join(allowed, " and --")
			err := fmt.Errorf("--%s can be combined only with --%s, not with --%s", flag, with, other)
			return exitcode.With(exitcode.Usage, err)
		}
	}
	return nil
}

// request creates an announcement, waits for its end if wait is set, and prints its state.
func request(cmd *cobra.Command, c *client.Client, a announce.AnnouncementRequest, wait bool) error {
	var r client.Report
	var err error
	if isSound(a.Message) {
		file := a.Message
		a.Message = ""
		r, err = c.AnnounceSound(cmd.Context(), a, file)
	} else {
		r, err = c.Announce(cmd.Context(), a)
	}
	for _, warning := range r.Warnings {
		cmd.PrintErrln("pressbox:", warning)
	}
	if err == nil && wait {
		r, err = c.Follow(cmd.Context(), r.ID)
	}
	if err != nil {
		return err
	}
	return printReport(cmd, r)
}

// maxInput is more than any text that the server accepts.
const maxInput = 1 << 20

// message returns the text in args, or the input for "-".
func message(input io.Reader, args []string) (string, error) {
	if len(args) != 1 || args[0] != "-" {
		return strings.Join(args, " "), nil
	}
	text, err := io.ReadAll(io.LimitReader(input, maxInput))
	if err != nil {
		return "", fmt.Errorf("read the text: %w", err)
	}
	return string(text), nil
}

func printReport(cmd *cobra.Command, r client.Report) error {
	switch {
	case r.Status == "done":
		return printf(cmd, "%s played\n", r.ID)
	case r.Ended():
		reason := strings.TrimSuffix(r.Status+": "+cmp.Or(r.Error, r.Reason), ": ")
		return exitcode.With(exitcode.NotPlayed, fmt.Errorf("%s was not played: %s", r.ID, reason))
	case r.Position != nil:
		return printf(cmd, "%s %s, position %d\n", r.ID, r.Status, *r.Position)
	default:
		return printf(cmd, "%s %s\n", r.ID, r.Status)
	}
}

// showSpeakable prints an announcement's message as it would be spoken.
func showSpeakable(cmd *cobra.Command, c *client.Client, a announce.Content) error {
	s, err := c.Speakable(cmd.Context(), a)
	if err != nil {
		return err
	}
	return printf(cmd, "%s\n%s\n%d words, %.1f s\n", s.Text, s.Phonemes, s.Words, s.Seconds)
}

// saveSpeech writes the speech of an announcement to a WAV file, atomically.
func saveSpeech(ctx context.Context, c *client.Client, a announce.Content, path string) error {
	speech, err := c.Speech(ctx, a)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return audio.WriteWAV(w, speech) }
	if _, err := atomicfile.Write(path, atomicfile.Own(0o644), write, nil); err != nil {
		return fmt.Errorf("write the speech: %w", err)
	}
	return nil
}
