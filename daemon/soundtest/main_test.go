// Package soundtest records what the sound server plays, in real time. Its tests run alone, as
// a busy host spoils a recording.
package soundtest_test

import (
	"os"
	"testing"

	"pressbox/daemon/servertest"
)

const rate = 22050 // samples per second of the bundled voice and of the sink

func TestMain(m *testing.M) { os.Exit(servertest.Main(m)) }
