package recognize

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// unitSign matches a unit's symbol, with a power, and per another, and a period.
const unitSign = `((?:sq\.? |cu\.? |fl\.? )?` +
	`(?:[°º] ?[CF]\b|[°º%‰¢€£$₽ΩµμΩ][A-Za-zΩ]{0,3}|[A-Za-z]{1,4}ł|[A-Za-z]{1,5}Ω?\b|[A-Za-z]{1,5}))` +
	`([²³]|\^[23]|[23]\b)?(?:/(?:(\d{1,3}) ?)?([A-Za-z]{1,6}|m[23]\b)([²³]|\^[23]|[23]\b)?)?(\.?)`

// magnitude matches a word that may be the magnitude of an amount of money.
const magnitude = `(?: ?(\p{L}{1,10}\.?))?`

// currency returns the code of a currency's sign, or of the name of a country and its sign; "" for none.
func currency(sign string) string {
	return map[string]string{
		"$": "USD", "£": "GBP", "€": "EUR", "¥": "JPY", "₹": "INR", "US$": "US", "C$": "CAD", "CA$": "CAD",
		"A$": "AUD", "AU$": "AUD", "NZ$": "NZD",
	}[sign]
}

// measureRules returns the rules of durations, quantities and amounts.
func measureRules() []rule {
	return []rule{
		{
			"",
			starts(`\d+(?:[.,]\d+)?[ -]?\p{L}{1,4}\b\.?|\d+[wdhm]\d`),
			(*tokenizer).duration,
		},
		{
			"a,", starts(`(\d{1,3}(?:,\d{3})+|\d{1,9})(\p{L}{2})\b`),
			whole(func(s *tokenizer, m []string) Token {
				if !s.Is(Ending, m[2]) {
					return nil
				}
				return Ordinal{N: Atoi(plainDigits(m[1]))}
			}),
		},
		{"a'", starts(`(\d{0,2})(\d0)'?s\b`), whole((*tokenizer).decade)},
		{
			"' a", starts(`(\d{1,2})(?:' ?| ?ft\.? )(\d{1,2})(?:"|''| ?in\b|\b)`),
			whole(func(s *tokenizer, m []string) Token {
				if Atoi(m[2]) > 11 || strings.HasSuffix(s.before(0), "°") ||
					strings.Contains(m[0], "ft") && !strings.Contains(m[0], "in") {
					return nil
				}
				return FeetInches{Atoi(m[1]), Atoi(m[2])}
			}),
		},
		{`".`, starts(`(\d+(?:\.\d+)?)"`), whole(func(s *tokenizer, m []string) Token {
			if s.quote || s.before(0) == "'" { // 48° 12' 30"
				return nil
			}
			u := Unit{Symbol: "in."}
			word := s.nextWord(len(m[0]))
			return Quantity{Number: decimal(m[1]), Unit: u, Compound: word != "" && !s.Is(Extent, word)}
		})},
		{
			" xu.", starts(`(\d{1,4}(?:\.\d+)?) x (\d{1,4}(?:\.\d+)?) =`),
			func(_ *tokenizer, m []string) (Token, int) {
				return Pair{A: decimal(m[1]), B: decimal(m[2]), Join: By}, len(m[0]) - len(" =")
			},
		},
		{
			"a u.",
			starts(`(\d{1,4}(?:\.\d+)?)(?:x| x |×)(\d{1,4}(?:\.\d+)?)(?:(?:x| x |×)(\d{1,4}(?:\.\d+)?))?\b`),
			whole(func(_ *tokenizer, m []string) Token {
				var size Size
				for _, side := range m[1:] {
					if side != "" {
						size.Sides = append(size.Sides, decimal(side))
					}
				}
				return size
			}),
		},
		{
			"au.", starts(`(\d+(?:\.\d+)?)[x×]`),
			whole(func(_ *tokenizer, m []string) Token { return Times{decimal(m[1])} }),
		},
		{
			"",
			starts(amount + ` ?([€£$¥]|EUR|USD|GBP|CAD|AUD|JPY|CHF)(?:/([A-Za-z]{1,6})\b)?`),
			(*tokenizer).amountBefore,
		},
		{"", starts(amount + `([ -]?)` + unitSign), (*tokenizer).quantity},
		{"a. ", starts(`(\d{1,3}(?:\.\d+)?) ?([CF])\b`), (*tokenizer).temperature},
		{" ", starts(`(\d+) ([NSEW])\b`), (*tokenizer).direction},
		{"a.", starts(`(\d+(?:\.\d+)?)(k|K|M|B|bn|mn)\b`), (*tokenizer).magnitude},
		{
			".", starts(`(\d+\.\d+)([A-Za-z]{1,3})\b`),
			func(s *tokenizer, m []string) (Token, int) {
				if after := s.rest(len(m[0])); strings.EqualFold(m[2], "e") && len(after) > 1 &&
					startsWithDigit(after[1:]) {
					return nil, 0 // 2.5e-4
				}
				if len(m[2]) < 3 {
					m[2] = strings.ToUpper(m[2]) // 802.11ax
				}
				return Identifier{Runs: []string{m[1], m[2]}}, len(m[0])
			},
		},
	}
}

