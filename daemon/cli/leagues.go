package cli

import (
	"time"

	"github.com/spf13/cobra"
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
	cmd := &cobra.Command{Use: "list", Short: "List all series and leagues, listed and private, newest first"}
	return listOf(p, cmd, "/admin/leagues", "leagues", func(l league) []any {
		return []any{
			l.ID, l.Created.Format(time.DateOnly), l.Kind, l.Status, visibility(l.Private), l.Name, l.Creator,
			l.Stalled,
		}
	})
}

func (p Program) removeLeaguesCommand() *cobra.Command {
	return p.removalOf(&cobra.Command{
		Use: "remove ID…", Short: "Delete series and leagues, whatever their status",
		Long: "Delete series and leagues, whatever their status. Their games are not deleted.",
	}, "/admin/leagues", "league")
}
