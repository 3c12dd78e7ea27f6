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

func (p Program) leaguesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "leagues",
		Short: "Administer series and leagues",
	}
	cmd.AddCommand(p.listLeaguesCommand(), p.removeLeaguesCommand())
	return cmd
}

// A league is a stored series or league.
type league struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Name    string    `json:"name"`
	Status  string    `json:"status"`
	Creator string    `json:"creator"`
	Private bool      `json:"private"`
	Created time.Time `json:"created_at"`
	Stalled string    `json:"stalled"`
}

func (p Program) listLeaguesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List all series and leagues, listed and private, newest first", Args: cobra.NoArgs}
	administer := p.administer(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return administer(func(ctx context.Context, c *client.Client) error {
			var list struct {
				Leagues []league `json:"leagues"`
			}
			if err := c.Call(ctx, http.MethodGet, "/admin/leagues", nil, &list); err != nil {
				return err
			}
			return printTable(cmd, list.Leagues, func(l league) []any {
				return []any{l.ID, l.Created.Format(time.DateOnly), l.Kind, l.Status, visibility(l.Private), l.Name, l.Creator, l.Stalled}
			})
		})
	}
	return cmd
}

func (p Program) removeLeaguesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove ID…", Short: "Delete series and leagues, whatever their status", Args: cobra.MinimumNArgs(1),
		Long: "Delete series and leagues, whatever their status. Their games are not deleted.",
	}
	administer := p.administer(cmd)
	cmd.RunE = func(_ *cobra.Command, ids []string) error {
		return administer(func(ctx context.Context, c *client.Client) error {
			var first error
			for _, id := range ids {
				err := notFound("league", id, c.Send(ctx, http.MethodDelete, "/admin/leagues/"+url.PathEscape(id), nil))
				first = cmp.Or(first, err)
			}
			return first
		})
	}
	return cmd
}
