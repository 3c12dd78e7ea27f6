package speakable

import (
	"regexp"
	"strings"
)

// A unit holds the singular and plural of a unit of measure.
type unit struct{ one, many string }

// unitRows has a symbol, the singular, and the plural if it is not the singular
// with an s; = means the same as the singular. An underscore is a space.
const unitRows = `
mm millimeter
cm centimeter
m meter
km kilometer
ft foot feet
yd yard
yds yard
mi mile
mi. mile
ha hectare
in. inch inches
mg milligram
g gram
kg kilogram
μg microgram
lb pound
lbs pound
oz ounce
ml milliliter
mL milliliter
cl centiliter
dl deciliter
l liter
L liter
gal gallon
tsp teaspoon
tbsp tablespoon
ns nanosecond
μs microsecond
ms millisecond
s second
sec second
secs second
min minute
mins minute
h hour
hr hour
hrs hour
mph mile_per_hour miles_per_hour
kph kilometer_per_hour kilometers_per_hour
kmh kilometer_per_hour kilometers_per_hour
kt knot
kts knot
kn knot
mpg mile_per_gallon miles_per_gallon
rpm revolution_per_minute revolutions_per_minute
bpm beat_per_minute beats_per_minute
fps frame_per_second frames_per_second
dpi dot_per_inch dots_per_inch
ppm part_per_million parts_per_million
Hz hertz =
kHz kilohertz =
MHz megahertz =
GHz gigahertz =
kB kilobyte
KB kilobyte
MB megabyte
GB gigabyte
TB terabyte
PB petabyte
KiB kibibyte
MiB mebibyte
GiB gibibyte
kbps kilobit_per_second kilobits_per_second
Mbps megabit_per_second megabits_per_second
Gbps gigabit_per_second gigabits_per_second
mA milliampere
mAh milliampere_hour
Ah ampere_hour
mV millivolt
V volt
kV kilovolt
mW milliwatt
W watt
kW kilowatt
MW megawatt
GW gigawatt
Wh watt-hour
kWh kilowatt-hour
MWh megawatt-hour
J joule
kJ kilojoule
kcal kilocalorie
cal calorie
hp horsepower =
Pa pascal
hPa hectopascal
kPa kilopascal
psi pound_per_square_inch pounds_per_square_inch
mbar millibar
dB decibel
dBA decibel
lx lux =
lm lumen
Ω ohm
kΩ kilohm
MΩ megohm
px pixel
° degree
°C degree_Celsius degrees_Celsius
°F degree_Fahrenheit degrees_Fahrenheit
º degree
ºC degree_Celsius degrees_Celsius
ºF degree_Fahrenheit degrees_Fahrenheit
% percent =
‰ per_mille =
¢ cent
€ euro
£ pound
$ dollar
₽ ruble
zł zloty =
kr krone kroner
USD U.S_dollar
CAD Canadian_dollar
AUD Australian_dollar
EUR euro
GBP British_pound
JPY yen =
CHF Swiss_franc
`

func unitTable() map[string]unit {
	units := map[string]unit{}
	for row := range strings.Lines(strings.TrimSpace(unitRows)) {
		names := strings.Fields(row)
		u := unit{one: spaced(names[1]), many: spaced(names[1]) + "s"}
		if len(names) > 2 {
			u.many = strings.Replace(spaced(names[2]), "=", u.one, 1)
		}
		units[names[0]] = u
	}
	return units
}

func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

// unitSign matches a unit's symbol, with a power, and per another.
const unitSign = `((?:sq\.? |cu\.? |fl\.? )?(?:[°º] ?[CF]\b|[°º%‰¢€£$₽Ω]|[A-Za-zμΩł]{1,5}))([²³]|\^[23])?(?:/(?:(\d{1,3}) ?)?([A-Za-z]{1,6})([²³])?)?(\.?)`

// measures returns the forms of numbers with a unit.
func measures() []form {
	return []form{
		{regexp.MustCompile(`^(\d{1,2})(?:' ?| ?ft\.? )(\d{1,2})(?:"|''| ?in\b)`), (*reader).feet},
		{regexp.MustCompile(`^` + amount + `"`), (*reader).inches},
		{regexp.MustCompile(`^(\d{1,4}(?:\.\d+)?) ?(?:x ?|×)(\d{1,4}(?:\.\d+)?)(?: ?(?:x ?|×)(\d{1,4}(?:\.\d+)?))?`), (*reader).size},
		{regexp.MustCompile(`^` + amount + `([x×])`), (*reader).fold},
		{regexp.MustCompile(`^()(\.\d+)( ?)` + unitSign), (*reader).measure},
		{regexp.MustCompile(`^` + amount + `([ -]?)` + unitSign), (*reader).measure},
		{regexp.MustCompile(`^(\d{1,3}) ?([CF])`), (*reader).degrees},
	}
}

