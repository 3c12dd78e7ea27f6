package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
	"pressbox/daemon/exitcode"
	"pressbox/daemon/mdns"
	"pressbox/daemon/settings"
	"pressbox/daemon/setup"
	"pressbox/daemon/setup/card"
	"pressbox/daemon/trust"
	"pressbox/voice/announce"
)

// backupFile is the backup on the boot partition that the first start restores.
const backupFile = "pressbox-backup"

func (p Program) firstStartCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "first-start DIRECTORY",
		Short: "Apply pressbox.txt and restore pressbox-backup of a boot partition",
		Long: "First-start is for the image, before the server starts, as root. It sets up the host as\n" +
			"DIRECTORY/" + setup.CardFile + " says, restores the backup DIRECTORY/" +
			backupFile + ", and renames both, so\n" +
			"that neither is applied twice. Invalid lines are skipped; \"pressbox hello\" announces them.",
		Args: cobra.ExactArgs(1),
	}
	root, config := rootFlag(cmd), stateDirFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s := root()
		if err := s.RequireRoot("first-start " + args[0]); err != nil {
			return err
		}
		text, err := readCard(filepath.Join(args[0], setup.CardFile))
		absent := errors.Is(err, fs.ErrNotExist)
		if err != nil && !absent {
			return err
		}
		c, problems := card.Parse(text)
		problems = append(problems, s.ApplyCard(c)...)
		host, err := config()
		if err != nil {
			return err
		}
		if err := restoreCard(cmd, host, filepath.Join(args[0], backupFile)); err != nil {
			problems = append(problems, card.Problem{Text: fmt.Sprintf("the backup was not restored: %v", err)})
		}
		if err := applyAdminCode(cmd, host, c.AdminCode); err != nil {
			problems = append(problems, card.Problem{Text: fmt.Sprintf("the administrator code was not set: %v", err)})
		}
		for _, problem := range problems {
			cmd.PrintErrln("pressbox:", problem)
		}
		if absent {
			return s.Report(problems)
		}
		return s.PutAside(args[0], text, problems)
	}
	return cmd
}

// adminCodeCommand returns the command by which the first start sets the code in the standard input.
func (p Program) adminCodeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:    "admin-code",
		Short:  "Set the administrator code",
		Args:   cobra.NoArgs,
		Hidden: true,
	}
	return runWith(cmd, p.administer(cmd), func(cmd *cobra.Command, c *client.Client, _ []string) error {
		code, err := io.ReadAll(cmd.InOrStdin())
		if err != nil {
			return err
		}
		return c.Send(cmd.Context(), http.MethodPut, "/admin/code", map[string]string{"code": string(code)})
	})
}

// applyAdminCode sets the administrator code of a card, if it has one.
func applyAdminCode(cmd *cobra.Command, host settings.Host, code string) error {
	if code == "" {
		return nil
	}
	return asOwner(cmd, host, strings.NewReader(code), io.Discard, "admin-code")
}

// readCard reads a file up to a byte beyond the limit of its size.
func readCard(path string) (text []byte, err error) {
	f, err := os.Open(path) //nolint:gosec // the administrator names it
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, card.MaxSize+1))
}

// restoreCard restores a backup, if it exists, and renames it.
func restoreCard(cmd *cobra.Command, host settings.Host, backup string) error {
	from, err := trust.Open(backup)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = restore(cmd, host, from)
		err = errors.Join(err, from.Close())
	}
	ending := ".restored"
	if err != nil {
		ending = ".rejected"
	}
	return errors.Join(err, os.Rename(backup, backup+ending))
}

func helloCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hello",
		Short: "Announce that Pressbox is ready, and its name on the network",
		Long: "Hello announces \"Pressbox is ready. Open NAME dot local.\", with the name by which Avahi\n" +
			"makes this host known, and the lines of pressbox.txt that the first start did not apply. It waits\n" +
			"until that has been played.\n\n" + exitcode.Help,
		Args: cobra.NoArgs,
	}
	return runWith(cmd, serverFlag(cmd, true), func(cmd *cobra.Command, c *client.Client, _ []string) error {
		name, err := localName(cmd.Context())
		if err != nil {
			return err
		}
		report, err := os.ReadFile(setup.ReportFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		said := announce.Content{Message: greeting(name, string(report))}
		return request(cmd, c, announce.AnnouncementRequest{Payload: announce.Payload{Content: said}}, true)
	})
}

// localName returns the name of this host on the local network: Avahi's, else its own.
func localName(ctx context.Context) (string, error) {
	own, err := mdns.Addresses()
	if err != nil {
		return "", err
	}
	if name, err := mdns.HostName(ctx, mdns.Socket, own); err == nil {
		return name, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("the name of this host: %w", err)
	}
	name, _, _ = strings.Cut(name, ".")
	return name, nil
}

// maxReported limits how many problems are spoken; the applied file has all.
const maxReported = 5

// greeting returns what "pressbox hello" announces. report has a problem a line.
func greeting(name, report string) string {
	text := "Pressbox is ready. Open " + strings.ReplaceAll(name, "-", " ") + " dot local."
	lines := strings.FieldsFunc(report, func(r rune) bool { return r == '\n' })
	if len(lines) == 0 {
		return text
	}
	text += " Not everything of pressbox dot txt was applied."
	for _, line := range lines[:min(len(lines), maxReported)] {
		text += " " + strings.ToUpper(line[:1]) + line[1:] + "."
	}
	return text
}
