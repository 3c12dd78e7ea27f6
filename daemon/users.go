package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

func newUsersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "users",
		Short: "Administer the accounts of people",
	}
	cmd.AddCommand(
		newUsersListCommand(),
		newUsersDisableCommand("disable", "Shut an account out, at once and everywhere", true),
		newUsersDisableCommand("enable", "Let an account in again", false),
		newUsersSecretCommand(&cobra.Command{
			Use: "reset NAME", Short: "Give an account of this appliance a new passphrase, print it, and end its sessions",
			Args: cobra.ExactArgs(1),
		}, "/admin/passphrases", "passphrase"),
		newUsersSecretCommand(&cobra.Command{
			Use: "invite", Short: "Make an invite and print it: one new account, within a week",
			Args: cobra.NoArgs,
		}, "/admin/invites", "invite"),
	)
	return cmd
}

// A listedUser is an account as the daemon lists it.
type listedUser struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Provider string    `json:"provider"`
	Created  time.Time `json:"created_at"`
	Disabled bool      `json:"disabled"`
}

// listUsers asks for all accounts.
func (c *client) listUsers(ctx context.Context) ([]listedUser, error) {
	var list struct {
		Users []listedUser `json:"users"`
	}
	err := c.call(ctx, http.MethodGet, "/admin/users", nil, &list)
	return list.Users, err
}

func newUsersListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the accounts", Args: cobra.NoArgs}
	administer := useAdministration(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return administer(func(ctx context.Context, c *client) error {
			users, err := c.listUsers(ctx)
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, u := range users {
				note := ""
				if u.Disabled {
					note = "disabled"
				}
				if _, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", u.ID, u.Name, u.Provider, u.Created.Format(time.DateOnly), note); err != nil {
					return err
				}
			}
			return table.Flush()
		})
	}
	return cmd
}

func newUsersDisableCommand(name, short string, disabled bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " ID|NAME", Short: short, Args: cobra.ExactArgs(1),
		Long: short + ". A name serves where only one account has it.",
	}
	administer := useAdministration(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return administer(func(ctx context.Context, c *client) error {
			users, err := c.listUsers(ctx)
			if err != nil {
				return err
			}
			id, err := pick(users, args[0])
			if err != nil {
				return err
			}
			return c.send(ctx, http.MethodPatch, "/admin/users/"+url.PathEscape(id), map[string]bool{"disabled": disabled})
		})
	}
	return cmd
}

// pick is the id of the one account that is meant by an id or a name.
func pick(users []listedUser, meant string) (id string, err error) {
	var ids []string
	for _, u := range users {
		if u.ID == meant {
			return u.ID, nil
		}
		if strings.EqualFold(u.Name, meant) {
			ids = append(ids, u.ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", &exitError{exitRefused, fmt.Errorf("there is no account %q", meant)}
	case 1:
		return ids[0], nil
	default:
		return "", &exitError{exitRefused, fmt.Errorf("%d accounts have the name %q: say which by id (%s)", len(ids), meant, strings.Join(ids, ", "))}
	}
}

// newUsersSecretCommand makes a command that has something made, for the name
// in its argument if it has one, and prints it: it is told once.
func newUsersSecretCommand(cmd *cobra.Command, path, field string) *cobra.Command {
	administer := useAdministration(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var body any
		if len(args) > 0 {
			body = map[string]string{"name": args[0]}
		}
		return administer(func(ctx context.Context, c *client) error {
			made := map[string]string{}
			if err := c.call(ctx, http.MethodPost, path, body, &made); err != nil {
				return missing("account", strings.Join(args, ""), err)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), made[field])
			return err
		})
	}
	return cmd
}
