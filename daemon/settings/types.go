package settings

import (
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressbox/audio"
	"pressbox/voice/announce"
	"pressbox/voice/control/boolean"
	"pressbox/voice/control/hours"
	"pressbox/voice/rooms"
)

// A valueType reads the values of settings.
type valueType struct {
	name    string                         // in help and documents: "integer"
	limits  string                         // in documents: "0–65535"; "" means none
	expects string                         // in errors: "an integer from 0 to 65535"
	parse   func(value string) (any, bool) // value is "" if the setting has no default and is not set
	explain func(value string) error       // returns what is wrong with a value; nil if expects says enough
}

// reject returns the error of a value that parse does not accept.
func (t valueType) reject(value Value) error {
	err := fmt.Errorf("%s: %s=%s: expected %s", value.Origin, value.Name, value, t.expects)
	if t.explain != nil {
		err = fmt.Errorf("%w: %w", err, t.explain(value.Text))
	}
	return err
}

// stringType returns the type of strings that valid accepts.
func stringType(name, expects string, valid func(value string) bool) valueType {
	parse := func(value string) (any, bool) { return value, valid(value) }
	return valueType{name: name, expects: expects, parse: parse}
}

// text returns the type of strings.
func text() valueType { return stringType("string", "a string", func(string) bool { return true }) }

// path returns the type of paths of files and directories.
func path() valueType { return stringType("path", "a path", func(string) bool { return true }) }

// list returns the type of a []string that is separated by commas or spaces.
func list() valueType {
	return valueType{
		name: "list", expects: "words separated by commas or spaces",
		parse: func(value string) (any, bool) { return splitList(value), true },
	}
}

// integer returns the type of an int in a range.
func integer(from, to int) valueType {
	return valueType{
		name:    "integer",
		limits:  fmt.Sprintf("%d–%d", from, to),
		expects: fmt.Sprintf("an integer from %d to %d", from, to),
		parse: func(value string) (any, bool) {
			n, err := strconv.Atoi(value)
			return n, err == nil && from <= n && n <= to
		},
	}
}

// seconds returns the type of a time.Duration that is written as an integer.
func seconds(from, to int) valueType {
	t := integer(from, to)
	return valueType{
		name: "seconds", limits: t.limits, expects: t.expects + ", in seconds",
		parse: func(value string) (any, bool) {
			parsed, ok := t.parse(value)
			n, isInt := parsed.(int)
			return time.Duration(n) * time.Second, ok && isInt
		},
	}
}

// decibels returns the type of a float64 from a negative number to 0.
func decibels(from int) valueType {
	return valueType{
		name: "decibels", limits: fmt.Sprintf("%d to 0", from), expects: fmt.Sprintf("decibels from %d to 0", from),
		parse: func(value string) (any, bool) {
			n, err := strconv.ParseFloat(value, 64)
			return n, err == nil && float64(from) <= n && n <= 0
		},
	}
}

// weeklyHours returns the type of an [hours.Week].
func weeklyHours() valueType {
	return valueType{
		name: "hours", expects: "times such as 22:00-07:00 or Mon-Fri 22:00-06:30, separated by commas",
		parse: func(value string) (any, bool) {
			week, err := hours.Parse(value)
			return week, err == nil
		},
		explain: func(value string) error {
			_, err := hours.Parse(value)
			return err
		},
	}
}

// size returns the type of an int64 of bytes that is written with the unit KiB, MiB, GiB or none.
func size(least int64) valueType {
	expects := fmt.Sprintf("a size in bytes or with the unit KiB, MiB or GiB, at least %d MiB", least>>20)
	return valueType{
		name: "size", limits: fmt.Sprintf("≥ %d MiB", least>>20), expects: expects,
		parse: func(value string) (any, bool) {
			digits, shift := value, 0
			for i, unit := range []string{"KiB", "MiB", "GiB"} {
				if before, ok := strings.CutSuffix(value, unit); ok {
					digits, shift = strings.TrimSpace(before), 10*(i+1)
				}
			}
			n, err := strconv.ParseInt(digits, 10, 64)
			bytes := n << shift
			return bytes, err == nil && bytes>>shift == n && bytes >= least
		},
	}
}

// oneOf returns the type of words from a list, in lower or upper case.
func oneOf(words ...string) valueType {
	return valueType{
		name: strings.Join(words, "|"), expects: "one of " + strings.Join(words, ", "),
		parse: func(value string) (any, bool) {
			for _, word := range words {
				if strings.EqualFold(word, value) {
					return word, true
				}
			}
			return nil, false
		},
	}
}

// priority returns the type of an int from 1 to 5, or off, which is 0.
func priority() valueType {
	t := integer(1, 5)
	return valueType{name: "1–5|off", expects: t.expects + ", or off", parse: func(value string) (any, bool) {
		if boolean.Off(value) {
			return 0, true
		}
		return t.parse(value)
	}}
}