func (r *reader) feet(m []string) string {
	return r.cardinal(atoi(m[1])) + " foot " + r.cardinal(atoi(m[2]))
}

// inches expands inches, whose mark must not end a quotation.
func (r *reader) inches(m []string) string {
	switch {
	case r.quote:
		return ""
	case m[1] == "1" && m[2] == "":
		return "one inch"
	case r.nextWord(len(m[0])) != "" && !r.is("extents", r.nextWord(len(m[0]))):
		return r.decimal(m[1], m[2]) + "-inch"
	}
	return r.decimal(m[1], m[2]) + " inches"
}

func (r *reader) size(m []string) string {
	spoken := r.shortNumber(m[1]) + " by " + r.shortNumber(m[2])
	if m[3] != "" {
		spoken += " by " + r.shortNumber(m[3])
	}
	return spoken
}

func (r *reader) fold(m []string) string { return r.decimal(m[1], m[2]) + " times" }

// shortNumber returns a number of at most four digits with its fraction in words;
// 1280 is read as a year.
func (r *reader) shortNumber(s string) string {
	whole, fraction, _ := strings.Cut(s, ".")
	if fraction == "" && len(whole) == 4 && whole[0] != '0' {
		return r.year(atoi(whole))
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return r.decimal(whole, fraction)
}

// degrees expands 72F and 20C, written without the degree sign.
func (r *reader) degrees(m []string) string {
	if strings.Contains(m[0], " ") {
		return ""
	}
	return r.whole(m[1]) + " " + r.units["°"+m[2]].many
}

// measure returns a number and its unit in words. m is whole, fraction, the
// separator from the unit, the unit, its power, per how many, per what, its
// power, and a point.
func (r *reader) measure(m []string) string {
	u, ok := r.unit(inch(m[4], m[3], m[9]), m[5])
	if !ok || !r.fits(m) || strings.Contains("$£€", m[4]) && startsWithDigit(r.clip(len(m[0]))) {
		return ""
	}
	spoken := r.decimal(m[1], m[2])
	switch {
	case m[3] == "-":
		spoken = strings.ReplaceAll(spoken, " ", "-") + "-" + u.one
	case m[1] == "1" && m[2] == "":
		spoken += " " + u.one
	default:
		spoken += " " + u.many
	}
	if m[7] != "" {
		per, ok := r.per(m[6], m[7], m[8])
		if !ok {
			return ""
		}
		spoken += " per " + per
	}
	return spoken
}

// inch returns the key of a unit: "in" is one only directly after its number or
// with a point.
func inch(sign, gap, point string) string {
	if sign == "in" && (point != "" || gap == "") {
		return "in."
	}
	return sign
}

// fits reports whether the unit's symbol is a unit here: short symbols are
// words or letters elsewhere ("5 m tall", but "5 a day", "5 s").
func (r *reader) fits(m []string) bool {
	switch m[4] {
	case "s", "h", "l", "kn", "bar", "min", "cal", "kr":
		return m[3] != "-"
	case "V", "W", "J", "L":
		return m[3] != "-" && (m[3] == "" || r.nextWord(len(m[0])) == "" || !capital(r.nextWord(len(m[0]))))
	}
	return true
}

// unit looks up a unit by its symbol and power.
func (r *reader) unit(sign, power string) (unit, bool) {
	before := ""
	switch power {
	case "²", "^2":
		before = "square "
	case "³", "^3":
		before = "cubic "
	}
	if word, rest, ok := strings.Cut(sign, " "); ok && word[0] != '°' && word[0] != "º"[0] {
		before, sign = map[byte]string{'s': "square ", 'c': "cubic ", 'f': "fluid "}[word[0]], rest
	}
	u, ok := r.units[strings.ReplaceAll(sign, " ", "")]
	return unit{before + u.one, before + u.many}, ok
}

// per returns the denominator: "per second", "per hundred kilometers".
func (r *reader) per(digits, sign, power string) (string, bool) {
	u, ok := r.unit(sign, power)
	if !ok {
		if !r.is("periods", sign) {
			return "", false
		}
		u = unit{sign, sign + "s"}
	}
	switch {
	case digits != "":
		return r.whole(digits) + " " + u.many, true
	case sign == "s" && power != "":
		return "second squared", true
	}
	return u.one, true
}
