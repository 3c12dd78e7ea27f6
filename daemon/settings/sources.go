package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"pressbox/voice/control/boolean"
)

// A Value is a setting with its value in this run.
type Value struct {
	Setting
	Text   string // as written at its origin; "" means none
	Origin string // "default", "environment", "--port", [OriginPage] or "FILE:LINE"
	Fixed  bool   // by a flag or in the environment, which the page does not override
	parsed any
}

// String returns the value in a form that may be printed: secrets, and parts that may be secret, are masked.
func (v Value) String() string {
	if v.Secret && v.Text != "" {
		return "********"
	}
	if v.Masked != nil {
		return v.Masked(v.Text)
	}
	return v.Text
}

// OriginPage is the origin of a value that an administrator has set on the page.
const OriginPage = "page"

// Sources holds the values of all settings, in order of precedence: flags, environment, the
// page, .env, pressbox.env, defaults. An empty value, wherever it is, selects the default.
type Sources struct {
	// Unknown describes the assignments in .env that are not settings.
	Unknown []string

	table   []Setting
	viper   *viper.Viper
	flags   *pflag.FlagSet
	origins map[string]string // name → "FILE:LINE", the later file's
	page    map[string]string // name → value, of settings that are not fixed
}

// Read reads the files, and later the flags and the environment. A missing file is empty,
// unless it is another one than [SystemFile].
func Read(flags *pflag.FlagSet, file string) (*Sources, error) {
	return read(Table(), flags, file, localFile)
}

