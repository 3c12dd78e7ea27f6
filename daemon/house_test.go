package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"pressbox/daemon/web"
	"pressbox/store"
)

// A store that fills up is degraded before it refuses anything, and failing when it does.
func TestAStoreThatFillsUpIsDegradedFirst(t *testing.T) {
	t.Parallel()
	kept, err := store.Open(filepath.Join(t.TempDir(), "pressbox.db"), store.Options{MaxSize: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	h := &house{store: kept}
	var seen []web.Health
	for n := 0; ; n++ {
		c := h.checkStore()
		if len(seen) == 0 || seen[len(seen)-1] != c.Health {
			seen = append(seen, c.Health)
		}
		if (c.Health == "") != (c.Detail == "") {
			t.Errorf("%q with the detail %q", c.Health, c.Detail)
		}
		if c.Health == web.Failing {
			break
		}
		if err := kept.SaveTeamData(t.Context(), fmt.Sprint(n), make([]byte, 50<<10)); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(seen); got != "[ degraded failing]" {
		t.Errorf("the store was %s", got)
	}
}
