package main

import (
	"github.com/spf13/cobra"

	"pressbox/daemon/web"
)

func newOpenAPICommand() *cobra.Command {
	return &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document of the HTTP API",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			document, err := web.OpenAPI(version)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(document)
			return err
		},
	}
}
