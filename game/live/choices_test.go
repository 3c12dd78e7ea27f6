package live_test

import (
	"encoding/json"
	"maps"
	"testing"

	"pressbox/game/chance"
	"pressbox/game/protocol"
)

// together puts decisions of the side in the field into one: of each field one of the values that were offered for it, by
// turns the usual one.
func together(t *testing.T, legal []protocol.Choice, turn int) protocol.Action {
	t.Helper()
	values := map[string][]map[string]any{}
	for _, c := range legal {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text(t, c.Action)), &fields); err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(fields, func(name string, _ any) bool { return name == "a" || name == "d" || name == "side" })
		for name := range fields {
			values[name] = append(values[name], fields)
		}
	}
	all := map[string]any{}
	for _, name := range []string{"pitch", "infield", "outfield", "behind", "lines"} {
		n := len(values[name]) + 1
		if at := turn % n; at > 0 {
			maps.Copy(all, values[name][at-1])
		}
		turn /= n
	}
	action, err := protocol.ReadAction([]byte(text(t, all)))
	if err != nil {
		t.Fatal(err)
	}
	action.Verb, action.Decision, action.Side = legal[0].Action.Verb, legal[0].Action.Decision, legal[0].Action.Side
	return action
}

// Whatever the side in the field may decide by itself it may decide together: the decisions of a whole game are put
// together in every way that comes up, and each is taken, and told as it was made.
func TestDefenceIsPutTogether(t *testing.T) {
	t.Parallel()
	h := newHall(t, newJournal())
	g := begin(t, h, func(o *protocol.Options) { o.Opponent = protocol.HotSeat })
	w := watch(t, h, carl, g.ID, g.Revision)
	made := map[chance.Defence]int{}
	for turn := 0; g.Status == protocol.Active; turn++ {
		first := g.Legal[0]
		if first.Group != "defence" {
			g = decideFirst(t, h, g.ID)
			continue
		}
		legal := g.Legal
		for i, c := range legal {
			if c.Group != first.Group {
				legal = legal[:i]
				break
			}
		}
		a := together(t, legal, turn*37)
		if _, _, err := h.Submit(t.Context(), ann, g.ID, command(t, h, ann, g.ID, a), nil); err != nil {
			t.Fatalf("%s: %v", text(t, a), err)
		}
		made[a.Defence]++
		g = look(t, h, ann, g.ID)
	}
	if len(made) < 40 {
		t.Errorf("only %d decisions were put together", len(made))
	}
	for _, m := range w.told("event") {
		if e := m.Data.(*protocol.Event); e.Calls != nil {
			if made[e.Calls.Defence] == 0 {
				t.Errorf("told %+v, which was not made", e.Calls.Defence)
			}
		}
	}
}