// durationUnits are the units of a duration in descending order.
const durationUnits = "ywdhms"

var durationPart = regexp.MustCompile(
	`^(\d+(?:[.,]\d+)?) ?(\p{L}{1,4})(?:\b\.?|)( ?)`,
)

// duration recognizes 1h 5m, 2h13m, and a lone 5m near a word that makes it minutes.
func (s *tokenizer) duration(_ []string) (Token, int) {
	var d Duration
	view, n, order := s.rest(0), 0, -1
	dense := false // directly followed by another part
	for {
		m := durationPart.FindStringSubmatch(view[n:])
		if m == nil {
			break
		}
		unit, at := s.durationUnit(m[2])
		after := view[n+len(m[0])-len(m[3]):]
		letter := after != "" && IsWord(First(after))
		number, ok := s.number(m[1], true)
		if at < 0 || at <= order ||
			at > order+1 && order >= 0 && len(d.Parts) > 0 && !adjacent(d.Parts[len(d.Parts)-1].Unit, unit) || !ok ||
			letter && !startsWithDigit(after) {
			break
		}
		d.Parts, order = append(d.Parts, DurationPart{number, unit}), at
		n += len(m[0])
		dense = m[3] != ""
		if m[3] == "" && !letter {
			break
		}
	}
	if n == 0 {
		return nil, 0
	}
	if dense {
		n--
	}
	switch {
	case len(d.Parts) > 1:
		return d, n
	case !s.ends(view[:n]), !s.lone(&d, view[:n], n):
		return nil, 0
	}
	return d, n
}

// durationUnit returns the letter of a written unit of time and its place among [durationUnits], −1 if it is none.
func (s *tokenizer) durationUnit(written string) (unit byte, at int) {
	if letter := s.signs["duration "+written]; letter != "" {
		written = letter
	}
	if len(written) != 1 {
		return 0, -1
	}
	return written[0], strings.IndexByte(durationUnits, written[0])
}

// adjacent reports whether a duration may go on with unit b after a: 1h 5s has no minutes, 3d 12m no hours.
func adjacent(a, b byte) bool {
	return strings.Contains("ydyw wd dh hm ms hs dm", string([]byte{a, b}))
}

// lone reports whether a single part is a duration.
func (s *tokenizer) lone(d *Duration, written string, n int) bool {
	number, unit := d.Parts[0].Number, strings.TrimLeft(written, "0123456789., -")
	spaced := strings.ContainsAny(written, " ")
	switch strings.TrimSuffix(unit, ".") {
	case "m":
		if s.isMinutes = s.minutes(n, spaced); !s.isMinutes {
			return false
		}
	case "s":
		if len(number.Whole) == 4 && strings.HasSuffix(number.Whole, "0") ||
			s.preceded(Owner) && number.Fraction == "" && strings.HasSuffix(number.Whole, "0") ||
			spaced && strings.Contains(written, "-") {
			return false
		}
	case "d", "w", "y":
		if spaced || unit == "w" && !s.preceded(Time) && !s.Is(Elapsed, s.nextWord(n)) ||
			s.followed(n, "/") {
			return false
		}
	}
	if s.followed(n, "/") || s.followed(n, "²") || s.followed(n, "³") {
		return false
	}
	d.Compound = strings.Contains(written, "-")
	return true
}

