package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pressbox/daemon/client"
	"pressbox/daemon/exitcode"
	"pressbox/daemon/settings"
	"pressbox/voice/announce"
	"pressbox/voice/control/boolean"
)

// controlHelp is the end of the description of each command that changes something
// of which CONTROL_ACCESS decides.
const controlHelp = "\n\nOn the server's host, root, the user pressbox and the group adm use the administrator's\n" +
	"socket. Others use the port, with a token of \"pressbox tokens create --control\" in\n" +
	"$PRESSBOX_TOKEN, or with CONTROL_ACCESS=lan."

func volumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "volume [PERCENT|mute|unmute]",
		Short: "Print or change the volume",
		Long: "Volume prints the volume, or changes it over restarts, until the setting VOLUME is changed.\n" +
			"Urgent announcements are spoken at URGENT_MIN_VOLUME at least, also while muted." + controlHelp,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: []string{"mute", "unmute"},
	}
	return runWith(cmd, serverFlag(cmd, true), func(cmd *cobra.Command, c *client.Client, args []string) error {
		method, change := http.MethodGet, any(nil)
		if len(args) > 0 {
			body, err := volumeChange(args[0])
			if err != nil {
				return exitcode.With(exitcode.Usage, err)
			}
			method, change = http.MethodPut, body
		}
		var v client.Volume
		if err := c.Call(cmd.Context(), method, "/volume", change, &v); err != nil {
			return err
		}
		return printf(cmd, "%v\n", v)
	})
}

// volumeChange returns the body of PUT /volume for an argument.
func volumeChange(arg string) (any, error) {
	if arg == "mute" || arg == "unmute" {
		return map[string]bool{"muted": arg == "mute"}, nil
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 || n > 100 {
		return nil, fmt.Errorf("volume %q: expected an integer from 0 to 100, mute or unmute", arg)
	}
	return map[string]int{"volume": n}, nil
}

func quietCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "quiet [on|off]",
		Short: "Print whether it is quiet, or change it",
		Long: "Quiet prints whether it is quiet. \"quiet on\" makes it quiet for an hour, or for another time of\n" +
			"at most 24 hours; \"quiet off\" ends it, and suspends QUIET_HOURS until their end. Urgent\n" +
			"announcements are always spoken." + controlHelp,
		Example:   "  pressbox quiet --for 90m\n  pressbox quiet on --mode hold\n  pressbox quiet off",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: []string{"on", "off"},
	}
	duration := cmd.Flags().Duration("for", time.Hour, "`time` for which it is quiet, such as 90m or 8h")
	mode := cmd.Flags().String("mode", "", "silence, hold or soft (default the setting QUIET_MODE)")
	return runWith(cmd, serverFlag(cmd, true), func(cmd *cobra.Command, c *client.Client, args []string) error {
		timed := cmd.Flags().Changed("for") || cmd.Flags().Changed("mode")
		on, off := timed, false
		if len(args) > 0 {
			value, ok := boolean.Parse(args[0])
			on, off = ok && value, ok && !value
		}
		if len(args) > 0 && !on && !off || timed && off {
			return exitcode.With(exitcode.Usage,
				errors.New("expected on or off; --for and --mode can be combined only with on"))
		}
		var err error
		switch {
		case on:
			body := quietRequest{int(duration.Seconds()), *mode}
			err = c.Send(cmd.Context(), http.MethodPut, "/quiet", body)
		case off:
			err = c.Send(cmd.Context(), http.MethodDelete, "/quiet", nil)
		}
		if err != nil {
			return err
		}
		var q client.Quiet
		if err := c.Call(cmd.Context(), http.MethodGet, "/quiet", nil, &q); err != nil {
			return err
		}
		return printf(cmd, "%v\n", q)
	})
}

// A quietRequest is the body of PUT /quiet.
type quietRequest struct {
	For  int    `json:"for"` // seconds
	Mode string `json:"mode,omitempty"`
}

func schedulesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedules",
		Short: "Administer announcements that recur",
		Long:  "Schedules administers announcements that are spoken at recurring times." + controlHelp,
	}
	cmd.AddCommand(
		listSchedulesCommand(), addScheduleCommand(), editScheduleCommand(), removeSchedulesCommand(),
		enableScheduleCommand("enable", "Enable a schedule", true),
		enableScheduleCommand("disable", "Disable a schedule", false),
		skipScheduleCommand("skip", "Leave out the next time of a schedule", http.MethodPost),
		skipScheduleCommand("restore", "Leave out no time of a schedule", http.MethodDelete),
	)
	return cmd
}

func listSchedulesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the schedules, the next one first"}
	return listOf(cmd, serverFlag(cmd, true), "/schedules", "schedules",
		func(s client.Schedule) []any { return []any{s.ID, s.Name, s.Times(), s.Due()} })
}

func addScheduleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "add NAME CRON [TEXT]",
		Short:   "Create a schedule and print its id",
		Long:    "Add creates a schedule. CRON has five fields: minute, hour, day of the month, month and weekday.",
		Example: "  pressbox schedules add school \"25 7 * * mon-fri\" \"The bus comes in five minutes.\"",
		Args:    cobra.RangeArgs(2, 3),
	}
	fields := scheduleFlags(cmd)
	return runWith(cmd, serverFlag(cmd, true), func(cmd *cobra.Command, c *client.Client, args []string) error {
		s, err := fields()
		if err != nil {
			return err
		}
		s["name"], s["cron"] = args[0], args[1]
		if len(args) == 3 {
			s["message"] = args[2]
		}
		return putSchedule(cmd, c, http.MethodPost, "/schedules", s)
	})
}

func editScheduleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "edit ID",
		Short:   "Change what is given of a schedule",
		Example: "  pressbox schedules edit 4fzq2h7xkq6w5d3n --cron \"30 7 * * mon-fri\" --volume 40",
		Args:    cobra.ExactArgs(1),
	}
	fields := scheduleFlags(cmd)
	var name, cron, text string
	cmd.Flags().StringVar(&name, "name", "", "its `name`")
	cmd.Flags().StringVar(&cron, "cron", "", "its `times`: minute, hour, day of the month, month and weekday")
	cmd.Flags().StringVar(&text, "text", "", "the `text` that is spoken")
	return runWith(cmd, serverFlag(cmd, true), func(cmd *cobra.Command, c *client.Client, args []string) error {
		changed, err := fields()
		if err != nil {
			return err
		}
		for member, flag := range map[string]string{"name": "name", "cron": "cron", "message": "text"} {
			if cmd.Flags().Changed(flag) {
				changed[member] = cmd.Flag(flag).Value.String()
			}
		}
		return editSchedule(cmd, c, args[0], changed)
	})
}

// scheduleFlags adds the flags of a schedule, and returns what reads the given ones as members of its JSON.
func scheduleFlags(cmd *cobra.Command) (given func() (map[string]any, error)) {
	zone := cmd.Flags().String("time-zone", "", "`name` such as Europe/Berlin (default the server's)")
	except := cmd.Flags().StringSlice("except", nil, "`dates` on which it is not spoken, such as 2026-12-24,2026-12-25")
	p := announce.Payload{Repeat: &announce.Repetition{}}
	addFields(cmd, "", reflect.ValueOf(&p).Elem())
	return func() (map[string]any, error) {
		if *p.Repeat == (announce.Repetition{}) {
			p.Repeat = nil
		}
		all := map[string]any{}
		text, err := json.Marshal(p)
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			return nil, fmt.Errorf("encode the schedule: %w", err)
		}
		delete(all, "message")
		for flag, value := range map[string]any{"urgent": p.Urgent, "except": *except, "time-zone": *zone} {
			if cmd.Flags().Changed(flag) {
				all[strings.ReplaceAll(flag, "-", "_")] = value
			}
		}
		return all, nil
	}
}

// editSchedule changes members of a schedule.
func editSchedule(cmd *cobra.Command, c *client.Client, id string, changed map[string]any) error {
	path := "/schedules/" + url.PathEscape(id)
	s := map[string]any{}
	if err := notFound("schedule", id, c.Call(cmd.Context(), http.MethodGet, path, nil, &s)); err != nil {
		return err
	}
	for _, made := range []string{"id", "next_at", "skip_at"} {
		delete(s, made)
	}
	maps.Copy(s, changed)
	return putSchedule(cmd, c, http.MethodPut, path, s)
}

