package chance

import (
	_ "embed" // measured.txt
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:generate go run generate.go

// measuredText holds counts of the seasons 2015–17 and 2019; generate.go documents its lines.
//
//go:embed measured.txt
var measuredText string

// measuredData returns the measurements, which never change.
var measuredData = sync.OnceValue(loadMeasurements)

// A class is a result of a plate appearance, as far as it depends on batter and pitcher.
type class uint8

const (
	strikeout class = iota
	walk
	hitByPitch
	interference
	reachedOnError
	groundOut // includes fielder's choices
	flyOut
	lineOut
	popOut
	single
	double
	triple
	homeRun
	classes
)

func classNames() [classes]string {
	return [classes]string{"K", "BB", "HBP", "CI", "ROE", "OUTG", "OUTF", "OUTL", "OUTP", "1B", "2B", "3B", "HR"}
}

func (c class) isHit() bool { return c >= single }

// baseOutStates is the number of base-out states, 3·mask + outs.
const baseOutStates = 24

// measurements holds the measured tables.
type measurements struct {
	classShares       [baseOutStates][classes]float64 // of plate appearances without intentional walks and sacrifices
	leagueRates       Rates
	rows              [baseOutStates][classes][]advanceRow
	ends              [baseOutStates]turnEnds // from rows
	runExpectancy     [baseOutStates]float64  // to the end of the half-inning
	platoon           [2][2][classes]float64  // factor by the side of the batter and the pitcher, left first
	timesThroughOrder [3][classes]float64     // factor on a starter's rates
	pitcherBatting    Rates
	bunts             [baseOutStates][buntResults]float64
	counts            countChain
}

// namedCounts are the pairs of one line of measured.txt.
type namedCounts map[string]float64

// loadMeasurements parses measured.txt.
func loadMeasurements() *measurements {
	lines := map[string]map[string]namedCounts{}
	for line := range strings.Lines(measuredText) {
		f := strings.Fields(line)
		pairs := namedCounts{}
		for _, pair := range f[2:] {
			name, n, _ := strings.Cut(pair, ":")
			pairs[name], _ = strconv.ParseFloat(n, 64)
		}
		if lines[f[0]] == nil {
			lines[f[0]] = map[string]namedCounts{}
		}
		lines[f[0]][f[1]] = pairs
	}
	d := &measurements{counts: newCountChain()}
	d.loadShares(lines["class"])
	d.loadRows(lines["rows"])
	d.loadPlatoon(lines["platoon"])
	d.loadTimes(lines["times"])
	d.loadBunts(lines["bunt"])
	for at := range baseOutStates {
		if l := lines["runs"][baseOutKey(at)]; l != nil {
			d.runExpectancy[at] = l["runs"] / l["times"]
		}
	}
	d.valueRows()
	d.loadEnds()
	return d
}

// baseOutKey returns a base-out state in the form of measured.txt.
func baseOutKey(at int) string { return fmt.Sprintf("%d,%d", at/3, at%3) }

func (d *measurements) loadShares(lines map[string]namedCounts) {
	var all [classes]float64
	var total float64
	for at := range baseOutStates {
		shares := &d.classShares[at]
		for c, name := range classNames() {
			shares[c] = lines[baseOutKey(at)][name]
			all[c] += shares[c]
		}
		n := sum(shares[:])
		for c := range shares {
			shares[c] /= n
		}
		total += n
	}
	d.leagueRates = ratesOf(&all, total)
}

func (d *measurements) loadRows(lines map[string]namedCounts) {
	for at := range baseOutStates {
		for c, name := range classNames() {
			pairs := lines[baseOutKey(at)+","+name]
			for _, end := range slices.Sorted(maps.Keys(pairs)) {
				var t measuredRow
				if _, err := fmt.Sscanf(end, "%d,%d,%d", &t.bases, &t.outs, &t.runs); err != nil {
					panic(fmt.Sprintf("measured.txt: row %q: %v", end, err))
				}
				t.class, t.baseOut = class(c), at
				if r, ok := t.assignRunners(); ok {
					r.weight = pairs[end]
					d.rows[at][c] = append(d.rows[at][c], r)
				}
			}
		}
	}
}

// loadPlatoon computes the platoon factors: rate(pair)·rate(all) ÷ (rate(batters of that side)·rate(pitchers of that
// side)).
func (d *measurements) loadPlatoon(lines map[string]namedCounts) {
	var pair [2][2]namedCounts
	for b, bat := range [2]string{"L", "R"} {
		for p, throw := range [2]string{"L", "R"} {
			pair[b][p] = lines[bat+throw]
		}
	}
	rate := func(c class, of ...namedCounts) float64 {
		var n, pa float64
		for _, l := range of {
			n += l.class(c)
			pa += l["PA"] - l["IBB"]
		}
		return n / pa
	}
	for b := range 2 {
		for p := range 2 {
			for c := range classes {
				d.platoon[b][p][c] = rate(c, pair[b][p]) * rate(c, pair[0][0], pair[0][1], pair[1][0], pair[1][1]) /
					(rate(c, pair[b][0], pair[b][1]) * rate(c, pair[0][p], pair[1][p]))
			}
		}
	}
}

// class returns the count of a class in a line of the platoon table, which has all outs on batted balls as one.
func (l namedCounts) class(c class) float64 {
	switch c {
	case strikeout, hitByPitch, single, double, triple, homeRun:
		return l[classNames()[c]]
	case walk:
		return l["BB"] - l["IBB"]
	default:
		return l["PA"] - l["BB"] - l["HBP"] - l["K"] - l["H"]
	}
}

// loadTimes computes a starter's factors by times through the order, relative to all innings.
func (d *measurements) loadTimes(lines map[string]namedCounts) {
	rates := func(of ...namedCounts) (r [classes]float64) {
		for c := range classes {
			var n, pa float64
			for _, l := range of {
				pa += l["PA"]
				if c == single || c == double || c == triple {
					n += l["H"] - l["HR"]
				} else {
					n += l.class(c)
				}
			}
			r[c] = n / pa
		}
		return r
	}
	all := rates(lines["1"], lines["2"], lines["3"], lines["4"])
	for i := range d.timesThroughOrder {
		d.timesThroughOrder[i] = rates(lines[strconv.Itoa(i+1)])
		for c := range d.timesThroughOrder[i] {
			d.timesThroughOrder[i][c] /= all[c]
		}
	}
	p := lines["pbat"]
	hits := (p["H"] - p["HR"]) / p["PA"] // singles and doubles in the usual ratio, few triples
	d.pitcherBatting = Rates{
		K: p["K"] / p["PA"], BB: p["BB"] / p["PA"], HBP: p["HBP"] / p["PA"], HR: p["HR"] / p["PA"],
		Single: hits * .82, Double: hits * .17, Triple: hits * .01,
	}
}

// ratios returns the ratios of the rates to the league's, by class. The exponent 1.1 of strikeouts predicted best
// out of sample among five values.
func (d *measurements) ratios(r Rates) [classes]float64 {
	l := d.leagueRates
	out := r.Out() / l.Out()
	return [classes]float64{
		strikeout: math.Pow(r.K/l.K, 1.1), walk: r.BB / l.BB, hitByPitch: r.HBP / l.HBP,
		interference: 1, reachedOnError: out, groundOut: out, flyOut: out, lineOut: out, popOut: out,
		single: r.Single / l.Single, double: r.Double / l.Double, triple: r.Triple / l.Triple, homeRun: r.HR / l.HR,
	}
}

// LeagueRates returns the rates of the measured seasons, 2015–17 and 2019.
func LeagueRates() Rates { return measuredData().leagueRates }
