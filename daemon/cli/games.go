package cli

import (
	"time"

	"github.com/spf13/cobra"
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
	cmd := &cobra.Command{Use: "list", Short: "List all games, listed and private, oldest first"}
	return listOf(p, cmd, "/admin/games", "games", func(g game) []any {
		return []any{
			g.ID, g.Created.Format(time.DateOnly), g.Status, visibility(g.Private), g.Away + " at " + g.Home, g.Creator,
		}
	})
}

func (p Program) removeGamesCommand() *cobra.Command {
	return p.removalOf(&cobra.Command{
		Use: "remove ID…", Short: "Delete games, whatever their status",
		Long: "Delete games, whatever their status. Players and watchers of a game are disconnected from it.",
	}, "/admin/games", "game")
}
