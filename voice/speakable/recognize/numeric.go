package recognize

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A rule recognizes what starts with a digit.
type rule struct {
	// after has the characters that may follow the first digits: letters as 'a', others outside ASCII as 'u',
	// nothing as '$'; "" allows all. In lead rules it is the first character, '$' for all currencies.
	after string
	like  *regexp.Regexp // anchored
	// build returns the token of a match and the length that it takes, 0 if the rule does not apply.
	build func(s *tokenizer, m []string) (Token, int)
}

// tables has the constant data of the recognizer.
type tables struct {
	numeric []rule                                 // what starts with a digit, in the order in which it is tried
	lead    []rule                                 // what starts with a sign of a number
	words   []func(s *tokenizer, word string) bool // what starts with a letter
}

// static is the only instance.
var static = &tables{
	numeric: slices.Concat(addressRules(), dateRules(), clockRules(), periodRules(), phoneRules(), codeRules(),
		pairRules(), measureRules(), countRules(), numberRules()),
	lead:  leadRules(),
	words: wordRules(),
}

// numeric reads what starts with a digit or a sign of a number.
func (s *tokenizer) numeric(c rune) bool {
	if s.glued() && !unicode.Is(unicode.So, s.previous()) {
		return false
	}
	switch {
	case IsDigit(c):
		return s.digits()
	case strings.ContainsRune(".('+", c):
		return s.try(s.lead, c)
	case unicode.Is(unicode.Sc, c),
		c >= 'A' && c <= 'Z' && strings.ContainsAny(s.rest(0)[:min(4, len(s.rest(0)))], "$£€"):
		return s.try(s.lead, '$')
	case unicode.Is(unicode.No, c):
		return s.try(s.lead, 'u')
	}
	return false
}

// digits tries the rules for digits.
func (s *tokenizer) digits() bool {
	n := strings.IndexFunc(s.rest(0), func(c rune) bool { return !IsDigit(c) })
	class := '$'
	if n >= 0 {
		switch c, _ := utf8.DecodeRuneInString(s.src[s.at+n:]); {
		case isLetter(c):
			class = 'a'
		case c >= 0x80:
			class = 'u'
		default:
			class = c
		}
	}
	return s.try(s.tables.numeric, class)
}

// try tries rules at the position.
func (s *tokenizer) try(rules []rule, class rune) bool {
	view := s.rest(0)
	for i := range rules {
		r := &rules[i]
		if r.after != "" && !strings.ContainsRune(r.after, class) {
			continue
		}
		m := r.like.FindStringSubmatch(view)
		if m == nil {
			continue
		}
		if t, n := r.build(s, m); n > 0 && s.ends(s.src[s.at:s.at+n]) {
			return s.take(t, n)
		}
	}
	return false
}

// starts returns the expression of a text that starts with a pattern.
func starts(pattern string) *regexp.Regexp { return regexp.MustCompile("^(?:" + pattern + ")") }

// whole returns a maker that takes all of a match.
func whole(build func(s *tokenizer, m []string) Token) func(s *tokenizer, m []string) (Token, int) {
	return func(s *tokenizer, m []string) (Token, int) {
		if t := build(s, m); t != nil {
			return t, len(m[0])
		}
		return nil, 0
	}
}

// amount matches a number with either decimal mark and separators; [number] decides what they are.
const amount = `(\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}|\d+(?:[.,]\d+)?)`

// number returns the number in an amount, or false if its marks are not those of the locale. With measured, a
// unit follows, so that the other decimal mark is one too: 21,5 °C.
func (l *Locale) number(written string, measured bool) (Number, bool) {
	decimal, group := ".", ","
	if l.DecimalComma {
		decimal, group = ",", "."
	}
	at := strings.LastIndexAny(written, ".,")
	if at < 0 {
		return Number{Whole: written}, true
	}
	head, mark, tail := written[:at], written[at:at+1], written[at+1:]
	grouped := strings.ContainsAny(head, ".,")
	switch {
	case grouped && strings.Contains(head, mark): // 1,234,567
		if len(tail) != 3 {
			return Number{}, false
		}
		return Number{Whole: plainDigits(written), Grouped: true}, mark == group || strings.Count(written, mark) > 1
	case grouped: // 1,234.5 and 1.234,5
		return Number{Whole: plainDigits(head), Fraction: tail, Grouped: true}, true
	case mark == decimal:
		return Number{Whole: head, Fraction: tail}, true
	case len(tail) == 3 && len(head) <= 3 && head[0] != '0':
		return Number{Whole: head + tail, Grouped: true}, true
	case measured || head == "0":
		return Number{Whole: head, Fraction: tail}, mark != group || len(tail) < 3 || head == "0"
	}
	return Number{}, false
}

