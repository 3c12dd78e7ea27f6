package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"pressbox/daemon/trust"
)

// A Host holds the settings of the server on this host, as a command reads them.
type Host struct {
	Config
	// Chosen reports whether STATE_DIR was set by a flag or in the environment.
	Chosen bool
	// Ignored is the reason why root does not read the .env in the working directory: another
	// user could have written it. It is nil if there is none, or it is read.
	Ignored error
}

// ForHost returns the settings of a server started on this host, with another STATE_DIR
// unless stateDir is "". A system file that this user cannot read counts as the shipped
// one. With an error, the settings are the defaults.
func ForHost(stateDir string) (Host, error) {
	_, inEnvironment := os.LookupEnv("STATE_DIR")
	h := Host{Chosen: stateDir != "" || inEnvironment}
	local := localFile
	err := trust.File(localFile)
	if err != nil {
		local = ""
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.Ignored = ignoredFile(err)
	}
	if h.Config, err = forHost(stateDir, local); err != nil {
		h.Config, _ = defaults(stateDir) // they are valid
	}
	return h, err
}

// ignoredFile explains why root does not read .env.
func ignoredFile(reason error) error {
	path, err := filepath.Abs(localFile)
	if err != nil {
		path = localFile
	}
	return fmt.Errorf("ignored %s: %w", path, reason)
}

func forHost(stateDir, local string) (Config, error) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	AddFlags(flags)
	if stateDir != "" {
		if err := flags.Set("state-dir", stateDir); err != nil {
			return Config{}, err
		}
	}
	s, err := read(Table(), flags, SystemFile, local)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return Config{}, err
	}
	return s.Config()
}

// defaults returns the default settings, with another STATE_DIR unless stateDir is "".
func defaults(stateDir string) (Config, error) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	s := &Sources{table: withStateDirectory(Table()), viper: viper.New(), flags: flags}
	for _, row := range s.table {
		s.viper.SetDefault(row.Name, row.Default)
	}
	cfg, err := s.Config()
	if stateDir != "" {
		cfg.StateDir = stateDir
	}
	return cfg, err
}
