package retro

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Write writes a game as an event file, such that [Read] reads the same game back.
func Write(w io.Writer, g *Game) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "id,%s\nversion,2\n", g.ID)
	for _, i := range g.Info {
		fmt.Fprintf(b, "info,%s,%s\n", i.Key, i.Value)
	}
	for i := range g.Starts {
		writeEntry(b, "start", &g.Starts[i])
	}
	for i := range g.Records {
		writeRecord(b, &g.Records[i])
	}
	for _, e := range g.Earned {
		fmt.Fprintf(b, "data,er,%s,%d\n", e.Pitcher, e.Runs)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write event file of %s: %w", g.ID, err)
	}
	return nil
}

func writeRecord(w io.Writer, r *Record) {
	switch {
	case r.Play != nil:
		p := r.Play
		fmt.Fprintf(w, "play,%d,%d,%s,%d%d,%s,%s\n",
			p.Inning, p.Side, p.Batter, p.Count.Balls, p.Count.Strikes, p.Pitches, p.Event)
	case r.Sub != nil:
		writeEntry(w, "sub", r.Sub)
	case r.Adjust != nil:
		fmt.Fprintf(w, "%s,%s\n", r.Adjust.Kind, strings.Join(r.Adjust.Args[:], ","))
	default:
		fmt.Fprintf(w, "com,\"%s\"\n", field(r.Comment))
	}
}

func writeEntry(w io.Writer, kind string, e *Entry) {
	fmt.Fprintf(w, "%s,%s,\"%s\",%d,%d,%d\n", kind, e.Player, field(e.Name), e.Side, e.Slot, e.Position)
}