// read is [Read] with another table and another .env; "" means none.
func read(table []Setting, flags *pflag.FlagSet, file, local string) (*Sources, error) {
	s := &Sources{table: withStateDirectory(table), viper: viper.New(), flags: flags, origins: make(map[string]string)}
	s.viper.AllowEmptyEnv(true)
	for _, row := range s.table {
		s.viper.SetDefault(row.Name, row.Default)
		if err := s.viper.BindEnv(row.Name, row.Name); err != nil {
			return nil, fmt.Errorf("bind %s to the environment: %w", row.Name, err)
		}
		if flag := flags.Lookup(row.Flag()); flag != nil {
			if err := s.viper.BindPFlag(row.Name, flag); err != nil {
				return nil, fmt.Errorf("bind %s to its flag: %w", row.Name, err)
			}
		}
	}

	var errs []error
	unknown, err := s.merge(file)
	if err != nil && (!errors.Is(err, fs.ErrNotExist) || file != SystemFile) {
		errs = append(errs, err)
	}
	if errors.Is(err, fs.ErrPermission) {
		s.assumeShipped()
	}
	for _, u := range unknown {
		errs = append(errs, errors.New(u))
	}
	if local != "" {
		s.Unknown, err = s.merge(local)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 { // so that all of them can be corrected at once
		_, err = s.Values()
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
}

// assumeShipped replaces the defaults by the values in the package's pressbox.env and by
// the port of the socket unit, so that the commands of a user who cannot read that file
// find the installed server.
func (s *Sources) assumeShipped() {
	for i, row := range s.table {
		value := row.Shipped
		if row.Name == "PORT" {
			value = strconv.Itoa(SocketPort("/"))
		}
		if value != "" {
			s.table[i].Default = value
			s.viper.SetDefault(row.Name, value)
		}
	}
}

// withStateDirectory returns the table with systemd's StateDirectory= as the default of
// STATE_DIR.
func withStateDirectory(table []Setting) []Setting {
	dir, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	table = slices.Clone(table)
	for i := range table {
		if table[i].Name == "STATE_DIR" && dir != "" {
			table[i].Default = dir
		}
	}
	return table
}

// merge overrides earlier values with the assignments of a file, and returns those that
// are not settings.
func (s *Sources) merge(path string) (unknown []string, err error) {
	assignments, invalid := readDotenv(path)
	values := make(map[string]any)
	for _, a := range assignments {
		where := fmt.Sprintf("%s:%d", path, a.line)
		if !slices.ContainsFunc(s.table, func(row Setting) bool { return row.Name == a.name }) {
			unknown = append(unknown, where+": "+s.unknown(a))
			continue
		}
		values[a.name], s.origins[a.name] = a.value, where
	}
	if err := s.viper.MergeConfigMap(values); err != nil {
		return nil, fmt.Errorf("merge the settings of %s: %w", path, err)
	}
	return unknown, invalid
}

// unknown describes an assignment that is not a setting, and the setting with the most
// similar name.
func (s *Sources) unknown(a assignment) string {
	names := make([]string, len(s.table))
	for i, row := range s.table {
		names[i] = row.Name
	}
	name := Nearest(strings.ToUpper(a.name), names)[0]
	if 2*editDistance(strings.ToUpper(a.name), name) > len(a.name) { // a guess, and the value may be a secret
		return a.name + ": unknown setting"
	}
	row := s.table[slices.Index(names, name)]
	value := Value{Setting: row, Text: a.value}
	return fmt.Sprintf("%s=%s: unknown setting; did you mean %s (%s)?", a.name, value, name, row.Expects())
}

// SetPage sets the values that administrators have set on the page, by the names of settings.
// Those of settings that a flag or the environment fixes do not apply. It returns an error for
// each value that is not valid, and then sets the others.
func (s *Sources) SetPage(values map[string]string) error {
	s.page = make(map[string]string)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		row, err := pageSetting(s.table, name)
		if err == nil {
			err = row.checkPage(values[name])
		}
		switch {
		case err != nil:
			errs = append(errs, err)
		case !s.fixed(row):
			s.page[name] = values[name]
		}
	}
	return errors.Join(errs...)
}

// CheckPage returns an error unless administrators may set a setting to a value on the page. ""
// selects the default.
func CheckPage(name, value string) error {
	row, err := pageSetting(Table(), name)
	if err != nil {
		return err
	}
	return row.checkPage(value)
}

// ErrNotOnPage is the error of a name that is no setting of the page.
var ErrNotOnPage = errors.New("not a setting of the page")

func pageSetting(table []Setting, name string) (Setting, error) {
	at := slices.IndexFunc(table, func(row Setting) bool { return row.Name == name && row.Page })
	if at < 0 {
		return Setting{}, fmt.Errorf("%s: %w", name, ErrNotOnPage)
	}
	return table[at], nil
}

// checkPage returns an error unless value is valid.
func (s Setting) checkPage(value string) error {
	if value = strings.TrimSpace(value); value == "" {
		value = s.Default
	}
	if _, ok := s.valueType.parse(value); !ok {
		return s.valueType.reject(Value{Setting: s, Text: value, Origin: OriginPage})
	}
	return nil
}

// Expects returns what the values of a setting are if value is not one of them; "" if it is.
func Expects(name, value string) string {
	at := slices.IndexFunc(Table(), func(row Setting) bool { return row.Name == name })
	if at < 0 {
		return "the name of a setting"
	}
	row := Table()[at]
	if row.checkPage(value) == nil {
		return ""
	}
	return row.Expects()
}

// Expects returns what the values of the setting are, for errors.
func (s Setting) Expects() string { return s.valueType.expects }

// fixed reports whether a flag or the environment has the setting.
func (s *Sources) fixed(row Setting) bool {
	_, inEnvironment := os.LookupEnv(row.Name)
	return inEnvironment || s.flags.Changed(row.Flag())
}

// Values returns every setting's value in the order of the table, and an error for each
// that is invalid.
func (s *Sources) Values() ([]Value, error) {
	var all []Value
	var errs []error
	for _, row := range s.table {
		text, onPage := s.page[row.Name]
		if !onPage {
			text = s.viper.GetString(row.Name)
		}
		if text = strings.TrimSpace(text); text == "" {
			text = row.Default
		}
		v := Value{Setting: row, Text: text, Origin: s.origin(row), Fixed: s.fixed(row)}
		var ok bool
		if v.parsed, ok = row.valueType.parse(v.Text); !ok {
			errs = append(errs, row.valueType.reject(v))
		}
		all = append(all, v)
	}
	return all, errors.Join(errs...)
}

// origin returns the source of a setting's value.
func (s *Sources) origin(row Setting) string {
	_, onPage := s.page[row.Name]
	switch {
	case s.flags.Changed(row.Flag()):
		return "--" + row.Flag()
	case s.fixed(row):
		return "environment"
	case onPage:
		return OriginPage
	case s.origins[row.Name] != "":
		return s.origins[row.Name]
	default:
		return "default"
	}
}

// Config returns the values as a [Config]. It fails if the table and Config do not have
// the same settings.
func (s *Sources) Config() (Config, error) {
	all, err := s.Values()
	if err != nil {
		return Config{}, err
	}
	parsed := viper.New()
	for _, v := range all {
		parsed.Set(v.Name, v.parsed)
	}
	var cfg Config
	err = parsed.UnmarshalExact(&cfg, func(d *mapstructure.DecoderConfig) { d.ErrorUnset = true })
	if err != nil {
		return Config{}, fmt.Errorf("the table of settings and Config disagree: %w", err)
	}
	return cfg, nil
}

// Changed returns the names of the settings that differ and that a reload applies (reload)
// or does not apply.
func Changed(old, next Config, reload bool) []string {
	before, after := byName(old), byName(next)
	var names []string
	for _, row := range Table() {
		if row.Reload == reload && !reflect.DeepEqual(before[row.Name], after[row.Name]) {
			names = append(names, row.Name)
		}
	}
	return names
}

// byName returns the values of a Config by the names of their settings.
func byName(cfg any) map[string]any {
	values := make(map[string]any)
	v := reflect.ValueOf(cfg)
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag.Get("mapstructure")
		if tag == ",squash" {
			maps.Copy(values, byName(v.Field(i).Interface()))
			continue
		}
		values[tag] = v.Field(i).Interface()
	}
	return values
}