// minutes reports whether a lone "m" is minutes and not meters: first what stands directly behind it decides,
// then the words before, the nearest first, then the words behind.
func (s *tokenizer) minutes(n int, spaced bool) bool {
	next := s.nextWords(n, 3)
	if s.meters(next) {
		return false
	}
	if len(next) > 0 && s.Is(MinutesAfter, next[0]) {
		return true
	}
	if s.isMinutes && s.inSeries() {
		return true
	}
	for i, word := range s.words {
		switch {
		case s.Is(Meters, word), i == 0 && s.Is(Determiner, word):
			return false
		case s.Is(Minutes, word):
			return (!spaced || i == 0) && (!s.Is(Whereabouts, word) || !s.nears(MetersAfter))
		}
	}
	for _, word := range next {
		if s.Is(Meters, word) || s.Is(Minutes, word) {
			return s.Is(Minutes, word) && !s.Is(Meters, word) && !spaced
		}
	}
	before := strings.TrimRight(s.src[max(0, s.at-4):s.at], " ")
	return !spaced && strings.HasSuffix(before, ":")
}

// inSeries reports whether a lone "m" stands before in a list: 1m 0.7, 5m 0.9.
func (s *tokenizer) inSeries() bool {
	return startsWithDigit(s.before(0)) && startsWithDigit(s.before(1)) && strings.HasSuffix(s.before(1), "m")
}

// meters reports whether the words behind a lone "m" make it meters.
func (s *tokenizer) meters(next []string) bool {
	if len(next) > 0 && s.Is(Compound, next[0]) && s.Is(Meters, next[0]) {
		return true
	}
	return slices.ContainsFunc(next, func(word string) bool { return s.Is(MetersAfter, word) })
}

// decade recognizes 1990s, and 30s after a word such as "the".
func (s *tokenizer) decade(m []string) Token {
	tens := Atoi(m[2])
	switch {
	case len(m[1]) == 2:
		return Decade{Century: Atoi(m[1]), Tens: tens}
	case m[1] == "" && tens > 10 && s.preceded(Owner):
		return Decade{Tens: tens}
	}
	return nil
}

// quantity recognizes a number with a unit.
func (s *tokenizer) quantity(m []string) (Token, int) {
	gap := m[2]
	u, less, ok := s.unit(m[0], m[3:], gap)
	if !ok || !s.fits(m, gap) {
		return nil, 0
	}
	number, ok := s.number(m[1], true)
	if !ok {
		return nil, 0
	}
	n := len(m[0]) - less
	return Quantity{Number: number, Unit: u, Compound: gap == "-" || s.compound(number, u, n)}, n
}

// compound reports whether a quantity of n bytes stands before a noun.
func (s *tokenizer) compound(number Number, u Unit, n int) bool {
	word := s.nextWord(n)
	if word == "" || u.Symbol == "%" || len(u.Symbol) > 2 && strings.HasPrefix(u.Symbol, "°") || number.Whole == "1" ||
		capital(word) && len(u.Symbol) > 1 || s.followed(n, ".") {
		return false
	}
	return s.Is(Compound, word) && !s.preceded(Meters) ||
		s.preceded(Determiner) && !s.Is(Extent, word) && !strings.HasSuffix(word, "ed")
}

// unit returns the unit of the submatches of [unitSign] in match, and the number of bytes at the match's end
// that do not belong to it: a denominator that is no unit, or a period.
func (s *tokenizer) unit(match string, m []string, gap string) (u Unit, less int, ok bool) {
	sign, period := m[0], m[5]
	symbol := strings.ReplaceAll(strings.ReplaceAll(sign, "µ", "μ"), "º", "°")
	if word, rest, found := strings.Cut(symbol, " "); found && !strings.HasPrefix(word, "°") {
		u.Power = map[byte]int{'s': 2, 'c': 3, 'f': 4}[word[0]]
		symbol = rest
	}
	symbol = strings.ReplaceAll(symbol, " ", "")
	after := s.rest(len(match))
	ended := after == "" || strings.ContainsRune(",;)!\n", rune(after[0])) || s.Is(Partitive, s.nextWord(len(match)))
	if _, _, known := s.Unit(symbol + "."); known && (period != "" || symbol == "in" && (gap == "" || ended)) {
		symbol += "."
	}
	if _, _, known := s.Unit(symbol); !known {
		return u, 0, false
	}
	u.Symbol = symbol
	if p := power(m[1]); p > 0 {
		u.Power = p
		if strings.ContainsAny(m[1], "23") && !lengths(symbol) {
			return u, 0, false
		}
	}
	if m[3] != "" && !s.denominator(&u, m) {
		return u, len(match) - strings.LastIndexByte(match, '/'), true
	}
	if period != "" && (len(symbol) == 1 || strings.ContainsAny(symbol, "°%€$£")) {
		less = 1
	}
	return u, less, true
}

