//go:build ignore

// Gen writes emoji.txt from the annotations of Unicode CLDR for a language (the npm packages
// cldr-annotations-full and cldr-annotations-derived-full): a line for each symbol, "symbol TAB name", sorted
// by bytes. Skin tones, presentation selectors and tags are left out, because the lookup ignores them.
//
//	go run gen.go annotations/en/annotations.json annotationsDerived/en/annotations.json
//
// For German it is run in the folder german with the files of de.
package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"sort"
	"strings"
	"unicode"
)

type annotations map[string]struct {
	TTS []string `json:"tts"`
}

func main() {
	if err := generate(os.Args[1:]); err != nil {
		slog.Error("emoji.txt is not written", "err", err)
		os.Exit(1)
	}
}

func generate(files []string) error {
	var lines []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var cldr map[string]struct {
			Annotations annotations `json:"annotations"`
			Derived     annotations `json:"annotationsDerived"`
		}
		if err := json.Unmarshal(text, &cldr); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		for _, part := range cldr {
			lines = append(append(lines, rows(part.Annotations)...), rows(part.Derived)...)
		}
	}
	sort.Strings(lines)
	return os.WriteFile("emoji.txt", []byte(strings.Join(lines, "")), 0o644)
}

func rows(names annotations) []string {
	var lines []string
	for symbol, said := range names {
		symbol = strings.ReplaceAll(symbol, "\uFE0F", "")
		first := []rune(symbol)[0]
		seen := unicode.IsSymbol(first) || !unicode.In(first, unicode.L, unicode.M, unicode.N, unicode.P, unicode.Z)
		if first < 0x80 || !seen || len(said.TTS) == 0 || strings.ContainsFunc(symbol, unsaid) {
			continue
		}
		lines = append(lines, symbol+"\t"+speakable.Replace(said.TTS[0])+"\n")
	}
	return lines
}

// speakable removes from a name what cannot be read aloud.
var speakable = strings.NewReplacer(
	"flag: ", "flag of ", "St. ", "Saint ", " & ", " and ", "’", "'", ":", "", "“", "", "”", "", "„", "", ".", "", "(",
	"", ")", "", "!", "",
)

// unsaid reports whether r is a skin tone or a tag of a region's flag.
func unsaid(r rune) bool {
	return 0x1F3FB <= r && r <= 0x1F3FF || 0xE0020 <= r && r <= 0xE007F
}
