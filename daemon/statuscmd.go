package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// errUnwell is what status ends with when something does not work; it has said what.
var errUnwell = errors.New("something does not work; \"pressbox doctor\" says how to mend it")

// useDaemon gives cmd a flag for the daemon's folder and returns how to reach the
// daemon that runs there, as its administrator.
func useDaemon(cmd *cobra.Command) func() (*client, error) {
	folder := cmd.Flags().String("state-dir", "", "folder in which the daemon keeps its store [STATE_DIR]")
	return func() (*client, error) {
		cfg, err := administeredConfig(*folder)
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		path, err := adminSocketOf(cfg)
		if err != nil {
			return nil, err
		}
		if path == "" {
			return nil, &exitError{exitNoDaemon, fmt.Errorf("no daemon answers in %s or at %s; \"systemctl start pressbox\" or \"pressbox serve\" starts one", cfg.StateDir, sharedAdminSocket)}
		}
		return socketClient(path), nil
	}
}

// adminSocketOf returns where the daemon with these settings is administered, or ""
// when none runs.
func adminSocketOf(cfg Config) (path string, err error) {
	return firstAnswering(filepath.Join(cfg.StateDir, adminSocketName), sharedAdminSocket)
}

// firstAnswering returns the first of the paths at which a daemon listens, or "" when
// none does. One that this user may not reach is an error only when no other answers:
// the group adm may use the shared socket and not enter the daemon's folder.
func firstAnswering(paths ...string) (path string, err error) {
	var refused error
	for _, path := range paths {
		conn, err := net.Dial("unix", path) //nolint:noctx // it does not wait
		switch {
		case err == nil:
			_ = conn.Close() // it has told what it could
			return path, nil
		case errors.Is(err, fs.ErrPermission):
			refused = cmp.Or(refused, fmt.Errorf("only root, the user pressbox and the group adm may administer: %w", err))
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED):
			return "", fmt.Errorf("ask the daemon: %w", err)
		}
	}
	return "", refused
}

func newStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how the daemon is",
		Long: "Status says what is spoken, what waits, and how sound, voices, store and games are.\n" +
			"It ends with 0 when all is well, with 1 when something does not work, and with 3\n" +
			"when no daemon runs.",
		Args: cobra.NoArgs,
	}
	connect := useDaemon(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print the daemon's answer")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := connect()
		if err != nil {
			return err
		}
		var answer json.RawMessage
		if err := c.call(cmd.Context(), http.MethodGet, "/admin/status", nil, &answer); err != nil {
			return err
		}
		var s daemonStatus
		if err := json.Unmarshal(answer, &s); err != nil {
			return fmt.Errorf("read the daemon's answer: %w", err)
		}
		if *asJSON {
			err = printJSON(cmd, answer)
		} else {
			err = s.print(cmd.OutOrStdout())
		}
		if err == nil && s.Health.Status != "ok" {
			err = errUnwell
		}
		return err
	}
	return cmd
}

