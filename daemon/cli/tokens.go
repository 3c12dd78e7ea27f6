package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
	"pressbox/daemon/exitcode"
)

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
	administer := p.administer(cmd)
	network := cmd.Flags().String("network", "",
		"`network` from which the token is valid, such as 192.168.1.0/24 (default any)")
	days := cmd.Flags().Uint("days", 0, "`days` until the token expires; 0: never")
	control := cmd.Flags().Bool("control", false, "also allow to change the volume, quiet, schedules and favorites")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body := map[string]any{"name": args[0], "ttl": *days * 24 * 60 * 60, "control": *control}
		if *network != "" {
			body["network"] = *network
		}
		return administer(func(ctx context.Context, c *client.Client) error {
			var created struct {
				Token string `json:"token"`
			}
			if err := c.Call(ctx, http.MethodPost, "/admin/tokens", body, &created); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), created.Token)
			return err
		})
	}
	return cmd
}

func (p Program) listTokensCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the tokens, without their secrets"}
	return listOf(p, cmd, "/admin/tokens", "tokens", func(t token) []any {
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
	return p.removalOf(&cobra.Command{Use: "revoke ID…", Short: "Revoke tokens"}, "/admin/tokens", "token")
}

// notFound returns err, or a shorter error if err is the problem not_found.
func notFound(what, name string, err error) error {
	if p, ok := errors.AsType[*client.ProblemError](err); ok &&
		(p.Code == "not_found" || p.Code == "unknown_game" || p.Code == "unknown_league" || p.Code == "unknown_team") {
		return exitcode.With(exitcode.Refused, fmt.Errorf("there is no %s %q", what, name))
	}
	return err
}
