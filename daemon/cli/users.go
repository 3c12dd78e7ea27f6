package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
	"pressbox/daemon/exitcode"
)

func (p Program) usersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "users",
		Short: "Administer accounts",
	}
	cmd.AddCommand(
		p.listUsersCommand(),
		p.changeUserCommand("disable", "Disable an account and end its sessions", map[string]bool{"disabled": true}),
		p.changeUserCommand("enable", "Enable an account again", map[string]bool{"disabled": false}),
		p.adminUserCommand(),
		p.secretCommand(&cobra.Command{
			Use: "reset NAME", Short: "Set a new passphrase for a local account, print it, " +
				"and end the account's sessions",
			Args: cobra.ExactArgs(1),
		}, "/admin/passphrases", func(s secret) string { return s.Passphrase }),
		p.secretCommand(&cobra.Command{
			Use: "invite", Short: "Create an invite for one new account, within a week, and print its link",
			Long: "Create an invite for one new account, within a week, and print its link. " +
				"If no address is known that other hosts reach, print the invite alone.",
			Args: cobra.NoArgs,
		}, "/admin/invites", func(s secret) string { return cmp.Or(s.URL, s.Invite) }),
	)
	return cmd
}

// A user is an account.
type user struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Provider string    `json:"provider"`
	Created  time.Time `json:"created_at"`
	Disabled bool      `json:"disabled"`
	Admin    bool      `json:"admin"`
}

// listUsers returns all accounts.
func listUsers(ctx context.Context, c *client.Client) ([]user, error) {
	var list struct {
		Users []user `json:"users"`
	}
	err := c.Call(ctx, http.MethodGet, "/admin/users", nil, &list)
	return list.Users, err
}

func (p Program) listUsersCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the accounts", Args: cobra.NoArgs}
	administer := p.administer(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return administer(func(ctx context.Context, c *client.Client) error {
			users, err := listUsers(ctx, c)
			if err != nil {
				return err
			}
			return printTable(cmd, users, func(u user) []any {
				var notes []string
				if u.Admin {
					notes = append(notes, "administrator")
				}
				if u.Disabled {
					notes = append(notes, "disabled")
				}
				return []any{u.ID, u.Name, u.Provider, u.Created.Format(time.DateOnly), strings.Join(notes, ", ")}
			})
		})
	}
	return cmd
}

// adminUserCommand returns the command that makes an account an administrator's.
func (p Program) adminUserCommand() *cobra.Command {
	change := map[string]bool{}
	cmd := p.changeUserCommand("admin", "Make an account an administrator's", change)
	cmd.Long += " An administrator's account may use\nthe administration of the page, /admin, " +
		"and change the volume, quiet, schedules and\nfavorites; see CONTROL_ACCESS."
	remove := cmd.Flags().Bool("remove", false, "make it an ordinary account again")
	cmd.PreRun = func(*cobra.Command, []string) { change["admin"] = !*remove }
	return cmd
}

// changeUserCommand returns a command that changes an account.
func (p Program) changeUserCommand(name, short string, change map[string]bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " ID|NAME", Short: short, Args: cobra.ExactArgs(1),
		Long: short + ". The name must be unique.",
	}
	administer := p.administer(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return administer(func(ctx context.Context, c *client.Client) error {
			users, err := listUsers(ctx, c)
			if err != nil {
				return err
			}
			id, err := userID(users, args[0])
			if err != nil {
				return err
			}
			return c.Send(ctx, http.MethodPatch, "/admin/users/"+url.PathEscape(id), change)
		})
	}
	return cmd
}

// userID returns the id of the only account with that id or name.
func userID(users []user, idOrName string) (id string, err error) {
	var ids []string
	for _, u := range users {
		if u.ID == idOrName {
			return u.ID, nil
		}
		if strings.EqualFold(u.Name, idOrName) {
			ids = append(ids, u.ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", exitcode.With(exitcode.Refused, fmt.Errorf("there is no account %q", idOrName))
	case 1:
		return ids[0], nil
	default:
		return "", exitcode.With(exitcode.Refused,
			fmt.Errorf("%d accounts have the name %q: pass one of their ids (%s)",
				len(ids), idOrName, strings.Join(ids, ", ")))
	}
}

// A secret is the response to a request that creates one.
type secret struct {
	Passphrase string `json:"passphrase"`
	Invite     string `json:"invite"`
	URL        string `json:"url"` // of the invite; "" means unknown
}

// secretCommand completes a command that creates a secret, for the name in its argument if
// it has one, and prints what show returns. The server returns it only once.
func (p Program) secretCommand(cmd *cobra.Command, path string, show func(secret) string) *cobra.Command {
	administer := p.administer(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var body any
		if len(args) > 0 {
			body = map[string]string{"name": args[0]}
		}
		return administer(func(ctx context.Context, c *client.Client) error {
			var created secret
			if err := c.Call(ctx, http.MethodPost, path, body, &created); err != nil {
				return notFound("account", strings.Join(args, ""), err)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), show(created))
			return err
		})
	}
	return cmd
}
