package store_test

import (
	"fmt"
	"os"
	"testing"
)

// childKey names the part that a copy of the test binary plays for a test.
const childKey = "PRESSBOX_TEST_CHILD"

// TestMain runs the tests, or plays a part in one.
func TestMain(m *testing.M) {
	parts := map[string]func() error{"talker": talk, "full": fillTmpfs, "check": checkFile}
	part, ok := parts[os.Getenv(childKey)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := part(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
