package speakable

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"pressbox/voice/speakable/recognize"
)

// tidy normalizes characters: composed (NFC), letters and digits of plain width and style, one kind of quotes
// and spaces, marks of other scripts as ASCII, lines ended by "\n", nothing invisible.
func tidy(s string) string {
	s = norm.NFC.String(s)
	var b strings.Builder
	b.Grow(len(s))
	last := ' ' // the last rune that was written
	for i, r := range s {
		switch {
		case r == '🏴':
			b.WriteString(regionFlag(s[i:]))
		case r == '\n' && last == '\r', invisible(r, last):
			continue
		case styled(r):
			b.WriteString(norm.NFKC.String(string(r)))
		case r >= 0x80 || r < ' ':
			b.WriteString(plain(r))
		default:
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// regionFlag returns the flag of a region with a name at the start of s, which is a black flag with invisible
// letters, or the black flag alone.
func regionFlag(s string) string {
	for _, flag := range []string{
		"🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F",
		"🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F",
		"🏴\U000E0067\U000E0062\U000E0077\U000E006C\U000E0073\U000E007F",
	} {
		if strings.HasPrefix(s, flag) {
			return flag
		}
	}
	return "🏴"
}

// plain returns the normal form of a character outside ASCII or of a control character.
func plain(r rune) string {
	switch r {
	case '\n', '\r', '\u0085', '\u2028', '\u2029', '\v', '\f':
		return "\n"
	case '‘', '’', '‛', '‚', '′', 'ʼ', '´':
		return "'"
	case '“', '”', '„', '‟', '″', '«', '»', '「', '」', '『', '』', '《', '》':
		return `"`
	case '‐', '‑', '⁃':
		return "-"
	case '―', '⸺', '⸻':
		return "—"
	case '。', '｡', '।', '॥', '۔', '።', '։', '．':
		return ". "
	case '，', '、', '､', '،', '፣':
		return ", "
	case '；', '؛':
		return "; "
	case '？', '؟', '⁇', '⁈', '‽':
		return "? "
	case '！', '‼', '⁉':
		return "! "
	case '：':
		return ": "
	case '（', '【', '〔', '）', '】', '〕':
		return ", "
	case '⁄', '∕':
		return "/"
	case '№':
		return "No."
	case 'µ':
		return "μ"
	case hiddenRune:
		return hidden
	}
	if unicode.IsControl(r) || unicode.IsSpace(r) {
		return " "
	}
	return string(r)
}

const hiddenRune = '\uE000'

// styled reports whether r is a letter, digit or unit in a special style: full width, mathematical alphabets,
// ligatures, squared units.
func styled(r rune) bool {
	return 0xFF10 <= r && r <= 0xFF5E && recognize.IsWord(r) || r == '％' || r == '＋' || r == '＝' || r == '／' ||
		r == '＃' || r == '＄' ||
		0x1D400 <= r && r <= 0x1D7FF || 0xFB00 <= r && r <= 0xFB06 || 0x3371 <= r && r <= 0x33DF ||
		r == '℃' || r == '℉' || r == '℡' || 0x2460 <= r && r <= 0x2473 || 0x2160 <= r && r <= 0x217F ||
		0x2080 <= r && r <= 0x2089
}

// invisible reports whether r is a character without a sound: selectors, skin tones, direction marks, soft
// hyphens, private ones. A joiner is not where it joins: between symbols and in scripts that need it.
func invisible(r, last rune) bool {
	switch {
	case r < 0x80:
		return r < ' ' && !unicode.IsSpace(r)
	case r == '\u200C' || r == '\u200D':
		return last < 0x590 || unicode.IsSpace(last)
	case 0x1F3FB <= r && r <= 0x1F3FF:
		return !unicode.IsSpace(last)
	case r == hiddenRune:
		return false
	}
	return unicode.In(r, unicode.Variation_Selector, unicode.Cf, unicode.Co, unicode.Noncharacter_Code_Point) ||
		r == '\u034F' || r == '\u20E3' || unicode.Is(unicode.Cc, r) && r != '\u0085'
}
