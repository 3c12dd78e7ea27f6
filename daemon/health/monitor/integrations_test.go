package monitor

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

// /health is public: an error of the connection to the broker does not name the broker.
func TestWithoutAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:1", "broker.invalid:1883"} {
		_, err := net.Dial("tcp", address)
		host, _, _ := strings.Cut(address, ":")
		if got := withoutAddress(fmt.Errorf("connect to %s: %w", address, err)); err == nil || got == "" ||
			strings.Contains(got, host) {
			t.Errorf("%s: %q", address, got)
		}
	}
	check.Equal(t, withoutAddress(fmt.Errorf("bad user name or password")),
		"bad user name or password", "another error")
}
