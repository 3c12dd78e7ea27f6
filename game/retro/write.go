package retro

import (
	"fmt"
	"io"
	"strings"
)

// Write writes a game as an event file, such that [Read] reads the same game back.
func Write(w io.Writer, g *Game) error {
	text := fmt.Appendf(nil, "id,%s\nversion,2\n", g.ID)
	for _, i := range g.Info {
		text = fmt.Appendf(text, "info,%s,%s\n", i.Key, unquoted(i.Value))
	}
	for i := range g.Starts {
		text = appendEntry(text, "start", &g.Starts[i])
	}
	for i := range g.Records {
		text = appendRecord(text, &g.Records[i])
	}
	for _, e := range g.EarnedRuns {
		text = fmt.Appendf(text, "data,er,%s,%d\n", unquoted(string(e.Pitcher)), e.Runs)
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write event file of %s: %w", g.ID, err)
	}
	return nil
}

func appendRecord(text []byte, r *Record) []byte {
	switch {
	case r.Play != nil:
		p := r.Play
		return fmt.Appendf(text, "play,%d,%d,%s,%d%d,%s,%s\n",
			p.Inning, p.Side, unquoted(string(p.Batter)), p.Count.Balls, p.Count.Strikes, p.Pitches, p.Event)
	case r.Substitution != nil:
		return appendEntry(text, "sub", r.Substitution)
	case r.Adjustment != nil:
		return fmt.Appendf(text, "%s,%s,%s\n", r.Adjustment.Kind, unquoted(r.Adjustment.Args[0]), unquoted(r.Adjustment.Args[1]))
	default:
		return fmt.Appendf(text, "com,\"%s\"\n", field(r.Comment))
	}
}

func appendEntry(text []byte, kind string, e *LineupEntry) []byte {
	return fmt.Appendf(text, "%s,%s,\"%s\",%d,%d,%d\n", kind, unquoted(string(e.Player)), field(e.Name), e.Side, e.Slot, e.Position)
}

// unquoted writes a field that is not quoted, as long as it can be read back so: a league may call its players as it likes.
func unquoted(text string) string {
	if strings.ContainsAny(text, ",\"\r\n") {
		return `"` + field(text) + `"`
	}
	return text
}
