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

//go:generate go run generate.go ../../../shared/retrosheet

// measured holds counts of the seasons 2015–17 and 2019; generate.go says what each line is.
//
//go:embed measured.txt
var measured string

// static is read once; what it returns never changes.
var static = sync.OnceValue(load)

// A class is how a plate appearance ends, as far as batter and pitcher decide it.
type class uint8

const (
	strikeout class = iota
	walk
	hitByPitch
	interference
	onError
	grounder // an out, or a fielder's choice
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

// hit reports whether the class is a safe hit.
func (c class) hit() bool { return c >= single }

// situations are bases as a mask and outs: 3·mask + outs.
const situations = 24

// data is what was measured, ready for use.
type data struct {
	share   [situations][classes]float64 // of plate appearances without intentional walk and sacrifice
	league  Rates
	rows    [situations][classes][]row
	runs    [situations]float64    // expected to the end of the half-inning
	platoon [2][2][classes]float64 // by batter's and pitcher's hand, left first: what the pair adds to both men's own rates
	times   [4][classes]float64    // through the order: what it adds to a starter's own rates
	pitcher Rates                  // of pitchers at bat
	bunts   [situations][buntResults]float64
	counts  counts
	known   struct{ average, pitcher, amateur [classes]float64 } // ratios of those without rates
}

// counted are the pairs of one line of measured.txt.
type counted map[string]float64

// load reads measured.txt. What it cannot read is a mistake in the file that was built in, which a test would find.
func load() *data {
	lines := map[string]map[string]counted{}
	for line := range strings.Lines(measured) {
		f := strings.Fields(line)
		pairs := counted{}
		for _, pair := range f[2:] {
			name, n, _ := strings.Cut(pair, ":")
			pairs[name], _ = strconv.ParseFloat(n, 64)
		}
		if lines[f[0]] == nil {
			lines[f[0]] = map[string]counted{}
		}
		lines[f[0]][f[1]] = pairs
	}
	d := &data{counts: newCounts()}
	d.loadShares(lines["class"])
	d.loadRows(lines["rows"])
	d.loadPlatoon(lines["platoon"])
	d.loadTimes(lines["times"])
	d.loadBunts(lines["bunt"])
	d.known.average, d.known.pitcher, d.known.amateur = d.ratios(d.league), d.ratios(d.pitcher), d.ratios(d.amateur())
	for at := range situations {
		if l := lines["runs"][key(at)]; l != nil {
			d.runs[at] = l["runs"] / l["times"]
		}
	}
	d.valueRows()
	return d
}

// key is a situation as measured.txt writes it.
func key(at int) string { return fmt.Sprintf("%d,%d", at/3, at%3) }

func (d *data) loadShares(lines map[string]counted) {
	var all [classes]float64
	var total float64
	for at := range situations {
		var sum float64
		for c, name := range classNames() {
			n := lines[key(at)][name]
			d.share[at][c] = n
			all[c] += n
			sum += n
		}
		for c := range d.share[at] {
			d.share[at][c] /= sum
		}
		total += sum
	}
	d.league = Rates{
		K: all[strikeout] / total, BB: all[walk] / total, HBP: all[hitByPitch] / total, Single: all[single] / total,
		Double: all[double] / total, Triple: all[triple] / total, HR: all[homeRun] / total,
	}
}

func (d *data) loadRows(lines map[string]counted) {
	for at := range situations {
		for c, name := range classNames() {
			pairs := lines[key(at)+","+name]
			for _, end := range slices.Sorted(maps.Keys(pairs)) {
				var t measuredRow
				if _, err := fmt.Sscanf(end, "%d,%d,%d", &t.bases, &t.outs, &t.runs); err != nil {
					panic(fmt.Sprintf("measured.txt: row %q: %v", end, err))
				}
				t.class, t.from = class(c), at
				if r, ok := t.script(); ok {
					r.weight = pairs[end]
					d.rows[at][c] = append(d.rows[at][c], r)
				}
			}
		}
	}
}

// loadPlatoon works out what a pair of hands adds to what the batter and the pitcher do against everybody:
// rate(pair)·rate(all) ÷ (rate(batters of that hand)·rate(pitchers of that hand)).
func (d *data) loadPlatoon(lines map[string]counted) {
	var pair [2][2]counted
	for b, bat := range [2]string{"L", "R"} {
		for p, throw := range [2]string{"L", "R"} {
			pair[b][p] = lines[bat+throw]
		}
	}
	rate := func(c class, of ...counted) float64 {
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

// class returns how many of a class a line of hands counts; all outs on batted balls together.
func (l counted) class(c class) float64 {
	switch c {
	case strikeout:
		return l["K"]
	case walk:
		return l["BB"] - l["IBB"]
	case hitByPitch:
		return l["HBP"]
	case single:
		return l["1B"]
	case double:
		return l["2B"]
	case triple:
		return l["3B"]
	case homeRun:
		return l["HR"]
	default:
		return l["PA"] - l["BB"] - l["HBP"] - l["K"] - l["H"]
	}
}

// loadTimes works out how starters do each time through the order, against all their innings.
func (d *data) loadTimes(lines map[string]counted) {
	rates := func(of ...counted) (r [classes]float64) {
		for c := range classes {
			var n, pa float64
			for _, l := range of {
				pa += l["PA"]
				switch c {
				case strikeout, walk, hitByPitch, homeRun:
					n += l.class(c)
				case single, double, triple:
					n += l["H"] - l["HR"]
				default:
					n += l["PA"] - l["BB"] - l["HBP"] - l["K"] - l["H"]
				}
			}
			r[c] = n / pa
		}
		return r
	}
	all := rates(lines["1"], lines["2"], lines["3"], lines["4"])
	for i := range d.times {
		d.times[i] = rates(lines[strconv.Itoa(i+1)])
		for c := range d.times[i] {
			d.times[i][c] /= all[c]
		}
	}
	p := lines["pbat"]
	hits := (p["H"] - p["HR"]) / p["PA"] // singles and doubles as everybody's, triples hardly ever
	d.pitcher = Rates{
		K: p["K"] / p["PA"], BB: p["BB"] / p["PA"], HBP: p["HBP"] / p["PA"], HR: p["HR"] / p["PA"],
		Single: hits * .82, Double: hits * .17, Triple: hits * .01,
	}
}

// ratios returns how the rates stand to the league's, by class. Strikeouts have an exponent of 1.1: it predicted best of
// five that were tried, out of sample.
func (d *data) ratios(r Rates) [classes]float64 {
	l := d.league
	out := r.Out() / l.Out()
	return [classes]float64{
		strikeout: math.Pow(r.K/l.K, 1.1), walk: r.BB / l.BB, hitByPitch: r.HBP / l.HBP, interference: 1, onError: out,
		grounder: out, flyOut: out, lineOut: out, popOut: out,
		single: r.Single / l.Single, double: r.Double / l.Double, triple: r.Triple / l.Triple, homeRun: r.HR / l.HR,
	}
}

// LeagueRates returns the rates of the league that everything here was measured in: 2015–17 and 2019.
func LeagueRates() Rates { return static().league }
