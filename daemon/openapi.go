package main

import "github.com/spf13/cobra"

func newOpenAPICommand() *cobra.Command {
	return &cobra.Command{Use: "openapi"}
}
