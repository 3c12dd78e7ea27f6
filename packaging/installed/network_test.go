//go:build installed

package installed

import (
	"net"
	"strings"

	"pressbox/packaging/check"
)

// testAddressFilter checks that clients with addresses of local networks are answered and
// others are not, unless the drop-in that the socket unit names admits them.
func testAddressFilter(s *server) {
	local := []string{"192.168.77.1", "10.77.0.1", "172.16.77.1", "169.254.77.1", "fd77::1"}
	internet := []string{"203.0.113.77", "100.64.77.1", "2001:db8:77::1"}
	for _, address := range append(local, internet...) {
		s.run("ip", "address", "add", address, "dev", "lo")
	}
	for _, address := range local {
		check.Equal(s.t, s.statusFrom(address, "60"), "200", "status from %s", address)
	}
	for _, address := range internet {
		check.Equal(s.t, s.statusFrom(address, "2"), "000", "status from %s", address)
	}
	const dropIn = "/etc/systemd/system/pressbox.socket.d/open.conf"
	restart := func() {
		s.run("systemctl", "daemon-reload")
		s.run("systemctl", "restart", "pressbox.socket", "pressbox.service")
	}
	s.write(dropIn, []byte("[Socket]\nIPAddressDeny=\nIPAddressAllow=\n"))
	restart()
	for _, address := range internet {
		check.Equal(s.t, s.statusFrom(address, "60"), "200", "status from %s with the drop-in", address)
	}
	s.run("rm", "-r", "/etc/systemd/system/pressbox.socket.d")
	restart()
}

// statusFrom returns the status of a request from an address of the host, or 000 if there
// is no answer within the given seconds.
func (s *server) statusFrom(address, patience string) string {
	return s.try("curl", "--silent", "--interface", address, "--max-time", patience, "--output", "/dev/null",
		"--write-out", "%{http_code}", "http://"+net.JoinHostPort(address, "8888")+"/health")
}

// testWallDisplay checks that the browser of the wall display counts as a client of the network,
// and another user of the host does not.
func testWallDisplay(s *server) {
	s.write("/etc/sysusers.d/pressbox-kiosk.conf", []byte("u pressbox-kiosk - \"Pressbox wall display\"\n"))
	s.run("systemd-sysusers", "pressbox-kiosk.conf")
	s.run("systemctl", "restart", "pressbox.service")
	const path = "/schedules" // no other part asks for it
	for user, client := range map[string]string{"pressbox-kiosk": "169.254.0.1", "daemon": "127.0.0.1"} {
		s.run("runuser", "--user", user, "--", "curl", "--silent", "--ipv4", "--request", "POST",
			"http://localhost:8888"+path)
		s.until("the log has a request of "+client, func() bool {
			_, request, _ := strings.Cut(s.journal("--unit=pressbox.service"), "path="+path)
			return strings.Contains(request, "client="+client+" ")
		})
	}
	s.run("userdel", "pressbox-kiosk")
	s.run("rm", "/etc/sysusers.d/pressbox-kiosk.conf")
	s.run("systemctl", "restart", "pressbox.service")
}
