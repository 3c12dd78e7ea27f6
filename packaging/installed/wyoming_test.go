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
	for address, want := range map[string]string{"192.168.77.1": "pong", "203.0.113.77": ""} {
		if got := s.try("timeout", "5", "bash", "-c", `exec 3<>/dev/tcp/`+address+`/10200 &&
			echo '{"type":"ping"}' >&3 && head -n 1 <&3`); strings.Contains(got, "pong") != (want != "") {
			s.t.Errorf("%s is answered %q, want %q", address, got, want)
		}
	}

	s.run("sh", "-c", "echo WYOMING=off >>"+settingsFile)
	s.run("systemctl", "restart", "pressbox.service")
	if got := s.describe(); got != "" {
		s.t.Errorf("with WYOMING=off: %s", got)
	}
	s.run("sed", "-i", "/^WYOMING=/d", settingsFile)

	s.run("systemctl", "stop", "pressbox.service", "pressbox-wyoming.socket")
	s.run("systemd-run", "--quiet", "--unit=piper", "systemd-socket-activate", "--listen=10200", "true")
	s.until("another program listens", func() bool {
		return strings.Contains(s.run("ss", "-Hltn", "sport = :10200"), "10200")
	})
	s.run("systemctl", "start", "pressbox.service")
	if got := s.try("pressbox", "doctor"); !containsLine(got, "warn", "wyoming",
		"port 10200 is in use by another program") {
		s.t.Errorf("doctor with a port in use:\n%s", got)
	}
	s.run("systemctl", "stop", "piper.service")
	s.run("systemctl", "restart", "pressbox.service")
	s.checkWyoming()
	if got := s.run("systemctl", "is-active", "pressbox-wyoming.socket"); got != "active" {
		s.t.Errorf("after a restart of the service, its socket is %s", got)
	}
}

// checkWyoming checks that a client of the Wyoming protocol learns the voices.
func (s *server) checkWyoming() {
	s.t.Helper()
	if got := s.describe(); !strings.Contains(got, `"name":"en_US-pressbox-medium"`) {
		s.t.Errorf("describe at port 10200 is answered by %.200q, want the voices", got)
	}
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
