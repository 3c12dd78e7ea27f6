package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
)

// A terminalWriter writes texts, of which a terminal shows everything and obeys nothing: of the control characters
// only line breaks and tabs pass, the others are written as in JSON. Every command prints through one.
type terminalWriter struct {
	w    io.Writer
	rest []byte // an incomplete character
}

// Write implements [io.Writer].
func (t *terminalWriter) Write(p []byte) (int, error) {
	shown, rest := visible(append(t.rest, p...))
	t.rest = bytes.Clone(rest)
	if _, err := t.w.Write(shown); err != nil {
		return 0, err
	}
	return len(p), nil
}

// visible returns how a [terminalWriter] writes a text, up to an incomplete character at its end.
func visible(text []byte) (shown, rest []byte) {
	for utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			shown = fmt.Appendf(shown, `\u%04x`, r)
		} else {
			shown = utf8.AppendRune(shown, r) // U+FFFD for a byte that is none
		}
		text = text[size:]
	}
	return shown, text
}

// printf prints a text on the command's output.
func printf(cmd *cobra.Command, format string, args ...any) error {
	_, err := fmt.Fprintf(cmd.OutOrStdout(), format, args...)
	return err
}

// newTable returns a writer that aligns columns, separated by tabs, on the command's output.
func newTable(cmd *cobra.Command) *tabwriter.Writer {
	return tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
}

// oneLine returns a text without line breaks and tabs, which begin a row and a column.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// printTable prints a row of aligned columns for each item.
func printTable[T any](cmd *cobra.Command, items []T, columns func(T) []any) error {
	table := newTable(cmd)
	for _, item := range items {
		row := columns(item)
		for i := range row {
			row[i] = oneLine(fmt.Sprint(row[i]))
		}
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
