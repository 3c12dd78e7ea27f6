package pulse_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain runs more parallel tests than there are processors, because they mostly wait for sound.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