// denominator adds the denominator of the submatches of [unitSign] to a unit, or reports that it is none.
func (s *tokenizer) denominator(u *Unit, m []string) bool {
	per, p := m[3], power(m[4])
	if strings.HasSuffix(per, "2") || strings.HasSuffix(per, "3") {
		per, p = per[:len(per)-1], power(per[len(per)-1:])
	}
	if _, _, known := s.Unit(per); !known && !s.Is(Period, per) {
		return false
	}
	if m[2] != "" && m[2] != "10" && m[2] != "100" && m[2] != "1000" {
		return false
	}
	u.PerCount, u.Per, u.PerPower = m[2], per, p
	return true
}

func lengths(symbol string) bool {
	switch symbol {
	case "m", "cm", "mm", "km", "dm", "ft", "in.", "mi", "yd":
		return true
	}
	return false
}

func power(sign string) int {
	switch sign {
	case "²", "^2", "2":
		return 2
	case "³", "^3", "3":
		return 3
	}
	return 0
}

// fits reports whether the unit's symbol is a unit here: short symbols are words or letters elsewhere.
func (s *tokenizer) fits(m []string, gap string) bool {
	n := len(m[0])
	switch symbol := m[3]; symbol {
	case "$", "£", "€":
		return !startsWithDigit(s.rest(n))
	case "s", "h", "l", "kn", "bar", "min", "cal", "kr", "g":
		return gap != "-"
	case "V", "W", "J", "L", "A", "F", "K", "N", "C", "H":
		if s.preceded(Seat) || s.seated() || s.preceded(Highway) || gap == "-" && symbol != "V" {
			return false
		}
		switch symbol {
		case "K":
			return len(m[1]) == 4 // 2700 K is light, 5K a run
		case "A":
			return s.nears(Electric) || s.follows(Electric, n, 2) || strings.ContainsAny(m[1], ".,") && gap == ""
		case "W", "J", "L", "V":
			next := s.nextWord(n)
			return gap == "" || next == "" || s.Is(Compound, next) || !capital(next) && (symbol != "W" || !s.named(n))
		}
		return false
	case "ac", "pt", "t", "mo":
		return gap == " "
	case "in", "hp", "ct":
		return gap != "-"
	}
	return true
}

// temperature recognizes 72F and 20C, without the degree sign.
func (s *tokenizer) temperature(m []string) (Token, int) {
	spaced := strings.Contains(m[0], " ")
	if s.seated() ||
		spaced && !s.preceded(Extent) && !s.preceded(Thermal) && !s.Is(Thermal, s.nextWord(len(m[0]))) ||
		s.named(len(m[0])) && !spaced && s.before(0) == "" {
		return nil, 0
	}
	if _, label := s.last.(Label); label {
		return nil, 0
	}
	return Quantity{Number: decimal(m[1]), Unit: Unit{Symbol: "°" + m[2]}}, len(m[0])
}

// direction recognizes the letter after a road's or a house's number: I-80 W, 405 N Main St.
func (s *tokenizer) direction(m []string) (Token, int) {
	road := s.preceded(Highway)
	if !road && !s.named(len(m[0])) {
		return nil, 0
	}
	return Number{Whole: m[1]}, len(m[1])
}

// magnitude recognizes 4.7B people and 1.8k likes.
func (s *tokenizer) magnitude(m []string) (Token, int) {
	_, decimals, _ := strings.Cut(m[1], ".")
	word := s.nextWord(len(m[0]))
	switch {
	case m[2] == "k" && decimals == "" && (s.Is(Meters, word) || s.Is(Whereabouts, word)):
		return nil, 0
	case strings.Contains(m[2], "n"), decimals == "" && m[2] != "K" && s.Is(Countable, word),
		m[2] == "k" && !s.nears(Meters):
	case m[2] == "K" && decimals == "", s.preceded(Seat):
		return nil, 0
	case m[2] == "k", decimals == "", word == "", !unicode.IsLower(First(word)), s.Is(Extent, word):
		return nil, 0
	}
	magnitude, _ := s.magnitudeOf(m[2])
	return Money{Amount: decimal(m[1]), Magnitude: magnitude}, len(m[0])
}

