package recognize

import (
	"strings"
	"unicode/utf8"
)

// vulgar has the fraction signs.
const vulgar = `½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞`

// vulgarFraction returns the value of a fraction sign.
func vulgarFraction(whole string, sign rune) Fraction {
	parts := [...][2]int{
		{1, 2},
		{1, 3},
		{2, 3},
		{1, 4},
		{3, 4},
		{1, 5},
		{2, 5},
		{3, 5},
		{4, 5},
		{1, 6},
		{5, 6},
		{1, 8},
		{3, 8},
		{5, 8},
		{7, 8},
	}
	at := utf8.RuneCountInString(vulgar[:strings.IndexRune(vulgar, sign)])
	return Fraction{Whole: whole, Num: parts[at][0], Den: parts[at][1]}
}

// pairRules returns the rules of fractions, ratios and scores.
func pairRules() []rule {
	return []rule{
		{" u", starts(`(\d{1,3}) ?([` + vulgar + `])(?:( ?)` + unitSign + `|("))?`), (*tokenizer).mixedSign},
		{" -", starts(`(\d{1,3})[ -](\d{1,2})/(\d{1,2})(?:( ?)` + unitSign + `|("))?`), (*tokenizer).mixed},
		{"/", starts(`(\d{1,2})/(\d{1,3})(?:( ?)` + unitSign + `|("))`), (*tokenizer).partOfUnit},
		{
			"/.,", starts(`(\d+(?:[.,]\d+)?)/(\d+(?:[.,]\d+)?)( ?)` + unitSign),
			func(s *tokenizer, m []string) (Token, int) {
				u, n, ok := s.unit(m[0], m[4:], m[3])
				if !ok {
					return nil, 0
				}
				p := Pair{A: decimal(m[1]), B: decimal(m[2]), Unit: u}
				if u.Per != "" {
					p.Join = Rates
				}
				return p, len(m[0]) - n
			},
		},
		{"/.", starts(`(\d+\.\d+)/(\d+(?:\.\d+)?)\b`), whole(func(_ *tokenizer, m []string) Token {
			return Pair{A: decimal(m[1]), B: decimal(m[2])}
		})},
		{
			"/,", starts(`(\d{1,3}(?:,\d{3})+|\d{1,5})/(\d{1,3}(?:,\d{3})+)\b`),
			whole(func(_ *tokenizer, m []string) Token {
				return Pair{
					A: Number{Whole: plainDigits(m[1]), Grouped: true},
					B: Number{Whole: plainDigits(m[2]), Grouped: true},
				}
			}),
		},
		{"/", starts(`(\d{1,5})/(\d{1,5})\b`), (*tokenizer).pair},
		{"-", starts(`(\d{1,2})-(\p{L}+)-(\d{1,2})`), whole(func(s *tokenizer, m []string) Token {
			if m[2] != s.signs["word for"] {
				return nil
			}
			return Pair{A: Number{Whole: m[1]}, B: Number{Whole: m[3]}, Join: For}
		})},
		{"-u", starts(`(\d{1,3})[-–](\d{1,3})`), whole((*tokenizer).standing)},
	}
}

// standing recognizes the two numbers of a 3-2 count and of a 12-8 record.
func (s *tokenizer) standing(m []string) Token {
	p := Pair{A: Number{Whole: m[1]}, B: Number{Whole: m[2]}}
	switch word := s.nextWord(len(m[0])); {
	case !s.followed(len(m[0]), " "):
		return nil
	case s.Is(AtBat, word) && Atoi(m[1]) < 4 && Atoi(m[2]) < 3:
		p.Join = Plain
	case s.Is(Record, word):
		p.Join = And
	default:
		return nil
	}
	return p
}

func decimal(s string) Number {
	whole, fraction, _ := strings.Cut(strings.Replace(s, ",", ".", 1), ".")
	return Number{Whole: whole, Fraction: fraction}
}

func (s *tokenizer) mixedSign(m []string) (Token, int) {
	sign, _ := utf8.DecodeRuneInString(m[2])
	f := vulgarFraction(m[1], sign)
	if m[len(m)-1] == `"` && !s.quote {
		return s.inches(f, len(m[0]))
	}
	return s.withUnit(f, m[0], m[3:], len(m[1])+strings.Index(m[0][len(m[1]):], m[2])+len(m[2]))
}

