package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

const (
	systemFile = "/etc/pressbox/pressbox.env"
	localFile  = ".env" // in the working directory
)

// A setting is a key with the value that it has in this run.
type setting struct {
	key
	text   string // as written where it comes from; "" means none
	origin string // "default", "environment", "--port", or "FILE:LINE"
	parsed any
}

// settings is where the values of all keys come from: the flags first, then
// the environment, then .env, then pressbox.env, then the defaults. An empty
// value, wherever it stands, gives a key its default.
type settings struct {
	keys    []key
	viper   *viper.Viper
	flags   *pflag.FlagSet
	origins map[string]string // name → "FILE:LINE", the later file's
	unknown []string          // what .env sets and no key is
}

// newSettings reads the files and looks at flags and environment. A system
// file that does not exist is empty, unless it was asked for by a flag.
func newSettings(keys []key, flags *pflag.FlagSet, system string) (*settings, error) {
	s := &settings{keys: underSystemd(keys), viper: viper.New(), flags: flags, origins: make(map[string]string)}
	s.viper.AllowEmptyEnv(true)
	for _, k := range s.keys {
		s.viper.SetDefault(k.name, k.value)
		if err := s.viper.BindEnv(k.name, k.name); err != nil {
			return nil, fmt.Errorf("bind %s to the environment: %w", k.name, err)
		}
		if flag := flags.Lookup(flagName(k)); flag != nil {
			if err := s.viper.BindPFlag(k.name, flag); err != nil {
				return nil, fmt.Errorf("bind %s to its flag: %w", k.name, err)
			}
		}
	}

	var wrong []error
	unknown, err := s.merge(system)
	if err != nil && (!errors.Is(err, fs.ErrNotExist) || system != systemFile) {
		wrong = append(wrong, err)
	}
	if errors.Is(err, fs.ErrPermission) {
		s.presume()
	}
	for _, u := range unknown {
		wrong = append(wrong, errors.New(u))
	}
	s.unknown, err = s.merge(localFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		wrong = append(wrong, err)
	}
	return s, errors.Join(wrong...)
}

// presume takes what the package's file sets for what this user may not read, and the
// port of the socket unit, so that an ordinary user's commands find the daemon that the
// package runs.
func (s *settings) presume() {
	for i, k := range s.keys {
		value := k.shipped
		if k.name == "PORT" {
			value = strconv.Itoa(portOfSocket("/"))
		}
		if value != "" {
			s.keys[i].value = value
			s.viper.SetDefault(k.name, value)
		}
	}
}

// underSystemd is the table with the folder that systemd made for the daemon's
// state as its default.
func underSystemd(keys []key) []key {
	made, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	keys = slices.Clone(keys)
	for i := range keys {
		if keys[i].name == "STATE_DIR" && made != "" {
			keys[i].value = made
		}
	}
	return keys
}

// merge lays the assignments of a file over what was read before, and tells
// which of them set no key.
func (s *settings) merge(path string) (unknown []string, err error) {
	found, err := readDotenv(path)
	if err != nil {
		return nil, err
	}
	values := make(map[string]any)
	for _, a := range found {
		where := fmt.Sprintf("%s:%d", path, a.line)
		if !slices.ContainsFunc(s.keys, func(k key) bool { return k.name == a.name }) {
			unknown = append(unknown, where+": "+s.refuse(a))
			continue
		}
		values[a.name], s.origins[a.name] = a.value, where
	}
	if err := s.viper.MergeConfigMap(values); err != nil {
		return nil, fmt.Errorf("merge the settings of %s: %w", path, err)
	}
	return unknown, nil
}

// refuse says that an assignment sets no key, and which may have been meant.
func (s *settings) refuse(a assignment) string {
	meant := nearest(strings.ToUpper(a.name), s.keys)
	value := setting{key: meant, text: a.value}.shown()
	return fmt.Sprintf("%s=%s: no setting has this name; the nearest is %s, expecting %s", a.name, value, meant.name, meant.kind.expects)
}

// all returns every setting, in the table's order, and what is wrong with them.
func (s *settings) all() ([]setting, error) {
	var all []setting
	var wrong []error
	for _, k := range s.keys {
		set := setting{key: k, text: strings.TrimSpace(s.viper.GetString(k.name)), origin: s.origin(k)}
		if set.text == "" {
			set.text = k.value
		}
		var ok bool
		if set.parsed, ok = k.kind.parse(set.text); !ok {
			wrong = append(wrong, fmt.Errorf("%s: %s=%s: expected %s", set.origin, k.name, set.shown(), k.kind.expects))
		}
		all = append(all, set)
	}
	return all, errors.Join(wrong...)
}

// origin says where the value of k comes from, in the order of precedence.
func (s *settings) origin(k key) string {
	name := flagName(k)
	_, inEnvironment := os.LookupEnv(k.name)
	switch {
	case s.flags.Changed(name):
		return "--" + name
	case inEnvironment:
		return "environment"
	case s.origins[k.name] != "":
		return s.origins[k.name]
	default:
		return "default"
	}
}

// shown is the value as it may be printed.
func (s setting) shown() string {
	if s.secret && s.text != "" {
		return "********"
	}
	return s.text
}

// configure makes the Config of the settings. The table and Config must name
// the same keys: one that only either has is an error.
func (s *settings) configure() (Config, error) {
	all, err := s.all()
	if err != nil {
		return Config{}, err
	}
	for _, set := range all {
		s.viper.Set(set.name, set.parsed)
	}
	var cfg Config
	err = s.viper.UnmarshalExact(&cfg, func(d *mapstructure.DecoderConfig) { d.ErrorUnset = true })
	if err != nil {
		return Config{}, fmt.Errorf("the table of settings and Config disagree: %w", err)
	}
	return cfg, nil
}

// flagName is a key's flag: MODEL_DIR is --model-dir.
func flagName(k key) string {
	return strings.ReplaceAll(strings.ToLower(k.name), "_", "-")
}

// addFlags gives a command one flag for every key, except for secrets: what
// stands on a command line is seen by every user of the machine.
func addFlags(flags *pflag.FlagSet, keys []key) {
	for _, k := range keys {
		if !k.secret {
			flags.Var(&flagValue{text: k.value, word: k.kind.word}, flagName(k), k.doc+" ["+k.name+"]")
		}
	}
}

// A flagValue is a flag's value as it was written; its key's kind reads it.
type flagValue struct{ text, word string }

func (f *flagValue) String() string { return f.text }
func (f *flagValue) Type() string   { return f.word }

func (f *flagValue) Set(text string) error {
	f.text = text
	return nil
}

// nearest returns the key whose name takes the fewest single letters inserted,
// deleted or replaced to be made of word; the first of equals.
func nearest(word string, keys []key) key {
	return slices.MinFunc(keys, func(a, b key) int { return editDistance(word, a.name) - editDistance(word, b.name) })
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a's beginning so far to b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
