package cli

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"pressbox/daemon/upgrade"
)

// A Build is the origin of this program.
type Build struct {
	Version  string // the newest entry of CHANGELOG.md
	Released string // the date of that entry, such as 2026-11-20; "" means unknown
	Revision string // the output of packaging/revision; "" means unknown
}

// commit returns the commit of the revision, "" if unknown, and whether the sources differ
// from it.
func (b Build) commit() (hash string, changed bool) { return strings.CutSuffix(b.Revision, "+changed") }

// commitText describes the revision.
func (b Build) commitText() string {
	const digits = 12
	hash, changed := b.commit()
	switch {
	case hash == "":
		return "unknown commit"
	case changed:
		return fmt.Sprintf("commit %.*s with changes", digits, hash)
	default:
		return fmt.Sprintf("commit %.*s", digits, hash)
	}
}

func (p Program) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
	}
	asJSON := cmd.Flags().Bool("json", false, "print the version, commit and platform as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		b := p.Build
		platform := runtime.GOOS + "/" + runtime.GOARCH
		if !*asJSON {
			return printf(cmd,
				"pressbox %s\n%s, %s, %s\n", b.Version, runtime.Version(), platform, b.commitText())
		}
		hash, changed := b.commit()
		return printJSON(cmd, struct {
			Version  string `json:"version"`
			Released string `json:"released,omitempty"`
			Commit   string `json:"commit,omitempty"`
			Changed  bool   `json:"changed,omitempty"`
			Go       string `json:"go"`
			Platform string `json:"platform"`
		}{b.Version, b.Released, hash, changed, runtime.Version(), platform})
	}
	return cmd
}

// tryUpgradeCommand returns the command with which the package tries the program that it has
// installed, before the running server is replaced by it.
func (p Program) tryUpgradeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:    "try-upgrade",
		Short:  "Start this version on a copy of the store",
		Args:   cobra.NoArgs,
		Hidden: true,
	}
	find := runningFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		host, running, err := find()
		if err == nil {
			err = upgrade.Try(cmd.Context(), host.Config, running)
		}
		if err != nil {
			return fmt.Errorf("version %s does not work with the store and the settings of this host: %w",
				p.Build.Version, err)
		}
		return nil
	}
	return cmd
}