func plainDigits(s string) string { return strings.NewReplacer(",", "", ".", "", " ", "").Replace(s) }

// numberRules returns the rules of numbers without a unit.
func numberRules() []rule {
	return []rule{
		{" ", starts(`[1-9]\d{0,2}(?: 000)+`), whole(func(_ *tokenizer, m []string) Token {
			return Number{Whole: plainDigits(m[0]), Grouped: true}
		})},
		{"a.", starts(`(\d+(?:\.\d+)?)[eE]([+−-]?)(\d{1,3})`), whole((*tokenizer).scientific)},
		{"", starts(amount), (*tokenizer).plainNumber},
	}
}

// scientific recognizes 1.5e-9.
func (s *tokenizer) scientific(m []string) Token {
	n, ok := s.number(m[1], false)
	if !ok || len(m[3]) > 2 && m[2] == "" {
		return nil
	}
	return Scientific{Number: n, Negative: m[2] != "" && m[2] != "+", Exponent: m[3]}
}

// plainNumber recognizes a number without a unit; a mark that does not belong to it ends it.
func (s *tokenizer) plainNumber(m []string) (Token, int) {
	if n, ok := s.number(m[1], s.preceded(Scale)); ok {
		return n, len(m[1])
	}
	if s.DecimalComma && strings.Count(m[1], ".") == 1 {
		return Version{Parts: strings.Split(m[1], ".")}, len(m[1])
	}
	n := strings.IndexFunc(m[1], func(c rune) bool { return !IsDigit(c) })
	return Number{Whole: m[1][:n]}, n
}

// leadRules returns the rules of numbers that start with a sign.
func leadRules() []rule {
	return []rule{
		{
			"$",
			starts(
				`(?:(US|CA|C|AU|A|NZ))?([$£€¥₹]) ?([-−])?(?:` + amount + magnitude + ` ?[-–] ?[$£€]?)?` +
					amount + magnitude,
			),
			(*tokenizer).price,
		},
		{"$", starts(`([$£€])(\.\d\d)`), whole(func(_ *tokenizer, m []string) Token {
			return Money{Currency: currency(m[1]), Amount: Number{Whole: "0", Fraction: m[2][1:]}}
		})},
		{"+", starts(`\+\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,7}`), whole((*tokenizer).phone)},
		{"(", starts(`\(\d{3}\) ?\d{3}[-. ]\d{4}|\(0\d{1,5}\) ?\d{3,8}(?:[ -]\d{3,8})?`), whole((*tokenizer).phone)},
		{"(", starts(`\((\d{1,4})/(\d{1,4})\)`), whole(func(s *tokenizer, m []string) Token {
			if t, _ := s.pair([]string{m[0], m[1], m[2]}); t != nil {
				if _, fraction := t.(Fraction); !fraction {
					return t
				}
			}
			return Pair{A: Number{Whole: m[1]}, B: Number{Whole: m[2]}, Join: Of}
		})},
		{"'", starts(`'(\d0)'?s`), whole(func(_ *tokenizer, m []string) Token { return Decade{Tens: Atoi(m[1])} })},
		{"'", starts(`'(\d\d)`), whole(func(s *tokenizer, m []string) Token {
			if s.quote || s.followed(len(m[0]), "'") || !s.ends(m[0]) {
				return nil
			}
			return ShortYear{Atoi(m[1])}
		})},
		{".", starts(`\.([1-9]\d\d)`), whole(func(s *tokenizer, m []string) Token {
			if _, _, ok := s.Unit(s.nextWord(len(m[0]))); ok || s.DecimalComma || !s.ends(m[0]) {
				return nil
			}
			return Average{m[1]}
		})},
		{".", starts(`\.(\d+)( ?)` + unitSign), func(s *tokenizer, m []string) (Token, int) {
			u, n, ok := s.unit(m[0], m[3:], m[2])
			if !ok {
				return nil, 0
			}
			return Quantity{Number: Number{Fraction: m[1]}, Unit: u}, len(m[0]) - n
		}},
		{".", starts(`\.(\d+)`), whole(func(_ *tokenizer, m []string) Token { return Number{Fraction: m[1]} })},
		{"u", starts(`[` + vulgar + `]( ?)` + unitSign), func(s *tokenizer, m []string) (Token, int) {
			f := vulgarFraction("", First(m[0]))
			u, n, ok := s.unit(m[0], m[2:], m[1])
			if !ok {
				return nil, 0
			}
			f.Unit = u
			return f, len(m[0]) - n
		}},
		{
			"u", starts(`[` + vulgar + `]`),
			whole(func(_ *tokenizer, m []string) Token { return vulgarFraction("", First(m[0])) }),
		},
	}
}
