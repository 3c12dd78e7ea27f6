package match

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pressbox/packaging/check"
)

var update = flag.Bool("update", false, "write the summaries of this version into testdata")

// The stored form of a summary changes only together with its version.
func TestSummary_storedForm(t *testing.T) {
	t.Parallel()
	moves := journal(t)
	var got bytes.Buffer
	for _, n := range []int{1, 40, len(moves)} {
		s, box, err := Summarize("old", moves[:n])
		check.NoError(t, err)
		if finished := n == len(moves); (box != nil) != finished ||
			finished && box.Teams[0].Runs+box.Teams[1].Runs != s.Scoreboard.Score.Home+s.Scoreboard.Score.Away {
			t.Errorf("after %d moves: box score %+v, summary %+v", n, box, s)
		}
		data := check.Must(s.Encode())(t)
		again, ok := DecodeSummary("old", data)
		check.That(t, ok && again.Revision == uint64(n), "%s is not decoded", data)
		check.NoError(t, json.Indent(&got, data, "", "\t"))
	}
	path := filepath.Join("testdata", fmt.Sprintf("summary-%d.golden", summaryVersion))
	if *update {
		check.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
	}
	want := check.Must(os.ReadFile(path))(t)
	check.That(t, got.String() == string(want),
		"%s has changed: raise summaryVersion and run the test with -update. It is now %s", path, got.String())
}
