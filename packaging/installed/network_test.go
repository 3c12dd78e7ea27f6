//go:build installed

package installed

import "net"

// answersTheHouse answers addresses of local networks and none of the internet, unless
// the drop-in that the socket's unit names lets them in.
func answersTheHouse(a *appliance) {
	house := []string{"192.168.77.1", "10.77.0.1", "172.16.77.1", "169.254.77.1", "fd77::1"}
	internet := []string{"203.0.113.77", "100.64.77.1", "2001:db8:77::1"}
	for _, address := range append(house, internet...) {
		a.run("ip", "address", "add", address, "dev", "lo")
	}
	for _, address := range house {
		if status := a.asked(address, "60"); status != "200" {
			a.t.Errorf("asked from %s it answers %s, want 200", address, status)
		}
	}
	for _, address := range internet {
		if status := a.asked(address, "2"); status != "000" {
			a.t.Errorf("asked from %s it answers %s, want that it does not", address, status)
		}
	}
	const dropIn = "/etc/systemd/system/pressbox.socket.d/open.conf"
	a.write(dropIn, []byte("[Socket]\nIPAddressDeny=\nIPAddressAllow=\n"))
	a.run("systemctl", "daemon-reload")
	a.run("systemctl", "restart", "pressbox.socket", "pressbox.service")
	for _, address := range internet {
		if status := a.asked(address, "60"); status != "200" {
			a.t.Errorf("with the drop-in it answers %s to %s, want 200", status, address)
		}
	}
	a.run("rm", "-r", "/etc/systemd/system/pressbox.socket.d")
	a.run("systemctl", "daemon-reload")
	a.run("systemctl", "restart", "pressbox.socket", "pressbox.service")
}

// asked is the status that somebody at an address of the machine is answered with, or
// 000 if nothing comes in as many seconds.
func (a *appliance) asked(address, patience string) string {
	return a.try("curl", "--silent", "--interface", address, "--max-time", patience, "--output", "/dev/null",
		"--write-out", "%{http_code}", "http://"+net.JoinHostPort(address, "8888")+"/health")
}
