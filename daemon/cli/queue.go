package cli

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
)

// A waitingAnnouncement is one of the queue, or one that is scheduled.
type waitingAnnouncement struct {
	client.Report
	Title    string    `json:"title"`
	Message  string    `json:"message"`
	Sound    string    `json:"sound"`
	SpeaksAt time.Time `json:"speaks_at"`
}

// columns returns the columns of a list.
func (a waitingAnnouncement) columns() []any {
	when := a.Status
	if !a.SpeaksAt.IsZero() {
		when = a.SpeaksAt.Local().Format(time.DateTime)
	}
	said := []string{a.Title, a.Message, a.Sound}
	return []any{a.ID, when, strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), ": ")}
}

func queueCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "List the announcements that wait, in the order in which they are spoken",
		Args:  cobra.NoArgs,
	}
	asJSON := cmd.Flags().Bool("json", false, "print the server's response as JSON")
	return runWith(cmd, serverFlag(cmd, true), func(cmd *cobra.Command, c *client.Client, _ []string) error {
		_, err := get(cmd, c, "/notify", *asJSON, func(cmd *cobra.Command, list struct {
			Queue     []waitingAnnouncement `json:"queue"`
			Scheduled []waitingAnnouncement `json:"scheduled"`
		},
		) error {
			return printTable(cmd, slices.Concat(list.Queue, list.Scheduled), waitingAnnouncement.columns)
		})
		return err
	})
}

func againCommand() *cobra.Command {
	return announcementCommand("again ID", "Speak an announcement once more", "again")
}

func acknowledgeCommand() *cobra.Command {
	return announcementCommand("ack ID", "End the repetitions of an announcement", "ack")
}

// announcementCommand returns a command that does something with an announcement, and prints its state.
func announcementCommand(use, short, action string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1)}
	return runWith(cmd, serverFlag(cmd, true), func(cmd *cobra.Command, c *client.Client, args []string) error {
		var r client.Report
		path := "/notify/" + url.PathEscape(args[0]) + "/" + action
		if err := notFound("announcement", args[0], c.Call(cmd.Context(), http.MethodPost, path, nil, &r)); err != nil {
			return err
		}
		return printf(cmd, "%s %s\n", r.ID, r.Status)
	})
}

func roomsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "rooms", Short: "List the rooms that announcements can be sent to"}
	type room struct {
		Name   string `json:"name"`
		Here   bool   `json:"here"`
		Online bool   `json:"online"`
	}
	return listOf(cmd, serverFlag(cmd, true), "/rooms", "rooms", func(r room) []any {
		state := "offline"
		switch {
		case r.Here:
			state = "here"
		case r.Online:
			state = "online"
		}
		return []any{r.Name, state}
	})
}

func favoritesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "favorites", Short: "List and announce the favorites of the page"}
	list := &cobra.Command{Use: "list", Short: "List the favorites"}
	type favorite struct {
		ID, Name, Message, Sound string
	}
	announce := &cobra.Command{Use: "announce ID", Short: "Announce a favorite", Args: cobra.ExactArgs(1)}
	cmd.AddCommand(
		listOf(list, serverFlag(list, true), "/favorites", "favorites",
			func(f favorite) []any { return []any{f.ID, f.Name, cmp.Or(f.Message, f.Sound)} }),
		runWith(announce, serverFlag(announce, true), func(cmd *cobra.Command, c *client.Client, args []string) error {
			var r client.Report
			path := "/favorites/" + url.PathEscape(args[0]) + "/announce"
			if err := notFound("favorite", args[0], c.Call(cmd.Context(), http.MethodPost, path, nil, &r)); err != nil {
				return err
			}
			return printf(cmd, "%s %s\n", r.ID, r.Status)
		}),
	)
	return cmd
}
