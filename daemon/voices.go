package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newVoicesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "voices",
		Short: "List the installed voices",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newVoicesAvailableCommand(), newVoicesInstallCommand())
	connect := useClient(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print the daemon's answer")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := connect()
		if err != nil {
			return err
		}
		var answer json.RawMessage
		if err := c.call(cmd.Context(), http.MethodGet, "/voices", nil, &answer); err != nil {
			return err
		}
		if *asJSON {
			return printJSON(cmd, answer)
		}
		return printVoices(cmd, answer)
	}
	return cmd
}

func printVoices(cmd *cobra.Command, answer []byte) error {
	var list struct {
		Default string `json:"default"`
		Voices  []struct {
			Name       string `json:"name"`
			Language   string `json:"language"`
			Quality    string `json:"quality"`
			SampleRate int    `json:"sample_rate"`
			SizeBytes  int64  `json:"size_bytes"`
			Default    bool   `json:"default"`
			Error      string `json:"error"`
		} `json:"voices"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return fmt.Errorf("read the list of voices: %w", err)
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, v := range list.Voices {
		note := v.Error
		if v.Default {
			note = "default"
		}
		_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%d Hz\t%.1f MB\t%s\n",
			v.Name, v.Language, v.Quality, v.SampleRate, float64(v.SizeBytes)/1e6, note)
		if err != nil {
			return err
		}
	}
	return table.Flush()
}
