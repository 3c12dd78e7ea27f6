//go:build installed

package installed

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"pressbox/packaging/check"
)

// testWyoming checks that a client of the Wyoming protocol starts the stopped service, and that
// its port has the address filter of the first one; that nothing is served with WYOMING=off; and
// that a port in use does not keep the server from starting.
func testWyoming(s *server) {
	s.run("systemctl", "stop", "pressbox.service")
	s.checkWyoming()
	for address, answered := range map[string]bool{"192.168.77.1": true, "203.0.113.77": false} {
		got := s.try("timeout", "5", "bash", "-c", `exec 3<>/dev/tcp/`+address+`/10200 &&
			echo '{"type":"ping"}' >&3 && head -n 1 <&3`)
		check.Equal(s.t, strings.Contains(got, "pong"), answered, "%s is answered %q, a pong", address, got)
	}

	s.run("sh", "-c", "echo WYOMING=off >>"+settingsFile)
	s.run("systemctl", "restart", "pressbox.service")
	check.Equal(s.t, s.describe(), "", "the answer with WYOMING=off")
	s.run("sed", "-i", "/^WYOMING=/d", settingsFile)

	s.run("systemctl", "stop", "pressbox.service", "pressbox-wyoming.socket")
	s.run("systemd-run", "--quiet", "--unit=piper", "systemd-socket-activate", "--listen=10200", "true")
	s.until("another program listens", func() bool {
		return strings.Contains(s.run("ss", "-Hltn", "sport = :10200"), "10200")
	})
	s.run("systemctl", "start", "pressbox.service")
	doctor := s.try("pressbox", "doctor")
	warned := containsLine(doctor, "warn", "wyoming", "port 10200 is in use by another program")
	check.That(s.t, warned, "doctor with a port in use:\n%s", doctor)
	s.run("systemctl", "stop", "piper.service")
	s.run("systemctl", "restart", "pressbox.service")
	s.checkWyoming()
	check.Equal(s.t, s.run("systemctl", "is-active", "pressbox-wyoming.socket"), "active", "the socket after a restart")
}

// checkWyoming checks that a client of the Wyoming protocol learns the voices.
func (s *server) checkWyoming() {
	s.t.Helper()
	check.Contains(s.t, s.describe(), `"name":"en_US-pressbox-medium"`, "the answer at port 10200")
}

// describe returns the data of the response to a describe; "" if there is none.
func (s *server) describe() string {
	s.t.Helper()
	conn := check.Must(s.dial(s.t.Context(), "tcp", "127.0.0.1:10200"))(s.t)
	defer conn.Close()
	_, _ = io.WriteString(conn, "{\"type\": \"describe\"}\n") // the server may have closed it
	in := bufio.NewReader(conn)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return ""
	}
	var header struct {
		Length int `json:"data_length"`
	}
	check.NoError(s.t, json.Unmarshal(line, &header))
	data := make([]byte, header.Length)
	if _, err := io.ReadFull(in, data); err != nil {
		return fmt.Sprint(err)
	}
	return string(data)
}
