package recognize

import (
	"regexp"
	"strings"
	"unicode"
)

// A Case is the ending that the words before a token demand of its words, in languages that inflect numbers.
type Case int

// The cases, with their examples in a language that has all of them.
const (
	Bare     Case = iota // erster Mai, eine Stunde
	Definite             // der erste Mai
	Oblique              // am ersten Mai
	Dative               // nach einer Stunde
)

// inflected returns a token of n bytes with the case that the words before it demand.
func (s *tokenizer) inflected(t Token, n int) Token {
	if !s.Cases {
		return t
	}
	switch t := t.(type) {
	case Date:
		s.demand = s.demanded()
		t.Case = s.demand
		return t
	case Duration:
		t.Case = s.demanded()
		return t
	case Quantity:
		t.Case = s.demanded()
		return t
	case Fraction:
		t.Case, t.Noun = s.demanded(), s.nextWord(n)
		return t
	case Ordinal:
		s.demand = s.demanded()
		t.Case = s.demand
		return t
	case Counted:
		t.Case = s.demanded()
		return t
	}
	return t
}

// demanded returns the case that the words before the position demand.
func (s *tokenizer) demanded() Case {
	i := 0
	for i < memory-1 && s.Is(About, s.before(i)) {
		i++
	}
	word := s.before(i)
	if s.Is(Joiner, word) && i+1 < memory {
		word = s.before(i + 1) // am 2. und 3. Mai
	}
	switch {
	case startsWithDigit(word):
		return s.demand
	case s.Is(WeakBefore, word), i+1 < memory && s.Is(DativeArticle, word) && s.Is(DativeBefore, s.before(i+1)):
		return Oblique
	case s.Is(ArticleBefore, word):
		return Definite
	case s.Is(DativeBefore, word):
		return Dative
	}
	return Bare
}

// periodRules returns the rules of languages that write an ordinal with a period.
func periodRules() []rule {
	return []rule{
		{".", starts(`(\d{1,2})\. ?(\d{1,2})\.(?: ?(\d{4})\b|(\d{2})\b)?`), whole((*tokenizer).periodDate)},
		{".", starts(`(\d{1,2})\.([0-5]\d)(?: ?(\p{L}+)\b)?`), (*tokenizer).periodClock},
		{",", starts(`(\d{1,9}),(?:--?|[–—]) ?(€|EUR\b)?`), whole((*tokenizer).roundAmount)},
		{".", starts(`(\d{1,3})\.`), whole((*tokenizer).periodOrdinal)},
	}
}

// periodDate recognizes 24.12., 24.12.26 and 24. 12. 2026. What has two digits after a space is no year: 24.11. 19 Uhr.
func (s *tokenizer) periodDate(m []string) Token {
	rest := s.rest(len(m[0]))
	if !s.PeriodOrdinal || startsWithDigit(rest) || strings.HasPrefix(rest, ".") && startsWithDigit(rest[1:]) ||
		s.preceded(Release) {
		return nil
	}
	year := m[3] + m[4]
	if year == "" {
		year = "2000"
	}
	d, ok := date(year, m[2], m[1]).(Date)
	if !ok {
		return nil
	}
	if m[3]+m[4] == "" {
		d.Year = 0
	}
	return d
}

// periodClock recognizes 19.30 Uhr, and 19.30 after a word for that.
func (s *tokenizer) periodClock(m []string) (Token, int) {
	hour, text := Atoi(m[1]), m[0]
	named := s.Is(ClockAfter, m[3])
	if !named {
		text = m[1] + "." + m[2]
	}
	if s.TwelveHours || hour > 24 || !named && !s.preceded(ClockBefore) || !s.ends(text) {
		return nil, 0
	}
	return Clock{Hour: hour, Minute: Atoi(m[2]), Second: -1}, len(text)
}

// toDate matches the rest of a range of days: 24.-26.11.
var toDate = regexp.MustCompile(`^ ?[-–] ?\d{1,2}\. ?\d{1,2}\.`)

// series matches the next ordinal of a list.
var series = regexp.MustCompile(`^, \d{1,3}\.`)

// roundAmount recognizes 5,- €.
func (s *tokenizer) roundAmount(m []string) Token {
	switch {
	case !s.DecimalComma:
		return nil
	case m[2] == "":
		return Number{Whole: m[1]}
	}
	return Money{Currency: "EUR", Amount: Number{Whole: m[1]}}
}

