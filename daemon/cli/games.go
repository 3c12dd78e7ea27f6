package cli

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
	"pressbox/daemon/exitcode"
	"pressbox/game/history"
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
	return listOf(cmd, p.administer(cmd), "/admin/games", "games", func(g game) []any {
		return []any{
			g.ID, g.Created.Format(time.DateOnly), g.Status, visibility(g.Private), g.Away + " at " + g.Home, g.Creator,
		}
	})
}

func (p Program) removeGamesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove ID…", Short: "Delete games, whatever their status",
		Long: "Delete games, whatever their status. Players and watchers of a game are disconnected from it.",
	}
	return removalOf(cmd, p.administer(cmd), "/admin/games", "game")
}

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
	return listOf(cmd, p.administer(cmd), "/admin/leagues", "leagues", func(l league) []any {
		return []any{
			l.ID, l.Created.Format(time.DateOnly), l.Kind, l.Status, visibility(l.Private), l.Name, l.Creator,
			l.Stalled,
		}
	})
}

func (p Program) removeLeaguesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove ID…", Short: "Delete series and leagues, whatever their status",
		Long: "Delete series and leagues, whatever their status. Their games are not deleted.",
	}
	return removalOf(cmd, p.administer(cmd), "/admin/leagues", "league")
}

func (p Program) teamsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "teams",
		Short: "Administer the clubs of real seasons",
		Long: "Administer the clubs of real seasons. They stand beside the built-in league or that of TEAM_DATA_URL; " +
			"their season is the year.",
	}
	cmd.AddCommand(p.importTeamsCommand(), p.listTeamsCommand(), p.removeTeamsCommand())
	return cmd
}

// An importedSeason is a season that was imported.
type importedSeason struct {
	Season   int      `json:"season"`
	Clubs    int      `json:"clubs"`
	Games    int      `json:"games"`
	Rejected []string `json:"rejected"`
	Notice   string   `json:"notice"`
}

func (p Program) importTeamsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import DIRECTORY|ZIP", Short: "Import the clubs of a season from Retrosheet's files",
		Args: cobra.ExactArgs(1),
		Long: "Import the clubs of a season from Retrosheet's files, " +
			"a directory or a zip file with the list of teams (TEAM2020), " +
			"the rosters (ANA2020.ROS) and the event files (2020ANA.EVA), at most 64 MiB unpacked. " +
			"Players are rated by what they did. " +
			"A season of the same year is replaced; games that were created keep their players.",
	}
	administer := p.administer(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		archive, err := readArchive(args[0])
		if err != nil {
			return exitcode.With(exitcode.Usage, err)
		}
		return administer(func(c *client.Client) error {
			var s importedSeason
			if err := c.Call(cmd.Context(), http.MethodPost, "/admin/teams", archive, &s); err != nil {
				return err
			}
			for _, reason := range s.Rejected {
				cmd.PrintErrln("pressbox: not replayed:", reason)
			}
			return printf(cmd,
				"%d: %d clubs, from %d games\n\n%s\n", s.Season, s.Clubs, s.Games, s.Notice)
		})
	}
	return cmd
}

// readArchive returns a zip file, or the Retrosheet files of a directory as one.
func readArchive(path string) (client.Archive, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		data, err := os.ReadFile(path) //nolint:gosec // the user names it
		return data, err
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	err = fs.WalkDir(os.DirFS(path), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !history.IsFile(name) {
			return err
		}
		data, err := os.ReadFile(filepath.Join(path, name)) //nolint:gosec // the user names the directory
		if err != nil {
			return err
		}
		w, err := z.Create(name)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, fmt.Errorf("pack %s: %w", path, err)
	}
	return out.Bytes(), nil
}

func (p Program) listTeamsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the imported seasons"}
	return listOf(cmd, p.administer(cmd), "/admin/teams", "seasons", func(s importedSeason) []any {
		return []any{s.Season, strconv.Itoa(s.Clubs) + " clubs", strconv.Itoa(s.Games) + " games"}
	})
}

func (p Program) removeTeamsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove SEASON…", Short: "Delete imported seasons",
		Long: "Delete imported seasons. Games that were created keep their players.",
	}
	return removalOf(cmd, p.administer(cmd), "/admin/teams", "imported season")
}
