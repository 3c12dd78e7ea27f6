package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
)

// printf prints a text on the command's output.
func printf(cmd *cobra.Command, format string, args ...any) error {
	_, err := fmt.Fprintf(cmd.OutOrStdout(), format, args...)
	return err
}

// newTable returns a writer that aligns columns, separated by tabs, on the command's output.
func newTable(cmd *cobra.Command) *tabwriter.Writer {
	return tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
}

// printTable prints a row of aligned columns for each item.
func printTable[T any](cmd *cobra.Command, items []T, columns func(T) []any) error {
	table := newTable(cmd)
	for _, item := range items {
		row := columns(item)
		format := strings.Repeat("%v\t", len(row)-1) + "%v\n"
		if _, err := fmt.Fprintf(table, format, row...); err != nil {
			return err
		}
	}
	return table.Flush()
}

func printJSON(cmd *cobra.Command, v any) error {
	out := json.NewEncoder(cmd.OutOrStdout())
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// get requests an object, and prints it as JSON if asJSON is set, otherwise with show.
func get[T any](cmd *cobra.Command, c *client.Client,
	path string, asJSON bool, show func(*cobra.Command, T) error,
) (object T, err error) {
	var response json.RawMessage
	if err := c.Call(cmd.Context(), http.MethodGet, path, nil, &response); err != nil {
		return object, err
	}
	if err := json.Unmarshal(response, &object); err != nil {
		return object, fmt.Errorf("decode the server's response: %w", err)
	}
	if asJSON {
		return object, printJSON(cmd, response)
	}
	return object, show(cmd, object)
}
