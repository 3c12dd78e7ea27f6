package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

func newTokensCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tokens",
		Short: "Make, list and end tokens by which machines announce",
		Long: "Tokens lets machines announce from where NOTIFY_ACCESS does not let everyone: they\n" +
			"send one as \"Authorization: Bearer TOKEN\".",
	}
	cmd.AddCommand(newTokensCreateCommand(), newTokensListCommand(), newTokensRevokeCommand())
	return cmd
}

// A listedToken is a token as the daemon lists it.
type listedToken struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Network string    `json:"network"`
	TTL     int64     `json:"ttl"` // seconds; 0 means for ever
	Created time.Time `json:"created_at"`
}

func newTokensCreateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a token and print it, once",
		Args:  cobra.ExactArgs(1),
	}
	administer := useAdministration(cmd)
	network := cmd.Flags().String("network", "", "the `network` from which it is good, such as 192.168.1.0/24 (default any)")
	days := cmd.Flags().Uint("days", 0, "for how many days it is good; 0 means for ever")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body := map[string]any{"name": args[0], "ttl": *days * 24 * 60 * 60}
		if *network != "" {
			body["network"] = *network
		}
		return administer(func(ctx context.Context, c *client) error {
			var made struct {
				Token string `json:"token"`
			}
			if err := c.call(ctx, http.MethodPost, "/admin/tokens", body, &made); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), made.Token)
			return err
		})
	}
	return cmd
}

func newTokensListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the tokens, without what is secret of them", Args: cobra.NoArgs}
	administer := useAdministration(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return administer(func(ctx context.Context, c *client) error {
			var list struct {
				Tokens []listedToken `json:"tokens"`
			}
			if err := c.call(ctx, http.MethodGet, "/admin/tokens", nil, &list); err != nil {
				return err
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, t := range list.Tokens {
				if _, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", t.ID, t.Name, t.from(), t.until()); err != nil {
					return err
				}
			}
			return table.Flush()
		})
	}
	return cmd
}

func (t listedToken) from() string {
	if t.Network == "" {
		return "from anywhere"
	}
	return "from " + t.Network
}

func (t listedToken) until() string {
	if t.TTL == 0 {
		return "for ever"
	}
	return "until " + t.Created.Add(time.Duration(t.TTL)*time.Second).Format(time.DateOnly)
}

func newTokensRevokeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "revoke ID", Short: "End a token", Args: cobra.ExactArgs(1)}
	administer := useAdministration(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return administer(func(ctx context.Context, c *client) error {
			return missing("token", args[0], c.send(ctx, http.MethodDelete, "/admin/tokens/"+url.PathEscape(args[0]), nil))
		})
	}
	return cmd
}

// missing is err, in plain words when it is that the daemon knows no such thing.
func missing(what, name string, err error) error {
	if refused, ok := errors.AsType[*refusal](err); ok && refused.Code == "not_found" {
		return &exitError{exitRefused, fmt.Errorf("there is no %s %q", what, name)}
	}
	return err
}

// send sends a request whose success has no answer.
func (c *client) send(ctx context.Context, method, path string, body any) error {
	resp, err := c.open(ctx, method, path, body)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
