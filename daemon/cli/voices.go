package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"pressbox/daemon/client"
	"pressbox/daemon/settings"
	"pressbox/daemon/trust"
	"pressbox/voice/catalog"
)

func voicesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "voices",
		Short: "List the installed voices",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(availableCommand(), installCommand(), removeVoiceCommand())
	asJSON := cmd.Flags().Bool("json", false, "print the server's response as JSON")
	return runWith(cmd, serverFlag(cmd, false), func(cmd *cobra.Command, c *client.Client, _ []string) error {
		_, err := get(cmd, c, "/voices", *asJSON, printVoices)
		return err
	})
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

// catalogFlag adds the flag of catalogs without https to cmd and returns the function
// that fetches one, whose server may be slow to respond.
func catalogFlag(cmd *cobra.Command) func(url string) (*catalog.Catalog, error) {
	insecure := cmd.Flags().Bool("insecure-http", false,
		"accept a VOICES_URL without https: anyone on the network can replace the voice")
	return func(url string) (*catalog.Catalog, error) {
		if *insecure && strings.HasPrefix(url, "http:") {
			cmd.PrintErrln("pressbox: warning: VOICES_URL is not https: " +
				"anyone on the network can replace the voice and its checksum")
		}
		c, err := catalog.Fetch(cmd.Context(), catalog.NewClient(), url, *insecure)
		if errors.Is(err, catalog.ErrInsecure) {
			err = fmt.Errorf("%w; to accept it, pass --insecure-http", err)
		}
		return c, err
	}
}

func availableCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "available [PREFIX]",
		Short: "List the voices in the catalog",
		Long: "Available lists the voices of the catalog VOICES_URL whose names begin with PREFIX, such as\n" +
			"\"de\" for German.",
		Args: cobra.MaximumNArgs(1),
	}
	fetch := catalogFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		host, err := hostSettings(cmd, "")
		if err != nil {
			return err
		}
		c, err := fetch(host.VoicesURL)
		if err != nil {
			return err
		}
		prefix := strings.Join(args, "")
		voices := slices.DeleteFunc(c.Voices(),
			func(v catalog.Voice) bool { return !strings.HasPrefix(v.Name, prefix) })
		return printTable(cmd, voices, func(v catalog.Voice) []any {
			return []any{v.Name, v.Language, megabytes(v.Size()), fmt.Sprintf("%d speakers", max(1, v.Speakers))}
		})
	}
	return cmd
}

func installCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install NAME",
		Short: "Download and install a voice",
		Long: "Install downloads a voice of the catalog VOICES_URL (see \"pressbox voices available\"), checks\n" +
			"it and moves it to MODEL_DIR, where a running server finds it at once. An interrupted\n" +
			"download is continued by the next one. The voice's license is printed first. As root, it\n" +
			"runs as the user who controls MODEL_DIR.",
		Example: "  sudo pressbox voices install de_DE-thorsten-medium",
		Args:    cobra.ExactArgs(1),
	}
	fetch := catalogFlag(cmd)
	return inModels(cmd, func(host settings.Host, models *os.Root, name string) error {
		c, err := fetch(host.VoicesURL)
		if err != nil {
			return err
		}
		return installVoice(cmd, c, models, name)
	})
}

func removeVoiceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove an installed voice",
		Long: "Remove removes a voice from MODEL_DIR; a running server notices at once. Whatever names it speaks\n" +
			"with the default voice of its language then. As root, it runs as the user who controls MODEL_DIR.",
		Example: "  sudo pressbox voices remove de_DE-thorsten-medium",
		Args:    cobra.ExactArgs(1),
	}
	return inModels(cmd, func(host settings.Host, models *os.Root, name string) error {
		if name == host.DefaultVoice {
			return fmt.Errorf("remove %s: it is the default voice; set DEFAULT_VOICE to another one first", name)
		}
		return catalog.Remove(models, name)
	})
}

