//go:build ignore

// Generate writes measured.txt, which game/chance embeds, from counts of Retrosheet's data in testdata:
// transitions-2015-17-19.json and league-rates.json. Run it with go generate.
//
// Each line is a word, a key and pairs of name and count:
//
//	class bases,outs            results of plate appearances by class; bases as a mask, 1 for first
//	rows bases,outs,class       states afterwards: bases,outs made,runs
//	runs bases,outs             times, runs to the end of the inning (innings 1–8)
//	platoon batter,pitcher      sides
//	times n                     through the order, rel for relief pitchers
//	bunt bases,outs             results of bunts
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

type counted map[string]int

func main() {
	log.SetFlags(0)
	var transitions struct{ S, TR map[string]counted }
	var years map[string]struct {
		Re        map[string][]int
		Plat, Tto map[string]counted
		Bunt      counted
	}
	read("transitions-2015-17-19.json", &transitions)
	read("league-rates.json", &years)
	y := years["1519"]

	out, err := os.Create("measured.txt")
	if err != nil {
		log.Fatal(err)
	}
	write := func(word string, table map[string]counted) {
		for _, key := range slices.Sorted(maps.Keys(table)) {
			fmt.Fprint(out, word, " ", key)
			for _, name := range slices.Sorted(maps.Keys(table[key])) {
				fmt.Fprintf(out, " %s:%d", name, table[key][name])
			}
			fmt.Fprintln(out)
		}
	}
	write("class", transitions.S)
	write("rows", transitions.TR)
	runs := map[string]counted{}
	for key, n := range y.Re {
		runs[key] = counted{"times": n[0], "runs": n[1]}
	}
	write("runs", runs)
	write("platoon", y.Plat)
	write("times", y.Tto)
	bunts := map[string]counted{}
	for key, n := range y.Bunt { // "1__|0|SH"
		f := strings.Split(key, "|")
		if len(f) != 3 {
			continue
		}
		mask := 0
		for i, base := range "123" {
			if rune(f[0][i]) == base {
				mask |= 1 << i
			}
		}
		key = fmt.Sprintf("%d,%s", mask, f[1])
		if bunts[key] == nil {
			bunts[key] = counted{}
		}
		bunts[key][f[2]] = n
	}
	write("bunt", bunts)
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
}

func read(name string, into any) {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		log.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		log.Fatalf("%s: %v", name, err)
	}
}
