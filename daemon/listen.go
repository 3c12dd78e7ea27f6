package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"pressbox/daemon/systemd"
)

// The names that the socket units give to their sockets.
const (
	httpSocket  = "http"
	adminSocket = "admin"
)

// adminSocketName is the administrator's socket in the folder of the state, where systemd
// has opened none.
const adminSocketName = "admin.sock"

// maxSocketPath is the longest path of a Unix socket (unix(7)).
const maxSocketPath = 107

// sockets are where the daemon is asked.
type sockets struct {
	http      []net.Listener
	admin     []net.Listener
	inherited bool   // whether http was opened by systemd
	differ    string // where it was, when that is not HOST and PORT; "" otherwise
}

// listen takes over the sockets that systemd opened, and opens those that it
// did not: HOST:PORT, and admin.sock in the folder of the state. Whoever calls
// it has the store open, so a socket that lies there is a dead daemon's.
func listen(cfg Config) (sockets, error) {
	inherited, err := systemd.Listeners()
	if err != nil {
		return sockets{}, err
	}
	s := sockets{http: inherited[httpSocket], admin: inherited[adminSocket]}
	for name := range inherited {
		if name != httpSocket && name != adminSocket {
			return sockets{}, fmt.Errorf("the inherited socket %q: expected FileDescriptorName=%s or %s", name, httpSocket, adminSocket)
		}
	}
	if s.inherited = s.http != nil; s.inherited {
		s.differ = differing(cfg, s.http)
	} else {
		l, err := listenHTTP(cfg)
		if err != nil {
			return sockets{}, err
		}
		s.http = append(s.http, l)
	}
	if s.admin == nil {
		l, err := listenAdmin(filepath.Join(cfg.StateDir, adminSocketName))
		if err != nil {
			return sockets{}, errors.Join(err, s.close())
		}
		s.admin = append(s.admin, l)
	}
	return s, nil
}

// differing returns where the sockets are, unless one of them is where HOST and
// PORT would have it.
func differing(cfg Config, inherited []net.Listener) string {
	var all []string
	for _, l := range inherited {
		at, err := netip.ParseAddrPort(l.Addr().String())
		if err != nil { // no TCP
			all = append(all, l.Addr().String())
			continue
		}
		host, err := netip.ParseAddr(cfg.Host)
		same := err != nil || host == at.Addr().Unmap() || host.IsUnspecified() && at.Addr().IsUnspecified() // a name may mean any address
		if same && (cfg.Port == int(at.Port()) || cfg.Port == 0) {
			return ""
		}
		all = append(all, at.String())
	}
	return strings.Join(all, " ")
}

func listenHTTP(cfg Config) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(cfg.Host, strconv.Itoa(cfg.Port))) //nolint:noctx // it does not wait
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &exitError{exitInUse, fmt.Errorf("port %d is in use by another program; --port or PORT chooses another", cfg.Port)}
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("port %d may not be opened by this user; --port or PORT chooses another: %w", cfg.Port, err)
	case err != nil:
		return nil, fmt.Errorf("listen on HOST=%s: %w", cfg.Host, err)
	default:
		return l, nil
	}
}

// listenAdmin opens the administrator's socket, for this user alone.
func listenAdmin(path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("listen for administration: the path %s is longer than the %d bytes of a socket's: choose a shorter STATE_DIR", path, maxSocketPath)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("listen for administration: %w", err)
	}
	l, err := net.Listen("unix", path) //nolint:noctx // it does not wait
	if err != nil {
		return nil, fmt.Errorf("listen for administration: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("listen for administration: %w", err), l.Close())
	}
	return l, nil
}

// close closes what nobody serves.
func (s sockets) close() error {
	var errs []error
	for _, l := range append(s.http, s.admin...) {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// webAddress is where people reach a socket: its real address, whatever the settings
// say, and this machine's name for one that is open on all addresses.
func webAddress(l net.Listener) string {
	addr, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return l.Addr().String()
	}
	host := addr.Addr().Unmap().String()
	if addr.Addr().IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(int(addr.Port())))
}
