package cli

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
)

func (p Program) gamesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "games",
		Short: "Administer games",
	}
	cmd.AddCommand(p.listGamesCommand(), p.removeGamesCommand())
	return cmd
}

// A game is a stored game.
type game struct {
	ID      string    `json:"id"`
	Status  string    `json:"status"`
	Creator string    `json:"creator"`
	Away    string    `json:"away"`
	Home    string    `json:"home"`
	Private bool      `json:"private"`
	Created time.Time `json:"created_at"`
}

func visibility(private bool) string {
	if private {
		return "private"
	}
	return "listed"
}

func (p Program) listGamesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List all games, listed and private, oldest first", Args: cobra.NoArgs}
	administer := p.administer(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return administer(func(ctx context.Context, c *client.Client) error {
			var list struct {
				Games []game `json:"games"`
			}
			if err := c.Call(ctx, http.MethodGet, "/admin/games", nil, &list); err != nil {
				return err
			}
			return printTable(cmd, list.Games, func(g game) []any {
				return []any{g.ID, g.Created.Format(time.DateOnly), g.Status, visibility(g.Private), g.Away + " at " + g.Home, g.Creator}
			})
		})
	}
	return cmd
}

func (p Program) removeGamesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove ID…", Short: "Delete games, whatever their status", Args: cobra.MinimumNArgs(1),
		Long: "Delete games, whatever their status. Players and watchers of a game are disconnected from it.",
	}
	administer := p.administer(cmd)
	cmd.RunE = func(_ *cobra.Command, ids []string) error {
		return administer(func(ctx context.Context, c *client.Client) error {
			var first error
			for _, id := range ids {
				err := notFound("game", id, c.Send(ctx, http.MethodDelete, "/admin/games/"+url.PathEscape(id), nil))
				first = cmp.Or(first, err)
			}
			return first
		})
	}
	return cmd
}