// A daemonStatus is the daemon's word about itself.
type daemonStatus struct {
	Health daemonHealth `json:"health"`
	Queue  struct {
		Queue []struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"queue"`
	} `json:"queue"`
	Versions map[string]string `json:"versions"`
	Counts   map[string]int    `json:"counts"`
}

// A daemonHealth is what the daemon tells everyone about itself.
type daemonHealth struct {
	Status  string `json:"status"`
	Version string `json:"version"`
	Uptime  int64  `json:"uptime_seconds"`
	Checks  struct {
		Store  storeCheck  `json:"store"`
		Audio  audioCheck  `json:"audio"`
		Voices voicesCheck `json:"voices"`
		Queue  struct {
			checkResult
			Waiting int `json:"waiting"`
			Max     int `json:"max"`
		} `json:"queue"`
	} `json:"checks"`
}

type checkResult struct {
	Detail string `json:"detail"` // "" when it is well
}

type storeCheck struct {
	checkResult
	Size int64 `json:"size_bytes"`
	Free int64 `json:"free_bytes"`
	Max  int64 `json:"max_bytes"`
}

func (c storeCheck) said() string {
	return fmt.Sprintf("%.1f of %.0f MiB", mib(c.Size-c.Free), mib(c.Max))
}

type audioCheck struct {
	checkResult
	Server string `json:"server"`
	Sink   string `json:"sink"`
	Name   string `json:"sink_name"`
	State  string `json:"state"`
	Muted  bool   `json:"muted"`
	Volume int    `json:"volume"`
}

// said is "" while there is no sink.
func (c audioCheck) said() string {
	if c.Sink == "" {
		return ""
	}
	text := fmt.Sprintf("%s; %s, %s, at %d %%", c.Server, cmp.Or(c.Name, c.Sink), c.State, c.Volume)
	if c.Muted {
		text += ", muted"
	}
	return text
}

type voicesCheck struct {
	checkResult
	Default   string `json:"default"`
	Installed int    `json:"installed"`
	Broken    int    `json:"broken"`
}

func (c voicesCheck) said() string {
	return fmt.Sprintf("%d, %d of them broken; %s unless another is asked for", c.Installed, c.Broken, c.Default)
}

// print writes the status for people.
func (s daemonStatus) print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, said, detail string) {
		if said != "" && detail != "" {
			said += "\n\t"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\n", name, said+detail) // Flush says whether it went well
	}
	checks := s.Health.Checks
	row("pressbox", fmt.Sprintf("%s, %s, up %s", s.Versions["pressbox"], s.Health.Status, time.Duration(s.Health.Uptime)*time.Second), "")
	row("speaking", s.spoken(), "")
	row("queue", fmt.Sprintf("%d of %d waiting", checks.Queue.Waiting, checks.Queue.Max), checks.Queue.Detail)
	row("sound", checks.Audio.said(), checks.Audio.Detail)
	row("voices", checks.Voices.said(), checks.Voices.Detail)
	row("store", checks.Store.said(), checks.Store.Detail)
	row("games", fmt.Sprintf("%d being played, %d not begun, %d finished", s.Counts["games_active"], s.Counts["games_pending"], s.Counts["games_finished"]), "")
	row("people", fmt.Sprintf("%d sessions of %d accounts", s.Counts["sessions"], s.Counts["accounts"]), "")
	row("built", fmt.Sprintf("with %s, from %s", s.Versions["go"], sourcesOf(s.Versions["revision"])), "")
	return table.Flush()
}

// spoken is the beginning of what is being spoken.
func (s daemonStatus) spoken() string {
	const most = 60 // characters
	if len(s.Queue.Queue) == 0 || s.Queue.Queue[0].Status == "queued" {
		return "nothing"
	}
	text := []rune(strings.Join(strings.Fields(s.Queue.Queue[0].Message), " "))
	if len(text) > most {
		text = append(text[:most-1], '…')
	}
	return string(text)
}

func newLogLevelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:       "log-level [LEVEL]",
		Short:     "Say what the daemon logs, or change it while it runs",
		Long:      "Log-level prints the least important messages that the daemon logs, or changes them\nuntil the next reload or restart: DEBUG, INFO, WARN or ERROR. LOG_LEVEL holds for longer.",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: []string{"DEBUG", "INFO", "WARN", "ERROR"},
	}
	connect := useDaemon(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		method, body := http.MethodGet, any(nil)
		if len(args) > 0 {
			level := strings.ToUpper(args[0])
			if _, ok := logLevel().parse(level); !ok {
				return &exitError{exitUsage, fmt.Errorf("the level %q: expected %s", args[0], logLevel().expects)}
			}
			method, body = http.MethodPut, map[string]string{"level": level}
		}
		c, err := connect()
		if err != nil {
			return err
		}
		var now struct {
			Level string `json:"level"`
		}
		if err := c.call(cmd.Context(), method, "/admin/log-level", body, &now); err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), now.Level)
		return err
	}
	return cmd
}
