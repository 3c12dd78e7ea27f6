// Package eventfile reads Retrosheet event files: the records of whole games. Package
// retro reads and writes the notation of their plays.
package eventfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"pressbox/game"
	"pressbox/game/retro"
)

// maxLine limits a line of an event file, in bytes.
const maxLine = 64 << 10

// Read yields the games of an event file, in order. It ends at the first error, which names the line.
func Read(r io.Reader) iter.Seq2[*retro.Game, error] {
	return func(yield func(*retro.Game, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, maxLine), maxLine)
		var g *retro.Game
		n := 0
		for lines.Scan() {
			n++
			fields := splitFields(strings.TrimRight(lines.Text(), "\r\x1a"))
			if fields[0] == "id" && len(fields) > 1 {
				if g != nil && !yield(g, nil) {
					return
				}
				g = &retro.Game{ID: fields[1]}
				continue
			}
			if err := addRecord(g, n, fields); err != nil {
				yield(nil, fmt.Errorf("event file line %d: %w", n, err))
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("event file after line %d: %w", n, err))
			return
		}
		if g != nil {
			yield(g, nil)
		}
	}
}

// splitFields splits a line at its commas and unquotes quoted fields.
func splitFields(line string) []string {
	if !strings.Contains(line, `"`) {
		return strings.Split(line, ",")
	}
	var fields []string
	for {
		var field string
		if strings.HasPrefix(line, `"`) {
			field, line, _ = strings.Cut(line[1:], `"`)
			fields = append(fields, field)
			if line == "" {
				return fields
			}
			line = strings.TrimPrefix(line, ",")
			continue
		}
		var more bool
		field, line, more = strings.Cut(line, ",")
		fields = append(fields, field)
		if !more {
			return fields
		}
	}
}

func addRecord(g *retro.Game, line int, f []string) error {
	if g == nil {
		if f[0] == "" {
			return nil
		}
		return errors.New("record before the first id record")
	}
	r := retro.Record{Line: line}
	var err error
	switch f[0] {
	case "info":
		if len(f) > 2 {
			g.Info = append(g.Info, retro.Info{Key: f[1], Value: f[2]})
		}
		return nil
	case "start":
		var e retro.LineupEntry
		e, err = parseLineupEntry(f)
		g.Starts = append(g.Starts, e)
		return err
	case "data":
		return addEarnedRuns(g, f)
	case "play":
		r.Play, err = parsePlayRecord(f)
	case "sub":
		var e retro.LineupEntry
		e, err = parseLineupEntry(f)
		r.Substitution = &e
	case "badj", "padj", "ladj", "radj", "presadj":
		r.Adjustment, err = parseAdjustment(f)
	case "com":
		r.Comment = strings.Join(f[1:], ",")
	default: // version and unknown records
		return nil
	}
	g.Records = append(g.Records, r)
	return err
}

func addEarnedRuns(g *retro.Game, f []string) error {
	if len(f) < 4 || f[1] != "er" {
		return nil
	}
	n, err := strconv.Atoi(f[3])
	if err != nil {
		return fmt.Errorf("earned runs of %s: %w", f[2], err)
	}
	g.EarnedRuns = append(g.EarnedRuns, retro.EarnedRuns{Pitcher: game.PlayerID(f[2]), Runs: n})
	return nil
}

func parseLineupEntry(f []string) (retro.LineupEntry, error) {
	if len(f) < 6 {
		return retro.LineupEntry{}, fmt.Errorf("%s record with %d fields, want 6", f[0], len(f))
	}
	side, ok1 := parseSmall(f[3], 1)
	slot, ok2 := parseSmall(f[4], 9)
	pos, ok3 := parseSmall(f[5], 12)
	if !ok1 || !ok2 || !ok3 || pos == 0 {
		return retro.LineupEntry{},
			fmt.Errorf("%s record with side %s, place %s, position %s; want at most 1, 9, 12", f[0], f[3], f[4], f[5])
	}
	return retro.LineupEntry{
		Player: game.PlayerID(f[1]), Name: f[2], Side: game.Side(side), Slot: int(slot), Position: game.Position(pos),
	}, nil
}

// parseSmall parses a number from 0 to limit.
func parseSmall(text string, limit uint8) (uint8, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 8)
	return uint8(n), err == nil && uint8(n) <= limit
}

func parsePlayRecord(f []string) (*retro.PlayRecord, error) {
	if len(f) < 7 {
		return nil, fmt.Errorf("play record with %d fields, want 7", len(f))
	}
	inning, ok1 := parseSmall(f[1], 99)
	side, ok2 := parseSmall(f[2], 1)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("play record with inning %s, side %s; want at most 99, 1", f[1], f[2])
	}
	return &retro.PlayRecord{
		Inning: int(inning), Side: game.Side(side), Batter: game.PlayerID(f[3]),
		Count: parseCount(f[4]), Pitches: f[5], Event: f[6],
	}, nil
}

// parseCount parses "32"; an unknown count, "??", is 0-0.
func parseCount(text string) game.Count {
	if len(text) != 2 || text[0] < '0' || text[0] > '3' || text[1] < '0' || text[1] > '2' {
		return game.Count{}
	}
	balls, strikes := int8(text[0]-'0'), int8(text[1]-'0') //nolint:gosec // digits
	return game.Count{Balls: balls, Strikes: strikes}
}

func parseAdjustment(f []string) (*retro.Adjustment, error) {
	if len(f) < 3 {
		return nil, fmt.Errorf("%s record with %d fields, want 3", f[0], len(f))
	}
	return &retro.Adjustment{Kind: f[0], Args: [2]string{f[1], f[2]}}, nil
}