// putSchedule creates or replaces a schedule, and prints when it is due.
func putSchedule(cmd *cobra.Command, c *client.Client, method, path string, s map[string]any) error {
	var stored client.Schedule
	if err := c.Call(cmd.Context(), method, path, s, &stored); err != nil {
		return err
	}
	return printf(cmd, "%v %v\n", stored.ID, stored.Due())
}

func removeSchedulesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "remove ID…", Short: "Delete schedules"}
	return removalOf(cmd, serverFlag(cmd, true), "/schedules", "schedule")
}

func enableScheduleCommand(name, short string, enabled bool) *cobra.Command {
	cmd := &cobra.Command{Use: name + " ID", Short: short, Args: cobra.ExactArgs(1)}
	return runWith(cmd, serverFlag(cmd, true), func(cmd *cobra.Command, c *client.Client, args []string) error {
		return editSchedule(cmd, c, args[0], map[string]any{"enabled": enabled})
	})
}

func skipScheduleCommand(name, short, method string) *cobra.Command {
	cmd := &cobra.Command{Use: name + " ID", Short: short, Args: cobra.ExactArgs(1)}
	return runWith(cmd, serverFlag(cmd, true), func(cmd *cobra.Command, c *client.Client, args []string) error {
		var s client.Schedule
		path := "/schedules/" + url.PathEscape(args[0]) + "/skip"
		if err := notFound("schedule", args[0], c.Call(cmd.Context(), method, path, nil, &s)); err != nil {
			return err
		}
		return printf(cmd, "%v %v\n", s.ID, s.Due())
	})
}

func stopCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stop [ID]",
		Short: "Stop the announcement that is being spoken, or another one",
		Long: "Stop cancels the announcement that is being spoken, the one with an id, or with --all this\n" +
			"and all that wait. Those that are scheduled for later stay.",
		Args: cobra.MaximumNArgs(1),
	}
	all := cmd.Flags().Bool("all", false, "cancel all that wait, too")
	return runWith(cmd, serverFlag(cmd, true), func(cmd *cobra.Command, c *client.Client, args []string) error {
		if *all && len(args) > 0 {
			return exitcode.With(exitcode.Usage, errors.New("--all cannot be combined with an id"))
		}
		if len(args) > 0 {
			return notFound("announcement", args[0],
				c.Send(cmd.Context(), http.MethodDelete, "/notify/"+url.PathEscape(args[0]), nil))
		}
		return stop(cmd, c, *all)
	})
}

// stop cancels the current announcement, and with all those that wait.
func stop(cmd *cobra.Command, c *client.Client, all bool) error {
	ctx := cmd.Context()
	var waiting struct {
		Cancelled int `json:"cancelled"`
	}
	if all { // first, so that none of them begins
		if err := c.Call(ctx, http.MethodDelete, "/notify", nil, &waiting); err != nil {
			return err
		}
	}
	var list struct {
		Queue []client.Report `json:"queue"`
	}
	if err := c.Call(ctx, http.MethodGet, "/notify", nil, &list); err != nil {
		return err
	}
	stopped := waiting.Cancelled
	if len(list.Queue) > 0 && list.Queue[0].Speaking() {
		err := c.Send(ctx, http.MethodDelete, "/notify/"+url.PathEscape(list.Queue[0].ID), nil)
		if p, ok := errors.AsType[*client.ProblemError](err); err != nil && (!ok || p.Code != "already_ended") {
			return err
		}
		stopped++
	}
	return printf(cmd, "%d stopped\n", stopped)
}

// replaceSet replaces the values of the settings instead of which something else was
// set on the running server, if there is one that this user may administer.
func replaceSet(ctx context.Context, host settings.Host, values []settings.Value) {
	c, err := running(ctx, host)
	if err != nil || c == nil {
		return
	}
	status, err := c.Status(ctx)
	if err != nil {
		return
	}
	onPage, err := c.PageSettings(ctx)
	if err != nil {
		return
	}
	for i := range values {
		v := &values[i]
		if text, ok := onPage[v.Name]; ok && !v.Fixed {
			v.Text, v.Origin = text, settings.OriginPage
		}
		switch {
		case v.Name == "VOLUME" && status.Volume.Set:
			v.Text, v.Origin = strconv.Itoa(status.Volume.Volume), "set"
		case v.Name == "QUIET_MODE" && status.Quiet.Reason == "switch":
			v.Text, v.Origin = status.Quiet.Mode, "set"
		}
	}
}
