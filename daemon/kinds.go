package main

import (
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A kind says which values a key takes.
type kind struct {
	word    string                         // in help, for a value
	expects string                         // in a refusal: "a whole number from 0 to 65535"
	parse   func(value string) (any, bool) // "" means none, where there is no default
}

// text takes anything, and expects says what it should be.
func text(word, expects string) kind {
	return kind{word, expects, func(value string) (any, bool) { return value, true }}
}

func number(from, to int) kind {
	return kind{"number", fmt.Sprintf("a whole number from %d to %d", from, to), func(value string) (any, bool) {
		n, err := strconv.Atoi(value)
		return n, err == nil && from <= n && n <= to
	}}
}

// seconds is a time.Duration, written as a whole number of seconds.
func seconds(from, to int) kind {
	whole := number(from, to)
	return kind{"seconds", whole.expects + ", in seconds", func(value string) (any, bool) {
		n, ok := whole.parse(value)
		count, isInt := n.(int)
		return time.Duration(count) * time.Second, ok && isInt
	}}
}

// size is an int64 of bytes, written with KiB, MiB or GiB behind it or nothing.
func size(from int64) kind {
	expects := fmt.Sprintf("a size in bytes, or with KiB, MiB or GiB behind it, of at least %d KiB", from>>10)
	return kind{"size", expects, func(value string) (any, bool) {
		digits, shift := value, 0
		for i, unit := range []string{"KiB", "MiB", "GiB"} {
			if before, ok := strings.CutSuffix(value, unit); ok {
				digits, shift = strings.TrimSpace(before), 10*(i+1)
			}
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		bytes := n << shift
		return bytes, err == nil && bytes>>shift == n && bytes >= from
	}}
}

func oneOf(words ...string) kind {
	return kind{strings.Join(words, "|"), "one of " + strings.Join(words, ", "), func(value string) (any, bool) {
		for _, word := range words {
			if strings.EqualFold(word, value) {
				return word, true
			}
		}
		return nil, false
	}}
}

// yesNo is a bool.
func yesNo() kind {
	words := oneOf("yes", "no")
	return kind{words.word, words.expects, func(value string) (any, bool) {
		word, ok := words.parse(value)
		return word == "yes", ok
	}}
}

func logLevel() kind {
	return kind{"level", "one of DEBUG, INFO, WARN, WARNING, ERROR", func(value string) (any, bool) {
		switch strings.ToUpper(value) {
		case "DEBUG":
			return slog.LevelDebug, true
		case "INFO":
			return slog.LevelInfo, true
		case "WARN", "WARNING":
			return slog.LevelWarn, true
		case "ERROR":
			return slog.LevelError, true
		default:
			return nil, false
		}
	}}
}

// address is a host without a port: a name, or an IP address without brackets.
func address() kind {
	return kind{"address", "an IP address or the name of a host, without a port", func(value string) (any, bool) {
		_, err := netip.ParseAddr(value)
		return value, err == nil || isHostName(value)
	}}
}

// webURL is an absolute address of the web; one that is only an origin has no
// path, and is kept as browsers write it.
func webURL(originOnly bool) kind {
	expects := "a URL such as http://pressbox.example/auth/callback"
	if originOnly {
		expects = "a URL without a path, such as https://pressbox.example"
	}
	return kind{"url", expects, func(value string) (any, bool) {
		if value == "" {
			return "", true
		}
		u, err := url.Parse(value)
		if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, false
		}
		if originOnly && (strings.Trim(u.Path, "/") != "" || u.RawQuery != "") {
			return nil, false
		}
		if originOnly {
			value = origin(u)
		}
		return value, true
	}}
}

// origin is that of an address, as browsers write it in Origin headers: in small
// letters, and without the port that its scheme has anyway.
func origin(u *url.URL) string {
	usual := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(strings.ToLower(u.Host), usual)
}

// hostNames is a []string.
func hostNames() kind {
	return kind{"names", "names of hosts such as pressbox.example or *.example, with commas between them", func(value string) (any, bool) {
		var names []string
		for _, name := range listed(value) {
			if !isHostName(strings.TrimPrefix(name, "*.")) {
				return nil, false
			}
			names = append(names, strings.ToLower(name))
		}
		return names, true
	}}
}

// networks is a []netip.Prefix; an address is a network of one.
func networks() kind {
	return kind{"networks", "IP addresses or networks such as 10.0.0.0/8, with commas between them", func(value string) (any, bool) {
		var nets []netip.Prefix
		for _, item := range listed(value) {
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
	}}
}

// listed splits a list at its commas and spaces.
func listed(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}

// isHostName says whether a name has the letters of one: RFC 1123 §2.1, and
// the underscore that home networks are full of.
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
