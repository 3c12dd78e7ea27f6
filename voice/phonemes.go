package voice

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// space is the phoneme between words.
const space = " "

// phonemes returns the phonemes of a segment: those of its clauses, each with its mark, with a space between
// clauses.
func (v *Voice) phonemes(ctx context.Context, seg segment) ([]string, error) {
	var out []string
	for _, c := range seg.clauses {
		phonemes, err := v.clausePhonemes(ctx, c)
		if err != nil {
			return nil, err
		}
		if len(phonemes) == 0 {
			continue
		}
		if len(out) > 0 && !c.joined {
			out = append(out, space)
		}
		out = append(out, phonemes...)
		if c.mark != 0 {
			out = append(out, string(c.mark))
		}
	}
	return out, nil
}

// clausePhonemes returns the phonemes of one clause without its mark.
func (v *Voice) clausePhonemes(ctx context.Context, c clause) ([]string, error) {
	switch {
	case c.raw:
		return codepoints(c.text), nil
	case v.Config.PhonemeType == Text:
		return codepoints(norm.NFD.String(c.text)), nil
	}
	ipa, err := v.Phonemizer.Phonemes(ctx, v.Config.Espeak, c.text)
	if err != nil {
		return nil, fmt.Errorf("find the phonemes of a clause of %d bytes: %w", len(c.text), err)
	}
	return v.Config.merge(parseIPA(ipa)), nil
}

// languageFlag matches espeak's mark of a word in another language, such as "(en)".
var languageFlag = regexp.MustCompile(`\([^)]+\)`)

// parseIPA returns the phonemes in espeak's output: without language flags, in NFD, one per code point, with
// lines joined and runs of spaces replaced by one.
func parseIPA(ipa string) []string {
	ipa = languageFlag.ReplaceAllString(ipa, "")
	ipa = strings.Join(strings.Fields(ipa), space)
	return codepoints(norm.NFD.String(ipa))
}

// merge joins neighbors that form one of the voice's vowel clusters, the longest first.
func (c *Config) merge(phonemes []string) []string {
	if len(c.clusters) == 0 {
		return phonemes
	}
	var out []string
	for len(phonemes) > 0 {
		n := 1
		for _, cluster := range c.clusters {
			if len(cluster) <= len(phonemes) && slices.Equal(cluster, phonemes[:len(cluster)]) {
				n = len(cluster)
				break
			}
		}
		out = append(out, strings.Join(phonemes[:n], ""))
		phonemes = phonemes[n:]
	}
	return out
}

// ids returns the ids of phonemes in the sequence that models are trained on: BOS, PAD, each phoneme followed
// by PAD, EOS. Phonemes without an id are left out and passed to OnMissing. Without any sound there are no
// ids.
func (v *Voice) ids(phonemes []string) []int64 {
	known := v.Config.PhonemeIDs
	ids := make([]int64, 0, 2*len(phonemes)+3)
	ids = append(ids, known[bos]...)
	ids = append(ids, known[pad]...)
	hasSound := false
	for _, p := range phonemes {
		id := v.Config.id(p)
		if len(id) == 0 {
			if v.OnMissing != nil {
				v.OnMissing(p)
			}
			continue
		}
		hasSound = hasSound || audible(p)
		ids = append(ids, id...)
		ids = append(ids, known[pad]...)
	}
	if !hasSound {
		return nil
	}
	return append(ids, known[eos]...)
}

// id returns the ids of one phoneme, nil if it has none. For voices whose phonemes are characters it also
// tries lower case.
func (c *Config) id(phoneme string) []int64 {
	id := c.PhonemeIDs[phoneme]
	if len(id) == 0 && c.PhonemeType == Text {
		id = c.PhonemeIDs[strings.ToLower(phoneme)]
	}
	return id
}

// PlainBrackets returns text with single brackets around each [[block]] that is not made of the voice's
// phonemes only, so that the block is read as text.
func (c *Config) PlainBrackets(text string) string {
	return rawBlock.ReplaceAllStringFunc(text, func(block string) string {
		for _, p := range codepoints(strings.Trim(block, "[]")) {
			if p != space && len(c.id(p)) == 0 {
				return block[1 : len(block)-1]
			}
		}
		return block
	})
}

// audible reports whether a phoneme is a sound, not a mark or a space.
func audible(phoneme string) bool {
	return strings.ContainsFunc(phoneme, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r)
	})
}

// codepoints splits s into its code points.
func codepoints(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "")
}