// boolType returns the type of a bool. Its name is not "bool": viper reads flags of that type itself.
func boolType() valueType {
	return valueType{name: "boolean", expects: boolean.Expects, parse: func(value string) (any, bool) {
		return boolean.Parse(value)
	}}
}

// orOff returns t with a boolean that is false as another way of writing the word off.
func orOff(t valueType, off string) valueType {
	parse := t.parse
	t.parse = func(value string) (any, bool) {
		if boolean.Off(value) {
			value = off
		}
		return parse(value)
	}
	return t
}

// chime returns the type of the name of a sound that is a chime; a boolean that is false is none.
func chime() valueType {
	name := valueType{
		name: "sound", expects: "none, or the name of a sound: 1 to 64 of a-z, 0-9 and -",
		parse: func(value string) (any, bool) { return value, announce.ValidSound(value) },
	}
	return orOff(name, string(audio.NoChime))
}

func logLevel() valueType {
	levels := map[string]slog.Level{
		"DEBUG": slog.LevelDebug, "INFO": slog.LevelInfo, "ERROR": slog.LevelError,
		"WARN": slog.LevelWarn, "WARNING": slog.LevelWarn,
	}
	return valueType{
		name: "level", limits: "DEBUG|INFO|WARN|ERROR", expects: "one of DEBUG, INFO, WARN, WARNING, ERROR",
		parse: func(value string) (any, bool) {
			level, ok := levels[strings.ToUpper(value)]
			return level, ok
		},
	}
}

// host returns the type of a host name or an IP address without brackets, without a port.
func host() valueType {
	return stringType("host", "an IP address or a host name, without a port", func(value string) bool {
		_, err := netip.ParseAddr(value)
		return err == nil || isHostName(value)
	})
}

// room returns the type of the name of a room, or "".
func room() valueType {
	return stringType("name", "up to 64 letters, digits, - and _, and not \"all\"", func(value string) bool {
		return value == "" || rooms.CheckName(strings.ToLower(value)) == nil
	})
}

// webURL returns the type of an absolute http or https URL, or "".
func webURL() valueType {
	return stringType("URL", "a URL such as https://pressbox.example/path", func(value string) bool {
		return value == "" || parseURL(value) != nil
	})
}

// origin returns the type of a URL without a path, or "", in the form of the header Origin.
func origin() valueType {
	return valueType{
		name: "origin", expects: "a URL without a path, such as https://pressbox.example",
		parse: func(value string) (any, bool) {
			if value == "" {
				return "", true
			}
			u := parseURL(value)
			if u == nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
				return nil, false
			}
			defaultPort := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
			return u.Scheme + "://" + strings.TrimSuffix(strings.ToLower(u.Host), defaultPort), true
		},
	}
}

// parseURL returns an absolute http or https URL without user and fragment; nil if value
// is none.
func parseURL(value string) *url.URL {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil
	}
	return u
}

// hosts returns the type of a []string of host names, which may begin with "*.".
func hosts() valueType {
	return valueType{
		name: "hosts", expects: "host names such as pressbox.example or *.example, separated by commas",
		parse: func(value string) (any, bool) {
			var names []string
			for _, name := range splitList(value) {
				if !isHostName(strings.TrimPrefix(name, "*.")) {
					return nil, false
				}
				names = append(names, strings.ToLower(name))
			}
			return names, true
		},
	}
}

// networks returns the type of a []netip.Prefix; an address is a network of one.
func networks() valueType {
	return valueType{
		name: "networks", expects: "IP addresses or networks such as 10.0.0.0/8, separated by commas",
		parse: func(value string) (any, bool) {
			var nets []netip.Prefix
			for _, item := range splitList(value) {
				if addr, err := netip.ParseAddr(item); err == nil {
					item = netip.PrefixFrom(addr, addr.BitLen()).String()
				}
				prefix, err := netip.ParsePrefix(item)
				if err != nil {
					return nil, false
				}
				nets = append(nets, prefix.Masked())
			}
			return nets, true
		},
	}
}

// splitList splits a list at commas and spaces.
func splitList(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}

// isHostName reports whether name has the syntax of RFC 1123 section 2.1; underscores,
// which home networks use, are allowed.
func isHostName(name string) bool {
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "-") != label {
			return false
		}
		for _, c := range label {
			letter := c == '-' || c == '_' || ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z')
			if !letter {
				return false
			}
		}
	}
	return len(name) <= 253
}

// ParseOrigin returns an origin in the form that browsers use, or an error that names the
// expected form.
func ParseOrigin(value string) (string, error) {
	t := origin()
	parsed, _ := t.parse(value)
	if s, ok := parsed.(string); ok && s != "" {
		return s, nil
	}
	return "", fmt.Errorf("%q: expected %s", value, t.expects)
}

// CheckLevel returns an error unless LOG_LEVEL accepts value.
func CheckLevel(value string) error {
	t := logLevel()
	if _, ok := t.parse(value); !ok {
		return fmt.Errorf("%q: expected %s", value, t.expects)
	}
	return nil
}
