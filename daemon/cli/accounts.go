package cli

import (
	"cmp"
	"errors"
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

func (p Program) listUsersCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the accounts"}
	return listOf(cmd, p.administer(cmd), "/admin/users", "users", func(u user) []any {
		var notes []string
		if u.Admin {
			notes = append(notes, "administrator")
		}
		if u.Disabled {
			notes = append(notes, "disabled")
		}
		return []any{u.ID, u.Name, u.Provider, u.Created.Format(time.DateOnly), strings.Join(notes, ", ")}
	})
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
	return runWith(cmd, p.administer(cmd), func(cmd *cobra.Command, c *client.Client, args []string) error {
		var list struct {
			Users []user `json:"users"`
		}
		if err := c.Call(cmd.Context(), http.MethodGet, "/admin/users", nil, &list); err != nil {
			return err
		}
		id, err := userID(list.Users, args[0])
		if err != nil {
			return err
		}
		return c.Send(cmd.Context(), http.MethodPatch, "/admin/users/"+url.PathEscape(id), change)
	})
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
	return runWith(cmd, p.administer(cmd), func(cmd *cobra.Command, c *client.Client, args []string) error {
		var body any
		if len(args) > 0 {
			body = map[string]string{"name": args[0]}
		}
		var created secret
		if err := c.Call(cmd.Context(), http.MethodPost, path, body, &created); err != nil {
			return notFound("account", strings.Join(args, ""), err)
		}
		return printf(cmd, "%v\n", show(created))
	})
}

func (p Program) tokensCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tokens",
		Short: "Administer API tokens",
		Long: "Tokens administers the API tokens by which programs announce where NOTIFY_ACCESS requires\n" +
			"one. They send it as \"Authorization: Bearer TOKEN\".",
	}
	cmd.AddCommand(p.createTokenCommand(), p.listTokensCommand(), p.revokeTokenCommand())
	return cmd
}

// A token is an API token without its secret.
type token struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Network string    `json:"network"` // "" means any
	TTL     int64     `json:"ttl"`     // seconds; 0 means that it does not expire
	Control bool      `json:"control"`
	Created time.Time `json:"created_at"`
}

func (p Program) createTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a token and print it, once",
		Args:  cobra.ExactArgs(1),
	}
	network := cmd.Flags().String("network", "",
		"`network` from which the token is valid, such as 192.168.1.0/24 (default any)")
	days := cmd.Flags().Uint("days", 0, "`days` until the token expires; 0: never")
	control := cmd.Flags().Bool("control", false, "also allow to change the volume, quiet, schedules and favorites")
	return runWith(cmd, p.administer(cmd), func(cmd *cobra.Command, c *client.Client, args []string) error {
		body := map[string]any{"name": args[0], "ttl": *days * 24 * 60 * 60, "control": *control}
		if *network != "" {
			body["network"] = *network
		}
		var created struct {
			Token string `json:"token"`
		}
		if err := c.Call(cmd.Context(), http.MethodPost, "/admin/tokens", body, &created); err != nil {
			return err
		}
		return printf(cmd, "%v\n", created.Token)
	})
}

func (p Program) listTokensCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the tokens, without their secrets"}
	return listOf(cmd, p.administer(cmd), "/admin/tokens", "tokens", func(t token) []any {
		return []any{t.ID, t.Name, t.networkText(), t.expiry(), t.permissions()}
	})
}

func (t token) networkText() string {
	if t.Network == "" {
		return "from any network"
	}
	return "from " + t.Network
}

func (t token) permissions() string {
	if t.Control {
		return "may control"
	}
	return ""
}

func (t token) expiry() string {
	if t.TTL == 0 {
		return "never expires"
	}
	return "expires " + t.Created.Add(time.Duration(t.TTL)*time.Second).Format(time.DateOnly)
}

func (p Program) revokeTokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "revoke ID…", Short: "Revoke tokens"}
	return removalOf(cmd, p.administer(cmd), "/admin/tokens", "token")
}

// notFound returns err, or a shorter error if err is the problem not_found.
func notFound(what, name string, err error) error {
	if p, ok := errors.AsType[*client.ProblemError](err); ok &&
		(p.Code == "not_found" || p.Code == "unknown_game" || p.Code == "unknown_league" || p.Code == "unknown_team") {
		return exitcode.With(exitcode.Refused, fmt.Errorf("there is no %s %q", what, name))
	}
	return err
}