// inModels makes a command run in the directory of the voices, with the name of one.
func inModels(cmd *cobra.Command, run func(host settings.Host, models *os.Root, name string) error) *cobra.Command {
	dir := cmd.Flags().String("model-dir", "", "`directory` of the voices [MODEL_DIR]")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		host, err := hostSettings(cmd, "")
		if err != nil {
			return err
		}
		models, err := openModels(cmp.Or(*dir, host.ModelDir))
		if err != nil {
			return fmt.Errorf("%s %s: %w", cmd.Name(), args[0], err)
		}
		defer models.Close() //nolint:errcheck // an installer has synced it
		return run(host, models, args[0])
	}
	return cmd
}

// openModels opens the directory of the voices and creates it if it does not exist. Root
// becomes the user who controls it: links of that user have no power over root's files.
func openModels(dir string) (*os.Root, error) {
	if err := trust.Enter(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // other users read voices
		return nil, err
	}
	return os.OpenRoot(dir)
}

func installVoice(cmd *cobra.Command, c *catalog.Catalog, models *os.Root, name string) error {
	v, err := c.Find(name)
	if err != nil {
		return fmt.Errorf("%w; similar names: %s", err, strings.Join(similarVoices(name, c.Voices()), ", "))
	}
	progress := newProgressBar(cmd.ErrOrStderr())
	i := catalog.Installer{Catalog: c, Dir: models, Progress: progress.show}
	if err := i.CheckSpace(v); err != nil {
		return err
	}
	license, err := c.License(cmd.Context(), v)
	if err != nil {
		return err
	}
	license = cmp.Or(license, "not stated in the model card")
	if err := printf(cmd, "%s, %s, %s, license: %s\n", v.Name, v.Language, megabytes(v.Size()), license); err != nil {
		return err
	}
	err = i.Install(cmd.Context(), v)
	progress.clear()
	if err != nil {
		return err
	}
	return printf(cmd, "installed in %s, checked by %s; model card: %s\n",
		models.Name(), checksumText(v), filepath.Join(models.Name(), v.Name+".MODEL_CARD"))
}

// checksumText names the checksum by which a voice was checked.
func checksumText(v catalog.Voice) string {
	if v.Checksum() == "MD5" {
		return "MD5 (the catalog has no SHA-256)"
	}
	return v.Checksum()
}

// similarVoices returns the three names that are most similar to name.
func similarVoices(name string, voices []catalog.Voice) []string {
	names := make([]string, len(voices))
	for i, v := range voices {
		names[i] = v.Name
	}
	return settings.Nearest(name, names)[:min(3, len(names))]
}

// A progressBar prints the progress of a download: one line that is updated on a
// terminal, and a line per 10 % elsewhere.
type progressBar struct {
	w        io.Writer
	terminal bool
	name     string
	tenth    int64     // last printed
	updated  time.Time // zero if the line has ended
}

func newProgressBar(w io.Writer) *progressBar {
	p := &progressBar{w: w}
	if t, ok := w.(*terminalWriter); ok {
		if f, ok := t.w.(*os.File); ok {
			_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
			if p.terminal = err == nil; p.terminal {
				p.w = f // the line is ours, but for the name
			}
		}
	}
	return p
}

// minProgress is the size in bytes from which a file has a progress bar.
const minProgress = 1 << 20

func (p *progressBar) show(name string, done, total int64) {
	if total < minProgress {
		return
	}
	if name != p.name {
		p.name, p.tenth = name, -1
	}
	const width = 30
	switch tenth := done * 10 / total; {
	case p.terminal && (done == total || time.Since(p.updated) > 100*time.Millisecond):
		p.updated = time.Now()
		full := int(done * width / total)
		shown, _ := visible([]byte(oneLine(name)))
		p.print("\r%s [%s%s] %3d %% of %.1f MB", shown,
			strings.Repeat("#", full), strings.Repeat(".", width-full), done*100/total, float64(total)/1e6)
	case !p.terminal && tenth > p.tenth:
		p.tenth = tenth
		p.print("%s: %d %% of %.1f MB\n", name, tenth*10, float64(total)/1e6)
	}
}

// clear ends the line.
func (p *progressBar) clear() {
	if p.terminal && !p.updated.IsZero() {
		p.print("\n")
		p.updated = time.Time{}
	}
}

// print prints; a failure does not stop the download.
func (p *progressBar) print(format string, args ...any) {
	_, _ = fmt.Fprintf(p.w, format, args...)
}
