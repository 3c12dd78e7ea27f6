package cli

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pressbox/daemon/display"
	"pressbox/daemon/exitcode"
	"pressbox/daemon/settings"
	"pressbox/daemon/setup"
)

// rootFlag adds the flag of the directory that setup commands change, and returns the function
// that makes their setup.
func rootFlag(cmd *cobra.Command) func() setup.Setup {
	root := cmd.Flags().String("root", "/",
		"`directory` below which files are written; programs are run only for /")
	return func() setup.Setup { return setup.Setup{Root: *root, Out: cmd.OutOrStdout()} }
}

func setupAudioCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "setup-audio headless|session",
		Short: "Connect the server to a sound server",
		Long: "Setup-audio configures a sound server that listens on " + settings.AudioSocket + ",\n" +
			"to which the server connects. As root:\n\n" +
			"  pressbox setup-audio headless              on a host without a desktop\n" +
			"  pressbox setup-audio session --user USER   on a desktop where USER logs in\n" +
			"  pressbox setup-audio --undo                remove the configuration\n\n" +
			"With headless, PipeWire runs as the user pressbox, and no other user starts one. PipeWire\n" +
			"is installed if it is missing. With session, the sound server of USER is used while USER is\n" +
			"logged in. The command prints every file that it writes and every program that it runs.",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: []string{"headless", "session"},
	}
	user := cmd.Flags().String("user", "", "with session: the `user` whose sound server is used")
	undo := cmd.Flags().Bool("undo", false, "remove the configuration")
	root := rootFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s := root()
		audio := setup.AudioSetup{Mode: strings.Join(args, ""), User: *user, Undo: *undo}
		if err := s.CheckAudio(audio); err != nil {
			return exitcode.With(exitcode.Usage, err)
		}
		if err := s.RequireRoot("setup-audio …"); err != nil {
			return err
		}
		return s.Audio(audio)
	}
	return cmd
}

func setPortCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set-port N",
		Short: "Set the TCP port on which systemd listens for the server",
		Long: "Set-port sets the TCP port of pressbox.socket, PORT in " + settings.SystemFile + "\n" +
			"and the port that Avahi announces. As root. Clients of the earlier port are refused from\n" +
			"then on; accepted announcements are spoken. Set-port 8888 restores the package's files.",
		Args: cobra.ExactArgs(1),
	}
	root := rootFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		port, err := strconv.Atoi(args[0])
		if err != nil || port < 1 || port > 65535 {
			return exitcode.With(exitcode.Usage,
				fmt.Errorf("the port %q: expected an integer from 1 to 65535", args[0]))
		}
		s := root()
		if err := s.RequireRoot("set-port " + args[0]); err != nil {
			return err
		}
		return s.Port(port)
	}
	return cmd
}

func setupKioskCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "setup-kiosk",
		Short: "Show the wall display on the display of this host",
		Long: "Setup-kiosk shows the wall display full screen on the display of this host, with cage and\n" +
			"Chromium, which are installed if they are missing, as a user of their own. As root. The host\n" +
			"needs 1 GB of memory and no desktop. Ten minutes after the last input the browser starts\n" +
			"again, so that an account that signed in there is signed out; and so it does two minutes\n" +
			"after the page has stopped. The command prints every file that it writes and every program\n" +
			"that it runs.",
		Args: cobra.NoArgs,
	}
	page := cmd.Flags().String("url", "", "`url` of the page (default /kiosk of the server on this host)")
	undo := cmd.Flags().Bool("undo", false, "remove the files and the user")
	root := rootFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s := root()
		if *undo && *page != "" {
			return exitcode.With(exitcode.Usage, errors.New("--undo cannot be combined with other arguments"))
		}
		url, err := s.KioskURL(*page)
		if err != nil {
			return exitcode.With(exitcode.Usage, err)
		}
		if err := s.RequireRoot("setup-kiosk …"); err != nil {
			return err
		}
		if *undo {
			return s.UndoKiosk()
		}
		return s.Kiosk(url)
	}
	return cmd
}

// kioskSessionCommand returns the command of the unit that setup-kiosk writes.
func kioskSessionCommand() *cobra.Command {
	return &cobra.Command{
		Use:    setup.KioskCommand + " URL",
		Short:  "Run the browser of the wall display",
		Args:   cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := os.Getenv("XDG_RUNTIME_DIR")
			if dir == "" {
				return exitcode.With(exitcode.Usage,
					errors.New("XDG_RUNTIME_DIR is not set: expected a directory on tmpfs, as pam_systemd makes"))
			}
			return display.New(args[0], dir).Run(cmd.Context())
		},
	}
}
