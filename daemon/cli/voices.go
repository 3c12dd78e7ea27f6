package cli

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

func voicesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "voices",
		Short: "List the installed voices",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(availableCommand(), installCommand())
	connect := serverFlag(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print the server's response as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := connect()
		if err != nil {
			return err
		}
		var response json.RawMessage
		if err := c.Call(cmd.Context(), http.MethodGet, "/voices", nil, &response); err != nil {
			return err
		}
		if *asJSON {
			return printJSON(cmd, response)
		}
		return printVoices(cmd, response)
	}
	return cmd
}

func printVoices(cmd *cobra.Command, response []byte) error {
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
	if err := json.Unmarshal(response, &list); err != nil {
		return fmt.Errorf("decode the list of voices: %w", err)
	}
	table := newTable(cmd)
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
