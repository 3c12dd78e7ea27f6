package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
)

func soundsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sounds",
		Short: "Administer the sounds that announcements can name",
		Long: "Sounds administers the sounds that announcements can name: \"pressbox say --sound NAME\"\n" +
			"announces one, and --chime NAME, or the settings CHIME and CHIME_URGENT, let it precede the\n" +
			"text." + controlHelp,
	}
	add := &cobra.Command{
		Use:   "add NAME FILE",
		Short: "Install a sound, or replace one",
		Long: "Add installs the sound in a file of at most 10 MB and a minute: WAV, FLAC or MP3; where ffmpeg is\n" +
			"installed on the server also Ogg, Opus, AAC, M4A, AMR and WebM.",
		Example: "  pressbox sounds add doorbell doorbell.mp3",
		Args:    cobra.ExactArgs(2),
	}
	list := &cobra.Command{Use: "list", Short: "List the sounds"}
	remove := &cobra.Command{Use: "remove NAME…", Short: "Remove sounds that nothing names"}
	cmd.AddCommand(
		listOf(list, serverFlag(list, true), "/sounds", "sounds", sound.columns),
		runWith(add, serverFlag(add, true), func(cmd *cobra.Command, c *client.Client, args []string) error {
			return c.PutSound(cmd.Context(), args[0], args[1])
		}),
		removalOf(remove, serverFlag(remove, true), "/sounds", "sound"),
	)
	return cmd
}

// A sound is one that announcements can name.
type sound struct {
	Name      string    `json:"name"`
	Seconds   float64   `json:"seconds"`
	BuiltIn   bool      `json:"built_in"`
	CreatedAt time.Time `json:"created_at"`
}

// columns returns the columns of a list.
func (s sound) columns() []any {
	origin := "built in"
	if !s.BuiltIn {
		origin = s.CreatedAt.Local().Format(time.DateTime)
	}
	return []any{s.Name, fmt.Sprintf("%.1f s", s.Seconds), origin}
}
