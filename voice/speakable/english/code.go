package english

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pressbox/voice/speakable/recognize"
)

// identifier says a code: letters one by one, short numbers as numbers, longer ones digit by digit, a year as
// a year.
func (s *Verbalizer) identifier(t recognize.Identifier) string {
	runs := t.Runs
	var spoken []string
	mixed := strings.Join(runs, "")
	dense := len(runs) > 3 && len(mixed) > 5
	for i, run := range runs {
		switch {
		case strings.Contains(run, "."):
			whole, fraction, _ := strings.Cut(run, ".")
			spoken = append(spoken, s.number(recognize.Number{Whole: whole, Fraction: fraction}))
		case t.Paired && recognize.IsDigit(rune(run[0])):
			spoken = append(spoken, s.labelNumber(run))
		case recognize.IsDigit(rune(run[0])):
			spoken = append(spoken, s.codeNumber(run, dense && !yearLike(run), i+1 < len(runs)))
		case len(runs) == 3 && runs[0] == "1" && i == 2: // 1-800-FLOWERS
			spoken = append(spoken, run)
		case len(run) > 1 && strings.ToUpper(run) != run, len(run) > 3:
			spoken = append(spoken, run)
		default:
			spoken = append(spoken, spelled(strings.ToUpper(run)))
		}
	}
	if len(runs) == 3 && runs[0] == "1" && runs[1][0] == '8' {
		spoken[1] = s.shortHundred(runs[1])
	}
	return strings.Join(spoken, " ")
}

func (s *Verbalizer) shortHundred(digits string) string {
	if strings.HasSuffix(digits, "00") {
		return s.whole(digits)
	}
	return s.spell(digits)
}

func yearLike(run string) bool {
	return len(run) == 4 && (strings.HasPrefix(run, "19") || strings.HasPrefix(run, "20"))
}

// codeNumber says a run of digits in a code. With more, others follow it.
func (s *Verbalizer) codeNumber(run string, spell, more bool) string {
	switch {
	case yearLike(run) && more:
		return s.year(recognize.Atoi(run))
	case len(run) <= 2 && !spell:
		return s.whole(run)
	case len(run) == 1:
		return s.whole(run)
	}
	return strings.ReplaceAll(s.spell(run), ",", "")
}

// labelNumber says the number of a label: twelve, two twenty-one.
func (s *Verbalizer) labelNumber(digits string) string {
	if len(digits) == 3 && digits[1:] != "00" && digits[0] != '0' {
		return s.cardinal(recognize.Atoi(digits[:1])) + " " + s.pair(recognize.Atoi(digits[1:]))
	}
	if v := recognize.Atoi(digits); len(digits) == 4 && digits[0] != '0' && v%1000 > 9 {
		return s.year(v)
	}
	return s.number(recognize.Number{Whole: digits})
}

// digits says digits one by one, in groups.
func (s *Verbalizer) digits(d recognize.Digits) string {
	spoken := s.spell(strings.Join(d.Groups, " "))
	switch {
	case d.Plus:
		return "plus " + spoken
	case d.Extension:
		return "extension " + spoken
	}
	return spoken
}

// version says 1.2.3: one point two point three.
func (s *Verbalizer) version(v recognize.Version) string {
	var b strings.Builder
	if v.Named {
		b.WriteString("version")
	}
	for i, part := range v.Parts {
		switch {
		case part == "":
			continue
		case part[0] < '0' || part[0] > '9':
			b.WriteString(" " + map[string]string{"rc": "R.C", "b": "B", "pre": "pre"}[part])
			if b.String()[b.Len()-1] == ' ' {
				b.WriteString(part)
			}
			continue
		case i > 0 && v.Parts[i-1] != "" && v.Parts[i-1][0] >= '0' && v.Parts[i-1][0] <= '9':
			b.WriteString(" point")
		}
		if len(part) > 3 && !yearLike(part) {
			b.WriteString(" " + s.spell(part))
			continue
		}
		b.WriteString(" " + s.number(recognize.Number{Whole: part}))
	}
	return strings.TrimSpace(b.String())
}

// addressSign returns the name of a sign in addresses, "" for none.
func addressSign(c rune) string {
	return map[rune]string{
		'.': "dot", '/': "slash", '@': "at", ':': "colon", '-': "dash", '_': "underscore", '+': "plus",
		'~': "tilde", '\\': "backslash",
	}[c]
}

// address says an address: example dot com slash door.
func (s *Verbalizer) address(a string) string {
	hex := strings.Contains(a, "::")
	return recognize.SayAddress(a, addressSign, func(part string) string { return s.name(part, hex) })
}

// name says a part of an address; three or more digits are spelled, and all letters of a hexadecimal one.
func (s *Verbalizer) name(part string, hex bool) string {
	return recognize.SayRuns(part, func(run string, digits bool) string {
		switch {
		case digits && len(run) > 2:
			return s.spell(run)
		case digits:
			return s.whole(run)
		case hex,
			run == "a" || s.Is(recognize.Spelled, run) && !s.Is(recognize.Lower, run) && !s.Is(recognize.TopLevel, run):
			return spelled(strings.ToUpper(run))
		}
		return run
	})
}

// camel splits a name such as OpenDay2026 into its words.
func (s *Verbalizer) camel(name string) string {
	var b strings.Builder
	before := ' '
	for i, c := range name {
		after, _ := utf8.DecodeRuneInString(name[i+utf8.RuneLen(c):])
		switch {
		case c == '_' || c == '-':
			c = ' '
		case unicode.IsUpper(c) && (unicode.IsLower(before) || unicode.IsUpper(before) && unicode.IsLower(after)),
			recognize.IsDigit(c) && unicode.IsLetter(before),
			unicode.IsUpper(c) && recognize.IsDigit(before):
			b.WriteByte(' ')
		}
		b.WriteRune(c)
		before = c
	}
	words := strings.Fields(b.String())
	for i, word := range words {
		if strings.Trim(word, "0123456789") == "" {
			words[i] = s.number(recognize.Number{Whole: word})
		}
	}
	return strings.Join(words, " ")
}