// mixed recognizes 2 1/2, also with a unit.
func (s *tokenizer) mixed(m []string) (Token, int) {
	f := Fraction{Whole: m[1], Num: Atoi(m[2]), Den: Atoi(m[3])}
	if f.Num >= f.Den || !named(f.Den) || s.coded() {
		return nil, 0
	}
	bare := len(m[1]) + 1 + len(m[2]) + 1 + len(m[3])
	if m[len(m)-1] == `"` && !s.quote {
		return s.inches(f, len(m[0]))
	}
	return s.withUnit(f, m[0], m[4:], bare)
}

// withUnit adds the unit of a fraction, if there is one: m is the gap and the submatches of [unitSign] in
// match. Without a unit the fraction has bare bytes.
func (s *tokenizer) withUnit(f Fraction, match string, m []string, bare int) (Token, int) {
	if len(m) > 1 && m[1] != "" {
		if u, less, ok := s.unit(match, m[1:], m[0]); ok {
			f.Unit = u
			return f, len(match) - less
		}
	}
	return f, bare
}

// inches returns a fraction of n bytes that ends with the sign of inches.
func (s *tokenizer) inches(f Fraction, n int) (Token, int) {
	word := s.nextWord(n)
	f.Unit, f.Compound = Unit{Symbol: "in."}, word != "" && !s.Is(Extent, word)
	return f, n
}

// partOfUnit recognizes 3/4 mile and 5/16".
func (s *tokenizer) partOfUnit(m []string) (Token, int) {
	f := Fraction{Num: Atoi(m[1]), Den: Atoi(m[2])}
	if f.Num == 0 || f.Num >= f.Den || f.Den > 10 && !named(f.Den) && m[4] != "s" {
		return nil, 0
	}
	if m[len(m)-1] == `"` {
		return s.inches(f, len(m[0]))
	}
	u, n, ok := s.unit(m[0], m[4:], m[3])
	if !ok || u.Per != "" || s.preceded(Part) {
		return nil, 0
	}
	f.Unit = u
	return f, len(m[0]) - n
}

// named reports whether the parts of den have a name.
func named(den int) bool {
	switch den {
	case 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 32, 64, 100:
		return true
	}
	return false
}

// summand reports whether a sign of a sum stands before or after the next n bytes.
func (s *tokenizer) summand(n int) bool {
	before := strings.TrimRight(s.src[max(0, s.at-4):s.at], " ")
	last, _ := utf8.DecodeLastRuneInString(before)
	return strings.ContainsRune("+=×÷", last) || strings.ContainsRune("+=×÷", First(s.next(n)+" "))
}

// noun reports whether the word after the next n bytes is a noun by its capital.
func (s *tokenizer) noun(n int) bool { return s.CapitalNouns && capital(s.nextWord(n)) }

// pair recognizes a/b: x of y near words such as "step" and "disks", "over" in a blood pressure, a fraction
// before words such as "cup" or alone.
func (s *tokenizer) pair(m []string) (Token, int) {
	a, b, n := Atoi(m[1]), Atoi(m[2]), len(m[0])
	if s.followed(n, "/") || s.previous() == '/' {
		return nil, 0
	}
	p := Pair{A: Number{Whole: m[1]}, B: Number{Whole: m[2]}}
	fraction := Fraction{Num: a, Den: b}
	part := a > 0 && a < b && named(b)
	bracket := s.previous() == '[' || s.previous() == '(' || m[0][0] == '('
	switch {
	case m[0] == "24/7" || m[0] == "9/11" || a == b && a > 9 && !s.nears(Part) && !s.follows(Parts, n, 2):
		p.Join = Plain
	case s.nears(Pressure) && a > b || a > b && a > 80 && b > 39:
		p.Join = Over
	case part && !s.preceded(Part) && (s.follows(Portion, n, 1) || s.noun(n) && !s.follows(Parts, n, 2)):
		return fraction, n
	case part && s.preceded(Copula), part && !s.preceded(Part) && s.summand(n):
		return fraction, n
	case a > b && a+b == 100: // split it 60/40
		p.Join = Share
	case s.preceded(Part), s.follows(Parts, n, 2), bracket && a <= b, a == 0:
	case part && (s.before(0) == "" || s.follows(Portion, n, 1) || s.preceded(Determiner)):
		return fraction, n
	case a > b:
		p.Join = Over
	}
	return p, n
}
