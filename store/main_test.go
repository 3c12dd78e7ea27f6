package store_test

import (
	"testing"

	"pressbox/store/killtest"
)

// TestMain runs the tests, or a child process of one.
func TestMain(m *testing.M) {
	killtest.Main(m, map[string]killtest.Child{"announcer": runAnnouncer, "check": checkFile})
}