// magnitudeOf returns the magnitude that a word or letter begins with, k, M, B or T, and how many of its bytes say
// so; 0: it is none.
func (s *tokenizer) magnitudeOf(written string) (magnitude string, n int) {
	switch letter := strings.TrimSuffix(written, "."); letter {
	case "k", "K":
		return "k", 1
	case "m", "M":
		return "M", 1
	case "B", "T":
		return letter, 1
	}
	for _, word := range []string{written, strings.TrimSuffix(written, ".")} {
		if magnitude = s.signs["amount "+strings.ToLower(word)]; magnitude != "" {
			return magnitude, len(word)
		}
	}
	return "", 0
}

// price recognizes an amount, or a range of amounts, after its currency.
func (s *tokenizer) price(m []string) (Token, int) {
	m = s.oneOrRange(m)
	magnitude, size := s.magnitudeOf(m[7])
	if !s.ends(m[0]) {
		magnitude, size = "", 0
	}
	n := len(m[0]) - len(m[7]) + size
	n = len(strings.TrimRight(m[0][:n], " "))
	written := m[6]
	amount, ok := s.number(written, true)
	if !ok {
		at := strings.IndexAny(written, ",.")
		if magnitude != "" || m[4] != "" {
			return nil, 0
		}
		n -= len(written) - at
		amount = Number{Whole: written[:at]}
	}
	money := Money{Currency: currency(m[1] + m[2]), Amount: amount, Magnitude: magnitude}
	if money.Currency == "" {
		money.Currency = currency(m[2])
	}
	if m[4] != "" {
		if money.Low, ok = s.number(m[4], true); !ok {
			return nil, 0
		}
		money.LowMagnitude, _ = s.magnitudeOf(m[5])
	}
	money.Negative = m[3] != ""
	money.Compound = s.Is(Note, s.nextWord(n)) && amount.Fraction == "" && money.Magnitude == ""
	if per := perWord.FindString(s.rest(n)); per != "" {
		if _, _, known := s.Unit(per[1:]); known || s.Is(Period, per[1:]) {
			money.Per, n = per[1:], n+len(per)
		}
	}
	return money, n
}

// oneOrRange returns the submatches of a price, only those of its first amount if it is no range.
func (s *tokenizer) oneOrRange(m []string) []string {
	if m[4] == "" {
		return m
	}
	first := beforeDash(m[0])
	_, size := s.magnitudeOf(m[5])
	unknown := size < len(m[5])
	if first == "" {
		if !unknown {
			return m
		}
		first = m[0][:strings.LastIndexAny(m[0], "-–")]
	}
	least, _ := s.number(m[4], true)
	rest := m[0][len(first):]
	other := strings.ContainsAny(rest, "$£€") && !strings.Contains(rest, m[2]) // another currency
	if unknown || other || !s.continues(len(first), Atoi(least.Whole), "number", "money") {
		return []string{first, m[1], m[2], m[3], "", "", m[4], m[5]}
	}
	return m
}

var perWord = regexp.MustCompile(`^/[A-Za-z]{1,6}\b`)

// amountBefore recognizes 12,99 €.
func (s *tokenizer) amountBefore(m []string) (Token, int) {
	amount, ok := s.number(m[1], true)
	if !ok && strings.Count(m[1], ",") == 1 && m[3] != "" { // 1,689 €/l
		whole, fraction, _ := strings.Cut(m[1], ",")
		amount, ok = Number{Whole: whole, Fraction: fraction}, true
	}
	if !ok || m[2] == "$" && startsWithDigit(s.rest(len(m[0]))) ||
		m[2] != "€" && len(m[2]) < 3 && !strings.HasSuffix(m[0], m[2]) {
		return nil, 0
	}
	if m[3] != "" && amount.Grouped && len(amount.Whole) == 4 && strings.Contains(m[1], ",") {
		amount = Number{Whole: amount.Whole[:1], Fraction: amount.Whole[1:]}
	}
	code := currency(m[2])
	if code == "" {
		code = m[2]
	}
	if code == "USD" && len(m[2]) == 3 {
		code = "US"
	}
	n := len(m[0])
	if m[3] != "" {
		if _, _, known := s.Unit(m[3]); !known && !s.Is(Period, m[3]) {
			m[3], n = "", n-1-len(m[3])
		}
	}
	return Money{Currency: code, Amount: amount, Per: m[3]}, n
}
