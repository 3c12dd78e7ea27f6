package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func voicesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "voices",
		Short: "List the installed voices",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(availableCommand(), installCommand())
	connect := serverFlag(cmd, false)
	asJSON := cmd.Flags().Bool("json", false, "print the server's response as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := connect()
		if err != nil {
			return err
		}
		_, err = get(cmd, c, "/voices", *asJSON, printVoices)
		return err
	}
	return cmd
}

// A voiceList holds the installed voices.
type voiceList struct {
	Voices []installedVoice `json:"voices"`
}

type installedVoice struct {
	Name       string `json:"name"`
	Language   string `json:"language"`
	Quality    string `json:"quality"`
	SampleRate int    `json:"sample_rate"` // Hz
	SizeBytes  int64  `json:"size_bytes"`
	Default    bool   `json:"default"`
	Error      string `json:"error"` // "" means that it can speak
}

func printVoices(cmd *cobra.Command, list voiceList) error {
	return printTable(cmd, list.Voices, func(v installedVoice) []any {
		note := v.Error
		if v.Default {
			note = "default"
		}
		return []any{v.Name, v.Language, v.Quality, fmt.Sprintf("%d Hz", v.SampleRate), megabytes(v.SizeBytes), note}
	})
}

// megabytes describes a size in bytes.
func megabytes(size int64) string { return fmt.Sprintf("%.1f MB", float64(size)/1e6) }
