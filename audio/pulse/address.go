package pulse

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	port       = "4713" // default TCP port
	cookieSize = 256
)

// An address is a possible address of the server, as for [net.Dial].
type address struct{ network, addr string }

func (a address) String() string { return a.network + ":" + a.addr }

// parseServers parses a server string as PulseAudio's own clients do (its manual, "Server Strings"):
// addresses separated by blanks, tried in order, each a path, unix:PATH, tcp:HOST[:PORT], tcp4:…, tcp6:… or
// HOST[:PORT]. An address with the prefix {NAME} applies only on the host with that name or machine id.
func parseServers(text string, hostNames ...string) ([]address, error) {
	var all []address
	for word := range strings.FieldsSeq(text) {
		place := word
		if named, found := strings.CutPrefix(place, "{"); found {
			name, rest, closed := strings.Cut(named, "}")
			if !closed || rest == "" {
				return nil, fmt.Errorf("server %q: want {NAME} and an address", word)
			}
			if !slices.Contains(hostNames, name) {
				continue
			}
			place = rest
		}
		a, err := parseAddress(place)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

func parseAddress(place string) (address, error) {
	if path, found := strings.CutPrefix(place, "unix:"); found || strings.HasPrefix(place, "/") {
		if !filepath.IsAbs(path) {
			return address{}, fmt.Errorf("server %q: want an absolute path", place)
		}
		return address{"unix", path}, nil
	}
	network, host := "tcp", place
	for _, n := range []string{"tcp", "tcp4", "tcp6"} {
		if rest, found := strings.CutPrefix(place, n+":"); found {
			network, host = n, rest
		}
	}
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(strings.Trim(host, "[]"), port)
	}
	if name, _, err := net.SplitHostPort(host); err != nil || name == "" {
		return address{}, fmt.Errorf("server %q: want a path, unix:PATH, tcp:HOST or HOST", place)
	}
	return address{network, host}, nil
}

// servers returns the addresses in the order in which they are tried.
func (c Config) servers() ([]address, error) {
	if strings.TrimSpace(c.Server) == "" {
		return c.defaultServers(), nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("get the host name: %w", err)
	}
	id, _ := os.ReadFile("/etc/machine-id") // optional
	all, err := parseServers(c.Server, host, strings.TrimSpace(string(id)))
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("server %q: no address applies to this host", c.Server)
	}
	return all, err
}

// defaultServers returns the addresses without a configured server: of this user's server and of the
// system's.
func (c Config) defaultServers() []address {
	var all []address
	for _, dir := range []string{c.RuntimeDir, fmt.Sprintf("/run/user/%d", os.Getuid()), "/run"} {
		a := address{"unix", filepath.Join(dir, "pulse", "native")}
		if filepath.IsAbs(a.addr) && (len(all) == 0 || all[0] != a) {
			all = append(all, a)
		}
	}
	return all
}

// cookie returns the secret shared with the server: the contents of the first file that has the right size.
// Without one it returns zeros, which a server accepts that requires no cookie.
func (c Config) cookie() []byte {
	for _, file := range c.Cookies {
		secret, err := os.ReadFile(file) //nolint:gosec // the operator names it
		if err == nil && len(secret) == cookieSize {
			return secret
		}
	}
	return make([]byte, cookieSize)
}
