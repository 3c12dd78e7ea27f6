package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
)

// What the linker sets, and nobody else.
//
//nolint:gochecknoglobals // it sets nothing else
var (
	version  = "dev" // CHANGELOG.md's newest entry
	released = ""    // the day of that entry, such as 2026-11-20; "" means that it is not known
	revision = ""    // what packaging/revision says of the sources; "" means that it is not known
)

// A buildInfo says what this program was made of.
type buildInfo struct {
	Version  string `json:"version"`
	Released string `json:"released,omitempty"`
	Commit   string `json:"commit,omitempty"`  // "" when it is not known
	Changed  bool   `json:"changed,omitempty"` // whether the sources differ from the commit's
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() buildInfo {
	b := buildInfo{Version: version, Released: released, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	b.Commit, b.Changed = splitRevision(revision)
	return b
}

func splitRevision(revision string) (commit string, changed bool) {
	return strings.CutSuffix(revision, "+changed")
}

// sourcesOf says in words which sources a revision is.
func sourcesOf(revision string) string {
	const enough = 12 // digits
	commit, changed := splitRevision(revision)
	switch {
	case commit == "":
		return "sources whose commit is not known"
	case changed:
		return fmt.Sprintf("commit %.*s, and changes to it", enough, commit)
	default:
		return fmt.Sprintf("commit %.*s", enough, commit)
	}
}

func newVersionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
	}
	asJSON := cmd.Flags().Bool("json", false, "print everything that is known of this build, as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *asJSON {
			return printJSON(cmd, thisBuild())
		}
		b := thisBuild()
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "pressbox %s\nbuilt with %s for %s, from %s\n", b.Version, b.Go, b.Platform, sourcesOf(revision))
		return err
	}
	return cmd
}

func printJSON(cmd *cobra.Command, v any) error {
	out := json.NewEncoder(cmd.OutOrStdout())
	out.SetIndent("", "  ")
	return out.Encode(v)
}