var listenStream = regexp.MustCompile(`(?m)^ListenStream=(\d+)$`)

// SocketPort returns the port of pressbox.socket below root: that of the drop-in that
// "pressbox set-port" writes, else [DefaultPort].
func SocketPort(root string) int {
	//nolint:gosec // the name is fixed; without the file, the shipped port is used
	text, _ := os.ReadFile(filepath.Join(root, PortDropIn))
	if found := listenStream.FindSubmatch(text); found != nil {
		if port, err := strconv.Atoi(string(found[1])); err == nil {
			return port
		}
	}
	return DefaultPort
}

// Nearest returns the names in order of their edit distance to word.
func Nearest(word string, names []string) []string {
	nearer := func(a, b string) int { return editDistance(word, a) - editDistance(word, b) }
	return slices.SortedStableFunc(slices.Values(names), nearer)
}

// editDistance returns the Levenshtein distance of a and b in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a's prefix to b[:j]
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

// An assignment is one line NAME=value of a settings file.
type assignment struct {
	name, value string
	line        int // from 1
}

// readDotenv returns the assignments of a file, also with an error about other lines.
func readDotenv(path string) ([]assignment, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	assignments, err := parseDotenv(string(text))
	if err != nil { // a line each
		err = errors.New(path + ": " + strings.ReplaceAll(err.Error(), "\n", "\n"+path+": "))
	}
	return assignments, err
}

// parseDotenv reads lines of NAME=value, also with an error about others, one a line. Empty lines
// and lines that begin with "#" are skipped. Space around a name and a value, and one pair of
// quotes around a value, are removed. The rest is literal: $NAME is not expanded, "\" does not
// escape, and "#" does not begin a comment after a value.
func parseDotenv(text string) (assignments []assignment, err error) {
	var errs []error
	seen := make(map[string]int)
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		previous := seen[name]
		switch {
		case !ok || name == "" || strings.ContainsAny(name, " \t"):
			errs = append(errs, fmt.Errorf("line %d: expected NAME=value", n))
		case previous != 0:
			errs = append(errs, fmt.Errorf("line %d: %s is already set in line %d", n, name, previous))
		default:
			seen[name] = n
			assignments = append(assignments, assignment{name, unquote(strings.TrimSpace(value)), n})
		}
	}
	return assignments, errors.Join(errs...)
}

func unquote(value string) string {
	last := len(value) - 1
	if last > 0 && value[0] == value[last] && (value[0] == '"' || value[0] == '\'') {
		return value[1:last]
	}
	return value
}

// AddFlags adds a flag for every setting except secrets: every user of the host can read
// a command line.
func AddFlags(flags *pflag.FlagSet) { addFlags(flags, Table()) }

func addFlags(flags *pflag.FlagSet, table []Setting) {
	for _, s := range table {
		if !s.Secret {
			value := &flagValue{text: s.Default, typeName: s.valueType.name}
			flags.Var(value, s.Flag(), s.Description+" ["+s.Name+"]")
		}
	}
}

// A flagValue is a flag's value as written; the setting's valueType reads it.
type flagValue struct{ text, typeName string }

func (f *flagValue) String() string { return f.text }

// Type returns the type's name for the help.
func (f *flagValue) Type() string { return f.typeName }

// Set sets the value.
func (f *flagValue) Set(text string) error {
	f.text = text
	return nil
}

// AcceptBooleans makes the flags that need no value accept every boolean, such as --urgent=yes.
func AcceptBooleans(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" && f.NoOptDefVal != "" {
			f.Value = booleanFlag{f.Value}
		}
	})
}

// A booleanFlag is the value of a flag that needs none.
type booleanFlag struct{ pflag.Value }

// Set sets the value from a text that is a boolean.
func (b booleanFlag) Set(text string) error {
	value, ok := boolean.Parse(text)
	if !ok {
		return errors.New("expected " + boolean.Expects)
	}
	return b.Value.Set(strconv.FormatBool(value)) //nolint:wrapcheck // FormatBool's text is valid
}
