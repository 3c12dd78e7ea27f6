package speakable

import (
	"strings"
	"unicode"
)

// An abbreviation is a word shortened with a point.
type abbreviation struct {
	long  string
	title bool // a name with a capital follows
	inner bool // something follows, so the point never ends a sentence
	bare  bool // also without its point
}

// Rows of abbreviations: short = long.
const (
	titles   = "Mr=Mister Mrs=Missus Ms=Miz Dr=Doctor Prof=Professor Gen=General Col=Colonel Capt=Captain Lt=Lieutenant Sgt=Sergeant Cpl=Corporal Rev=Reverend Hon=Honorable Gov=Governor Sen=Senator Rep=Representative Pres=President Msgr=Monsignor Fr=Father Mt=Mount Ft=Fort"
	bare     = "Mr Mrs Ms Dr Prof Jr Sr vs etc Ltd Dept approx"
	inner    = "min=minimum max=maximum vs=versus approx=approximately est=estimated tel=telephone Tel=Telephone ext=extension Ext=Extension fig=figure Fig=Figure vol=volume Vol=Volume incl=including excl=excluding avg=average Avg=Average temp=temperature Temp=Temperature"
	ordinary = "Jr=Junior Sr=Senior etc=etcetera Ave=Avenue Blvd=Boulevard Rd=Road Ln=Lane Hwy=Highway Pkwy=Parkway Inc=Incorporated Ltd=Limited Corp=Corporation Co=Company Dept=Department Bldg=Building Apt=Apartment Rm=Room Fl=Floor Est=Established " +
		"hr=hour hrs=hours mins=minutes sec=seconds secs=seconds ft=feet lb=pounds lbs=pounds oz=ounces pp=pages misc=miscellaneous govt=government Govt=Government cont=continued " +
		"Jan=January Feb=February Mar=March Apr=April Jun=June Jul=July Aug=August Sep=September Sept=September Oct=October Nov=November Dec=December Mon=Monday Tue=Tuesday Tues=Tuesday Wed=Wednesday Thu=Thursday Thur=Thursday Thurs=Thursday Fri=Friday Sat=Saturday"
	days = "Mon=Monday Tue=Tuesday Tues=Tuesday Wed=Wednesday Thu=Thursday Thurs=Thursday Fri=Friday Sat=Saturday Sun=Sunday"
)

func abbreviationTable() map[string]abbreviation {
	table := map[string]abbreviation{}
	add := func(rows string, as abbreviation) {
		for row := range strings.FieldsSeq(rows) {
			short, long, _ := strings.Cut(row, "=")
			as.long = long
			table[short] = as
		}
	}
	add(ordinary, abbreviation{})
	add(inner, abbreviation{inner: true})
	add(titles, abbreviation{inner: true, title: true})
	for short := range strings.FieldsSeq(bare) {
		a := table[short]
		a.bare = true
		table[short] = a
	}
	return table
}

// abbreviated reads an abbreviation.
func (r *reader) abbreviated(word, next string, begins bool) bool {
	point := strings.HasPrefix(next, ".")
	n := len(word)
	if point {
		n++
	}
	spoken, sure := r.special(word, point), true
	if spoken == "" {
		a, ok := r.abbreviations[word]
		path := strings.HasSuffix(r.src[:r.at], "/")
		if !ok || path || !point && !a.bare || a.title && !capital(r.next(n)) && r.nextWord(n) != "and" {
			return r.initial(word, next, begins)
		}
		spoken, sure = a.long, a.inner
	}
	if point && !sure && r.endsSentence(n, false) {
		spoken += "."
	}
	r.emit(spoken, n)
	return true
}

// special expands abbreviations that depend on their neighbours: No. 5, St.
// James and James St., Dr. at the end of an address, Sat before a date.
func (r *reader) special(word string, point bool) string {
	n := len(word)
	if point {
		n++
	}
	after := r.next(n)
	switch word {
	case "No", "Nos", "no", "nos":
		if point && startsWithDigit(after) {
			return strings.TrimSuffix(strings.Replace(strings.ToLower(word), "no", "number", 1), "s") + plurals(word)
		}
	case "p", "pg", "pp":
		if point && startsWithDigit(after) {
			return "page" + plurals(strings.Replace(word, "pp", "s", 1))
		}
	case "St", "Ste":
		return r.saint(after, n, point)
	case "Dr":
		if capital(r.word) && !r.begins && point && (!capital(after) || r.is("starters", token(after))) {
			return r.street("Drive", n, point)
		}
	}
	return r.weekday(word, strings.TrimLeft(after, ", "))
}

// weekday returns the name of a day before a date.
func (r *reader) weekday(word, after string) string {
	month := after != "" && capital(after) && r.months[strings.ToLower(token(after))] > 0
	if !month && !startsWithDigit(after) {
		return ""
	}
	_, rest, ok := strings.Cut(days, word+"=")
	name, _, _ := strings.Cut(rest, " ")
	if !ok || !r.is("days", word) {
		return ""
	}
	return name
}

// saint decides between Saint and Street: a street has its name before it, a
// saint after it.
func (r *reader) saint(after string, n int, point bool) string {
	named := capital(r.word) && !r.begins && !r.is("saintly", r.word)
	switch {
	case named && (!capital(after) || r.is("starters", token(after))):
		return r.street("Street", n, point)
	case capital(after):
		return "Saint"
	}
	return ""
}

// street returns a kind of street, with the point that ends a sentence. n is
// the length as written, with the point, in bytes.
func (r *reader) street(kind string, n int, point bool) string {
	if point && r.endsSentence(n, false) {
		return kind + "."
	}
	return kind
}

func plurals(word string) string {
	if strings.HasSuffix(word, "s") {
		return "s"
	}
	return ""
}

// initial drops the point of a name's initial: "John F. Kennedy".
func (r *reader) initial(word, next string, begins bool) bool {
	if len(word) != 1 || !unicode.IsUpper(rune(word[0])) || !strings.HasPrefix(next, ". ") || word == "I" && begins {
		return false
	}
	after := r.next(2)
	if !capital(after) || r.is("starters", token(after)) || r.word != "" && !capital(r.word) {
		return false
	}
	r.emit(word, 2)
	return true
}
