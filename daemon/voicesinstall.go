package main

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
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"pressbox/voice/catalogue"
)

// spare is how much of a disk stays free after a voice was installed.
const spare = 64 << 20

// catalogueClient asks the server of voices: it may redirect to another one, and is
// slow to begin at worst.
func catalogueClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 30 * time.Second,
		ForceAttemptHTTP2:   true,
	}}
}

func newVoicesAvailableCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "available [PREFIX]",
		Short: "List the voices that can be installed",
		Long:  "Available lists the voices of the catalogue VOICES_URL whose names begin with PREFIX,\nsuch as \"de\" for German.",
		Args:  cobra.MaximumNArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := administeredConfig("")
		if err != nil {
			return &exitError{exitUsage, err}
		}
		c, err := catalogue.Fetch(cmd.Context(), catalogueClient(), cfg.VoicesURL)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		for _, v := range c.Voices() {
			if !strings.HasPrefix(v.Name, strings.Join(args, "")) {
				continue
			}
			if _, err := fmt.Fprintf(table, "%s\t%s\t%.1f MB\t%d speakers\n", v.Name, v.Language, float64(v.Size())/1e6, max(1, v.Speakers)); err != nil {
				return err
			}
		}
		return table.Flush()
	}
	return cmd
}

func newVoicesInstallCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install NAME",
		Short: "Fetch a voice and install it",
		Long: "Install fetches a voice of the catalogue VOICES_URL, as \"pressbox voices available\" lists\n" +
			"them, checks it and puts it into MODEL_DIR, where a daemon that runs finds it at once. What\n" +
			"was cut off goes on from there the next time. Its licence is shown first.",
		Example: "  sudo pressbox voices install de_DE-thorsten-medium",
		Args:    cobra.ExactArgs(1),
	}
	dir := cmd.Flags().String("model-dir", "", "folder of the voices [MODEL_DIR]")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := administeredConfig("")
		if err != nil {
			return &exitError{exitUsage, err}
		}
		if *dir != "" {
			cfg.ModelDir = *dir
		}
		return installVoice(cmd.Context(), cfg, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

func installVoice(ctx context.Context, cfg Config, name string, out, bar io.Writer) error {
	client := catalogueClient()
	defer client.CloseIdleConnections()
	c, err := catalogue.Fetch(ctx, client, cfg.VoicesURL)
	if err != nil {
		return err
	}
	v, err := c.Find(name)
	if err != nil {
		return fmt.Errorf("%w; the nearest names are %s", err, strings.Join(nearVoices(name, c.Voices()), ", "))
	}
	if err := os.MkdirAll(cfg.ModelDir, 0o755); err != nil { //nolint:gosec // others read voices, too
		return fmt.Errorf("install %s: %w", v.Name, err)
	}
	if err := haveRoom(cfg.ModelDir, v.Size()); err != nil {
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
	_, err = fmt.Fprintf(out, "installed in %s; its card is %s\n", cfg.ModelDir, filepath.Join(cfg.ModelDir, v.Name+".MODEL_CARD"))
	return err
}

// nearVoices are the names that are most like one.
func nearVoices(name string, voices []catalogue.Voice) []string {
	const few = 3
	names := make([]string, len(voices))
	for i, v := range voices {
		names[i] = v.Name
	}
	slices.SortStableFunc(names, func(a, b string) int { return editDistance(name, a) - editDistance(name, b) })
	return names[:min(few, len(names))]
}

// haveRoom says whether there is room on the disk.
func haveRoom(dir string, size int64) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return err
	}
	if free := freeBytes(st); free < size+spare {
		return fmt.Errorf("%.0f MB are needed in %s and %.0f are free", float64(size+spare)/1e6, dir, float64(free)/1e6)
	}
	return nil
}

var licenceLine = regexp.MustCompile(`(?im)^[\s*#-]*licen[cs]e\s*:\s*(\S.*?)\s*$`)

// licenceOf is what a voice's card says of its licence.
func licenceOf(card string) string {
	if found := licenceLine.FindStringSubmatch(card); found != nil {
		return found[1]
	}
	return "not stated in its card"
}

// A progressBar shows how much has been fetched: in one line that is drawn again on
// a terminal, and a line for each tenth elsewhere.
type progressBar struct {
	w        io.Writer
	terminal bool
	name     string
	tenth    int64
	drawn    time.Time
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

// small is a file of which nobody needs to see how it comes.
const small = 1 << 20

func (p *progressBar) show(name string, done, total int64) {
	if total < small {
		return
	}
	if name != p.name {
		p.name, p.tenth = name, -1
	}
	const width = 30
	switch tenth := done * 10 / total; {
	case p.terminal && (done == total || time.Since(p.drawn) > 100*time.Millisecond):
		p.drawn = time.Now()
		full := int(done * width / total)
		p.print("\r%s [%s%s] %3d %% of %.1f MB", name, strings.Repeat("#", full), strings.Repeat(".", width-full), done*100/total, float64(total)/1e6)
	case !p.terminal && tenth > p.tenth:
		p.tenth = tenth
		p.print("%s: %d %% of %.1f MB\n", name, tenth*10, float64(total)/1e6)
	}
}

// clear ends the line that is drawn.
func (p *progressBar) clear() {
	if p.terminal && !p.drawn.IsZero() {
		p.print("\n")
		p.drawn = time.Time{}
	}
}

// print writes; what nobody can see is no reason to stop.
func (p *progressBar) print(format string, args ...any) {
	_, _ = fmt.Fprintf(p.w, format, args...)
}
