package store_test

import (
	"testing"

	"pressbox/store/killtest"
)

// TestMain runs the tests, or plays a part in one.
func TestMain(m *testing.M) {
	killtest.Main(m, map[string]killtest.Part{"talker": talk, "full": fillTmpfs, "check": checkFile})
}
