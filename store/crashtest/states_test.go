package crashtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

// text returns what a reader finds in an image.
func text(m Image) string {
	var all []string
	for _, name := range m.reachable() {
		content, isFile := m.Content(name)
		switch {
		case !isFile:
			all = append(all, name+"/")
		case len(content) > 20:
			all = append(all, fmt.Sprintf("%s=%d*%q", name, len(content), strings.Trim(string(content), "\x00")[:1]))
		default:
			all = append(all, fmt.Sprintf("%s=%s", name, strings.ReplaceAll(string(content), "\x00", "_")))
		}
	}
	return strings.Join(all, " ")
}

var (
	create = Op{Kind: Create, Name: "f", File: 1}
	syncF  = Op{Kind: Sync, Name: "f", File: 1}
	syncD  = Op{Kind: SyncDir, Name: "."}
	ack    = Op{Kind: Ack, Text: "done\n"}
)

func write(offset int64, data string) Op {
	return Op{Kind: Write, Name: "f", File: 1, Offset: offset, Data: []byte(data)}
}

func failed(o Op) Op {
	o.Failed = true
	return o
}

// The states of short traces, with the operation that they precede at the latest.
func TestStates(t *testing.T) {
	t.Parallel()
	there := []Op{create, syncD}
	for _, tt := range []struct {
		name   string
		ops    []Op
		states []string
	}{
		{"nothing", nil, []string{"0"}},
		{"a name that is not synced", []Op{create, ack}, []string{"2", "2 f="}},
		{"a synced name", []Op{create, syncD, ack}, []string{"1", "3 f="}},
		{"data without a name", []Op{create, write(0, "ab"), syncF}, []string{"3", "2 f=", "2 f=__", "3 f=ab"}},
		{"a write that is not synced", append(there[:2:2], write(0, "ab")), []string{"1", "3 f=", "3 f=__", "3 f=ab"}},
		{"any of two writes", append(there[:2:2], write(0, "ab"), write(2, "cd")), []string{
			"1", "4 f=", "4 f=__", "4 f=ab", "4 f=abcd", "4 f=__cd", "4 f=ab__", "4 f=____",
		}},
		{"a write after a sync", append(there[:2:2], write(0, "ab"), syncF, write(0, "AB")), []string{
			"1", "3 f=", "3 f=__", "5 f=ab", "5 f=AB",
		}},
		{
			"a write before a failed sync",
			append(there[:2:2], write(0, "ab"), failed(syncF), write(2, "c"), syncF),
			[]string{"1", "5 f=", "5 f=__", "5 f=ab", "6 f=abc", "6 f=__c", "5 f=ab_", "5 f=___"},
		},
		{
			"a shorter file",
			append(there[:2:2], write(0, "abc"), syncF, Op{Kind: Truncate, Name: "f", File: 1, Size: 1}),
			[]string{"1", "3 f=", "3 f=___", "5 f=abc", "5 f=a"},
		},
		{"a rename", []Op{create, write(0, "ab"), syncF, syncD, {Kind: Rename, Name: "f", To: "g", File: 1}}, []string{
			"3", "2 f=", "2 f=__", "5 f=ab", "5 g=ab",
		}},
		{"a link", append(there[:2:2], Op{Kind: Link, Name: "f", To: "g", File: 1}), []string{"1", "3 f=", "3 f= g="}},
		{"a removal", append(there[:2:2], Op{Kind: Unlink, Name: "f"}, syncD), []string{"3 f=", "4"}},
		{
			"a folder without a name",
			[]Op{{Kind: Mkdir, Name: "d"}, {Kind: Create, Name: "d/f", File: 1}, {Kind: SyncDir, Name: "d"}},
			[]string{"3", "2 d/", "3 d/ d/f="},
		},
	} {
		var got []string
		trace := Trace{Base: Image{map[string]int{}, map[int]file{}}, Ops: tt.ops}
		for _, s := range trace.States(Bounds{All: 4, Random: 4}) {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s", s.Next, text(s.Image))))
		}
		slices.Sort(got)
		slices.Sort(tt.states)
		check.True(t, slices.Equal(got, tt.states), "%s:\n got %q\nwant %q", tt.name, got, tt.states)
	}
}

// A write is torn in pieces of 512 bytes and of 4 KiB.
func TestTear(t *testing.T) {
	t.Parallel()
	for size, want := range map[int][]int{
		0: nil, 512: {0}, 513: {0, 512, 1}, 1024: {0, 512, 512},
		3 * 4096: {0, 512, 11776, 11776, 512, 6144, 6144, 4096, 8192, 8192, 4096},
	} {
		var got []int
		for _, p := range tear(write(0, strings.Repeat("a", size))) {
			got = append(got, len(p.ops[0].Data))
		}
		slices.Sort(got)
		slices.Sort(want)
		check.True(t, slices.Equal(got, want), "%d bytes: parts of %v, want %v", size, got, want)
	}
}

// Of many writes each is missing once, and the choice is the same each time.
func TestStates_many(t *testing.T) {
	t.Parallel()
	ops := []Op{create, syncD}
	for i := range 12 {
		ops = append(ops, write(int64(i), string(rune('a'+i))))
	}
	trace := Trace{Base: Image{map[string]int{}, map[int]file{}}, Ops: ops}
	found := map[string]bool{}
	for _, s := range trace.States(Bounds{All: 4, Random: 4}) {
		found[text(s.Image)] = true
	}
	for i := range 12 {
		want := "f=" + "abcdefghijkl"[:i] + "_" + "abcdefghijkl"[i+1:]
		if i == 11 {
			want = "f=abcdefghijk"
		}
		check.True(t, found[want], "%s is not among the states", want)
	}
	again := 0
	for _, s := range trace.States(Bounds{All: 4, Random: 4}) {
		if found[text(s.Image)] {
			again++
		}
	}
	check.True(t, again == len(found) && len(found) <= 300,
		"%d states at first, %d of them at second", len(found), again)
}
