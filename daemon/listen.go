package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"pressbox/daemon/exitcode"
	"pressbox/daemon/limits"
	"pressbox/daemon/settings"
	"pressbox/daemon/setup"
	"pressbox/daemon/systemd"
)

// The names of the socket units' sockets (FileDescriptorName=).
const (
	httpSocket    = "http"
	adminSocket   = "admin"
	wyomingSocket = "wyoming"
	esphomeSocket = "esphome"
)

// maxSocketPath is the maximum length of a Unix socket's path (unix(7)).
const maxSocketPath = 107

// sockets holds the listeners of the server.
type sockets struct {
	http        []net.Listener
	admin       []net.Listener
	wyoming     side
	esphome     side
	fromSystemd bool   // systemd passed the http sockets
	mismatch    string // their addresses, if none is HOST and PORT; "" otherwise
}

// A side is the sockets of a protocol beside HTTP, which the server can do without.
type side struct {
	listeners []net.Listener
	err       error // why none could be opened; nil if none is needed
}

// listenSide returns the sockets that systemd passed, or opens one at an address unless the protocol is off.
func listenSide(passed []net.Listener, off, address string) side {
	if passed != nil || off != "" {
		return side{listeners: passed}
	}
	l, err := net.Listen("tcp", address) //nolint:noctx // it does not wait
	if err != nil {
		return side{err: err}
	}
	return side{listeners: []net.Listener{l}}
}

// listen returns the sockets that systemd passed, and opens the others: HOST:PORT, the admin socket in
// STATE_DIR, and those of the other protocols. The caller has locked the store, so an existing admin socket belongs to
// a process that has ended.
func listen(cfg settings.Config) (sockets, error) {
	passed, err := systemd.Listeners()
	if err != nil {
		return sockets{}, err
	}
	s := sockets{http: passed[httpSocket], admin: passed[adminSocket]}
	known := []string{httpSocket, adminSocket, wyomingSocket, esphomeSocket}
	for name := range passed {
		if !slices.Contains(known, name) {
			return sockets{}, fmt.Errorf("socket %q passed by systemd: expected a FileDescriptorName= of %s",
				name, strings.Join(known, ", "))
		}
	}
	if s.fromSystemd = s.http != nil; s.fromSystemd {
		s.mismatch = mismatch(cfg, s.http)
	} else {
		l, err := listenHTTP(cfg)
		if err != nil {
			return sockets{}, err
		}
		s.http = append(s.http, l)
	}
	if s.admin == nil {
		l, err := listenAdmin(cfg.AdminSocket())
		if err != nil {
			return sockets{}, errors.Join(err, s.close())
		}
		s.admin = append(s.admin, l)
	}
	s.wyoming = listenSide(passed[wyomingSocket], cfg.WyomingOff(), cfg.WyomingAddress())
	s.esphome = listenSide(passed[esphomeSocket], cfg.ESPHomeOff(), cfg.ESPHomeAddress())
	s.limitDisplay()
	return s, nil
}

// limitDisplay takes the privileges of loopback addresses from the browser of the wall display
// of this host, if it has one: its page and its keyboard are not the administrator's.
func (s sockets) limitDisplay() {
	u, err := user.Lookup(setup.KioskUser)
	if err != nil {
		return
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return
	}
	for _, listeners := range [][]net.Listener{s.http, s.wyoming.listeners, s.esphome.listeners} {
		for i, l := range listeners {
			listeners[i] = limits.ListenWithDisplay(l, uid)
		}
	}
}

// mismatch returns the addresses of the sockets unless one of them is HOST and PORT.
func mismatch(cfg settings.Config, passed []net.Listener) string {
	var all []string
	for _, l := range passed {
		addr, err := netip.ParseAddrPort(l.Addr().String())
		if err != nil { // not TCP
			all = append(all, l.Addr().String())
			continue
		}
		host, err := netip.ParseAddr(cfg.Host)
		// a host name may stand for any address
		same := err != nil || host == addr.Addr().Unmap() || host.IsUnspecified() && addr.Addr().IsUnspecified()
		if same && (cfg.Port == int(addr.Port()) || cfg.Port == 0) {
			return ""
		}
		all = append(all, addr.String())
	}
	return strings.Join(all, " ")
}

func listenHTTP(cfg settings.Config) (net.Listener, error) {
	l, err := net.Listen("tcp", cfg.Address()) //nolint:noctx // it does not wait
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, exitcode.With(exitcode.InUse,
			fmt.Errorf("port %d is in use by another program: choose another with --port or PORT", cfg.Port))
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("this user may not open port %d: choose another with --port or PORT: %w", cfg.Port, err)
	case err != nil:
		return nil, fmt.Errorf("listen on HOST=%s: %w", cfg.Host, err)
	default:
		return l, nil
	}
}

// listenAdmin opens the admin socket, accessible to this user only.
func listenAdmin(path string) (l net.Listener, err error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("open the admin socket: the path %s exceeds %d bytes: choose a shorter STATE_DIR",
			path, maxSocketPath)
	}
	if err = os.Remove(path); err == nil || errors.Is(err, os.ErrNotExist) {
		l, err = net.Listen("unix", path) //nolint:noctx // it does not wait
	}
	if err == nil {
		if err = os.Chmod(path, 0o600); err == nil {
			return l, nil
		}
		err = errors.Join(err, l.Close())
	}
	return nil, fmt.Errorf("open the admin socket: %w", err)
}

// close closes all sockets.
func (s sockets) close() error {
	var errs []error
	for _, l := range slices.Concat(s.http, s.admin, s.wyoming.listeners, s.esphome.listeners) {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// urlOf returns the URL at which clients reach a socket, with localhost for one that is open
// on all addresses.
func urlOf(l net.Listener) string {
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