// periodOrdinal recognizes an ordinal by the words around it; otherwise the period ends the sentence.
func (s *tokenizer) periodOrdinal(m []string) Token {
	n := len(m[0])
	rest := s.rest(n)
	if s.PeriodOrdinal && toDate.MatchString(rest) {
		return Ordinal{N: Atoi(m[1])}
	}
	if !s.PeriodOrdinal || rest != "" && !strings.ContainsRune(" \n,;:!?)\"", rune(rest[0])) || Atoi(m[1]) == 0 {
		return nil
	}
	if t, _ := s.first(strings.TrimLeft(rest, " ")); is[Address](t) {
		return nil
	}
	word, demanded := s.nextWord(n), s.demanded()
	governed := (demanded == Definite || demanded == Oblique) && !s.preceded(Until)
	switch {
	case word == "" || !isLetter(First(word)):
		if !governed && !series.MatchString(rest) {
			return nil
		}
		word = ""
	case unicode.IsLower(First(word)), governed, s.rankedNoun(word), s.before(0) == "" && !s.Is(Starter, word):
	default:
		return nil
	}
	if s.Is(Starter, word) || unicode.IsLower(First(word)) {
		word = ""
	}
	return Ordinal{N: Atoi(m[1]), Noun: word}
}

// rankedNoun reports whether an ordinal often stands before a noun, or before the last part of it.
func (s *tokenizer) rankedNoun(noun string) bool {
	noun = strings.ToLower(noun)
	for i := range noun {
		if s.Is(Ranked, noun[i:]) && (i == 0 || len(noun)-i > 3) {
			return true
		}
	}
	return false
}

// countRules returns the rules of bare numbers of which the words depend on their neighbors.
func countRules() []rule {
	return []rule{
		{" ", starts(`1 (\p{L}+)(?: (\p{L}+))?`), func(s *tokenizer, m []string) (Token, int) {
			noun, adjective := m[1], ""
			if unicode.IsLower(First(noun)) {
				adjective = noun
				if noun = m[2]; !strings.HasSuffix(m[1], "e") && !strings.HasSuffix(m[1], "er") &&
					!strings.HasSuffix(m[1], "es") && !strings.HasSuffix(m[1], "en") ||
					capital(s.before(0)) && !s.begins && s.previous() == ' ' {
					return nil, 0
				}
			}
			if !s.CapitalNouns || !capital(noun) || s.preceded(Seat) {
				return nil, 0
			}
			return Counted{Noun: noun, Adjective: adjective}, 1
		}},
		{"", starts(`1[1-9]\d\d\b`), whole(func(s *tokenizer, m []string) Token {
			rest := s.rest(len(m[0]))
			marked := len(rest) > 1 && strings.ContainsRune(".,", rune(rest[0])) && IsDigit(rune(rest[1]))
			after := s.preceded(YearBefore)
			if !s.CapitalNouns || marked || !after && Atoi(m[0]) < 1500 ||
				capital(s.nextWord(len(m[0]))) && (!after || !capital(s.before(0))) {
				return nil
			}
			return Date{Year: Atoi(m[0])}
		})},
	}
}

var spacedLetters = regexp.MustCompile(`^\p{L}{1,2}(?:\. ?\p{L}{1,3}){1,3}\.`)

// spaced recognizes an abbreviation of letters with periods and spaces: z. B.
func (s *tokenizer) spaced() bool {
	m := spacedLetters.FindString(s.rest(0))
	key := strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(m, "."), " ", ""))
	long := s.abbreviations[key]
	if m == "" || len(long) == 0 {
		return false
	}
	if long[0].inner || !s.endsSentence(len(m), true) {
		return s.takeInner(Word{long[0].long}, len(m))
	}
	return s.take(Word{long[0].long}, len(m))
}

// shortened recognizes a word of which the end is abbreviated: Gartenstr.
func (s *tokenizer) shortened(word string) bool {
	if !s.followed(len(word), ".") {
		return false
	}
	for _, end := range s.endings {
		if stem, ok := strings.CutSuffix(word, end[1:]); ok && stem != "" {
			return s.takeInner(Word{stem + s.abbreviations[end][0].long[1:]}, len(word)+1)
		}
	}
	return false
}
