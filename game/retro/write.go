package retro

import (
	"fmt"
	"io"
	"strings"
)

// Write writes a game as an event file that [Read] reads back unchanged.
func Write(w io.Writer, g *Game) error {
	text := fmt.Appendf(nil, "id,%s\nversion,2\n", g.ID)
	for _, i := range g.Info {
		text = fmt.Appendf(text, "info,%s,%s\n", i.Key, quoteIfNeeded(i.Value))
	}
	for i := range g.Starts {
		text = appendEntry(text, "start", &g.Starts[i])
	}
	for i := range g.Records {
		text = appendRecord(text, &g.Records[i])
	}
	for _, e := range g.EarnedRuns {
		text = fmt.Appendf(text, "data,er,%s,%d\n", quoteIfNeeded(string(e.Pitcher)), e.Runs)
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
			p.Inning, p.Side, quoteIfNeeded(string(p.Batter)), p.Count.Balls, p.Count.Strikes, p.Pitches, p.Event)
	case r.Substitution != nil:
		return appendEntry(text, "sub", r.Substitution)
	case r.Adjustment != nil:
		return fmt.Appendf(text, "%s,%s,%s\n", r.Adjustment.Kind, quoteIfNeeded(r.Adjustment.Args[0]),
			quoteIfNeeded(r.Adjustment.Args[1]))
	default:
		return fmt.Appendf(text, "com,\"%s\"\n", sanitize(r.Comment))
	}
}

func appendEntry(text []byte, kind string, e *LineupEntry) []byte {
	return fmt.Appendf(text, "%s,%s,\"%s\",%d,%d,%d\n", kind, quoteIfNeeded(string(e.Player)), sanitize(e.Name), e.Side,
		e.Slot, e.Position)
}

// quoteIfNeeded quotes a field that holds a comma, a quote or a line end: a league's ids may.
func quoteIfNeeded(text string) string {
	if strings.ContainsAny(text, ",\"\r\n") {
		return `"` + sanitize(text) + `"`
	}
	return text
}
