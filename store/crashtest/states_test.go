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
		if content, isFile := m.Content(name); isFile {
			all = append(all, name+"="+strings.ReplaceAll(string(content), "\x00", "_"))
		} else {
			all = append(all, name+"/")
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

// textsOf returns the states of a trace, each with the operation that it precedes at the latest.
func textsOf(ops []Op) (all []string) {
	trace := Trace{Base: Image{map[string]int{}, map[int]file{}}, Ops: ops}
	for _, s := range trace.States(Bounds{All: 4, Random: 4}) {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%d %s", s.Next, text(s.Image))))
	}
	slices.Sort(all)
	return all
}

func write(offset int64, data string) Op {
	return Op{Kind: Write, Name: "f", File: 1, Offset: offset, Data: []byte(data)}
}

// The states of short traces, each with the operation that it precedes at the latest.
func TestStates(t *testing.T) {
	t.Parallel()
	failed := syncF
	failed.Failed = true
	ops := map[string]Op{
		"create": create, "sync": syncF, "dir": syncD, "ack": ack, "failed": failed,
		"0ab": write(0, "ab"), "2cd": write(2, "cd"), "0AB": write(0, "AB"), "2c": write(2, "c"),
		"0abc":   write(0, "abc"),
		"cut":    {Kind: Truncate, Name: "f", File: 1, Size: 1},
		"rename": {Kind: Rename, Name: "f", To: "g", File: 1},
		"link":   {Kind: Link, Name: "f", To: "g", File: 1},
		"remove": {Kind: Unlink, Name: "f"},
		"d":      {Kind: Mkdir, Name: "d"},
		"d/f":    {Kind: Create, Name: "d/f", File: 1},
		"syncd":  {Kind: SyncDir, Name: "d"},
	}
	for _, row := range check.Rows(`
		nothing |  | 0
		a name that is not synced | create ack | 2, 2 f=
		a synced name | create dir ack | 1, 3 f=
		data without a name | create 0ab sync | 3, 2 f=, 2 f=__, 3 f=ab
		a write that is not synced | create dir 0ab | 1, 3 f=, 3 f=__, 3 f=ab
		any of two writes | create dir 0ab 2cd | 1, 4 f=, 4 f=__, 4 f=ab, 4 f=abcd, 4 f=__cd, 4 f=ab__, 4 f=____
		a write after a sync | create dir 0ab sync 0AB | 1, 3 f=, 3 f=__, 5 f=ab, 5 f=AB
		a failed sync | create dir 0ab failed 2c sync | 1, 5 f=, 5 f=__, 5 f=ab, 6 f=abc, 6 f=__c, 5 f=ab_, 5 f=___
		a shorter file | create dir 0abc sync cut | 1, 3 f=, 3 f=___, 5 f=abc, 5 f=a
		a rename | create 0ab sync dir rename | 3, 2 f=, 2 f=__, 5 f=ab, 5 g=ab
		a link | create dir link | 1, 3 f=, 3 f= g=
		a removal | create dir remove dir | 3 f=, 4
		a folder without a name | d d/f syncd | 3, 2 d/, 3 d/ d/f=
	`) {
		var trace []Op
		for name := range strings.FieldsSeq(row[1]) {
			trace = append(trace, ops[name])
		}
		got, want := textsOf(trace), strings.Split(row[2], ", ")
		slices.Sort(want)
		check.That(t, slices.Equal(got, want), "%s:\n got %q\nwant %q", row[0], got, want)
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
		check.That(t, slices.Equal(got, want), "%d bytes: parts of %v, want %v", size, got, want)
	}
}

// Of many writes each is missing once, and the choice is the same each time.
func TestStates_many(t *testing.T) {
	t.Parallel()
	ops := []Op{create, syncD}
	for i := range 12 {
		ops = append(ops, write(int64(i), string(rune('a'+i))))
	}
	found := textsOf(ops)
	for i := range 12 {
		want := strings.TrimRight("f="+"abcdefghijkl"[:i]+"_"+"abcdefghijkl"[i+1:], "_")
		check.That(t, slices.ContainsFunc(found, func(s string) bool { return strings.HasSuffix(s, want) }),
			"%s is not among the states", want)
	}
	check.That(t, slices.Equal(textsOf(ops), found) && len(found) <= 300,
		"%d states, others the second time", len(found))
}
