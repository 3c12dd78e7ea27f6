package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"pressbox/daemon/settings"
	"pressbox/voice/catalogue"
)

// diskReserve is the disk space in bytes that an installed voice leaves free.
const diskReserve = 64 << 20

// catalogueClient returns the client of the catalog, whose server may be slow to respond.
func catalogueClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 30 * time.Second,
		ForceAttemptHTTP2:   true,
	}}
}

func availableCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "available [PREFIX]",
		Short: "List the voices in the catalog",
		Long:  "Available lists the voices of the catalog VOICES_URL whose names begin with PREFIX, such as\n\"de\" for German.",
		Args:  cobra.MaximumNArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		host, err := hostSettings(cmd, "")
		if err != nil {
			return err
		}
		c, err := catalogue.Fetch(cmd.Context(), catalogueClient(), host.VoicesURL)
		if err != nil {
			return err
		}
		prefix := strings.Join(args, "")
		voices := slices.DeleteFunc(c.Voices(), func(v catalogue.Voice) bool { return !strings.HasPrefix(v.Name, prefix) })
		return printTable(cmd, voices, func(v catalogue.Voice) []any {
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
			"download is continued by the next one. The voice's licence is printed first.",
		Example: "  sudo pressbox voices install de_DE-thorsten-medium",
		Args:    cobra.ExactArgs(1),
	}
	dir := cmd.Flags().String("model-dir", "", "`directory` of the voices [MODEL_DIR]")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		host, err := hostSettings(cmd, "")
		if err != nil {
			return err
		}
		cfg := host.Config
		if *dir != "" {
			cfg.ModelDir = *dir
		}
		return installVoice(cmd.Context(), cfg, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

func installVoice(ctx context.Context, cfg settings.Config, name string, out, bar io.Writer) error {
	client := catalogueClient()
	defer client.CloseIdleConnections()
	c, err := catalogue.Fetch(ctx, client, cfg.VoicesURL)
	if err != nil {
		return err
	}
	v, err := c.Find(name)
	if err != nil {
		return fmt.Errorf("%w; similar names: %s", err, strings.Join(similarVoices(name, c.Voices()), ", "))
	}
	if err := os.MkdirAll(cfg.ModelDir, 0o755); err != nil { //nolint:gosec // other users read voices
		return fmt.Errorf("install %s: %w", v.Name, err)
	}
	if err := checkSpace(cfg.ModelDir, v.Size()); err != nil {
		return fmt.Errorf("install %s: %w", v.Name, err)
	}
	progress := newProgressBar(bar)
	i := catalogue.Installer{Catalogue: c, Client: client, Dir: cfg.ModelDir, Progress: progress.show}
	card, err := i.Card(ctx, v)
	if err != nil {
		return err
	}
	progress.clear()
	if _, err := fmt.Fprintf(out, "%s, %s, %.1f MB, licence: %s\n", v.Name, v.Language, float64(v.Size())/1e6, licenceOf(card)); err != nil {
		return err
	}
	err = i.Install(ctx, v)
	progress.clear()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "installed in %s; model card: %s\n", cfg.ModelDir, filepath.Join(cfg.ModelDir, v.Name+".MODEL_CARD"))
	return err
}

// similarVoices returns the three names that are most similar to name.
func similarVoices(name string, voices []catalogue.Voice) []string {
	names := make([]string, len(voices))
	for i, v := range voices {
		names[i] = v.Name
	}
	return settings.Nearest(name, names)[:min(3, len(names))]
}

// checkSpace returns an error unless the disk of dir has space for size bytes.
func checkSpace(dir string, size int64) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return err
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:gosec,unconvert // no disk is so large; other platforms have 32 bits
	if needed := size + diskReserve; free < needed {
		return fmt.Errorf("not enough disk space in %s: %.0f MB needed, %.0f MB free", dir, float64(needed)/1e6, float64(free)/1e6)
	}
	return nil
}

var licenceLine = regexp.MustCompile(`(?im)^[\s*#-]*licen[cs]e\s*:\s*(\S.*?)\s*$`)

// licenceOf returns the licence in a voice's model card.
func licenceOf(card string) string {
	if found := licenceLine.FindStringSubmatch(card); found != nil {
		return found[1]
	}
	return "not stated in the model card"
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
	f, ok := w.(*os.File)
	p := &progressBar{w: w}
	if ok {
		_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
		p.terminal = err == nil
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
		p.print("\r%s [%s%s] %3d %% of %.1f MB", name, strings.Repeat("#", full), strings.Repeat(".", width-full), done*100/total, float64(total)/1e6)
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
