package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"pressbox/daemon/upgrade"
)

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
