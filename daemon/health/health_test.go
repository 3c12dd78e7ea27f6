package health

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/check"
	"pressbox/daemon/web/admin"
	"pressbox/store"
	"pressbox/voice/announce"
)

// A store that fills up is degraded before it rejects data, and failing then.
func TestMonitor_storeFillsUp(t *testing.T) {
	t.Parallel()
	st := check.Must(store.Open(filepath.Join(t.TempDir(), "pressbox.db"), store.Options{MaxSize: 4 << 20}))(t)
	defer st.Close()
	m := &Monitor{Store: st}
	var states []admin.Health
	for n := 1; ; n++ {
		c := m.store()
		if len(states) == 0 || states[len(states)-1] != c.Health {
			states = append(states, c.Health)
		}
		if (c.Health == "") != (c.Detail == "") {
			t.Errorf("%q with the detail %q", c.Health, c.Detail)
		}
		if c.Health == admin.Failing {
			break
		}
		a := announce.Announcement{ID: fmt.Sprint(n), Seq: uint64(n), Message: strings.Repeat("x", 10<<10), Status: announce.Queued}
		_, _, err := st.Append(t.Context(), a, announce.IdempotencyKey{})
		check.NoError(t, err)
	}
	if got := fmt.Sprint(states); got != "[ degraded failing]" {
		t.Errorf("the states of the store were %s", got)
	}
}
