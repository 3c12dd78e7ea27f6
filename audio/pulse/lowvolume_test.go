package pulse

import (
	"log/slog"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

// The log has the volume of a sink, and warns of one that is low when it is connected.
func TestSink_logsLowVolume(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		volume int
		muted  bool // /health reports it
		warned bool
	}{{40, false, true}, {LowVolume - 1, false, true}, {LowVolume, false, false}, {40, true, false}} {
		var log check.Log
		s := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
		s.setState(state{sink: serverSink{name: "speaker", volume: tt.volume, muted: tt.muted}})
		check.Equal(t, strings.Contains(log.String(), `level=WARN msg="sink volume low"`), tt.warned,
			"volume %d, muted %v: warned", tt.volume, tt.muted)
		logged := log.String()
		s.setState(state{sink: serverSink{name: "speaker", volume: tt.volume - 1}})
		check.That(t, log.String() == logged, "a change of the volume is logged:\n%s", &log)
	}
}
