package english

import (
	"strconv"
	"strings"
)

const (
	small = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen " +
		"seventeen eighteen nineteen"
	tens   = "- - twenty thirty forty fifty sixty seventy eighty ninety"
	scales = "- thousand million billion trillion"
	// maxNamed is the largest number of digits that is not spelled.
	maxNamed = 15
)

// numbers converts numbers to words.
type numbers struct {
	small, tens, scales []string
	and                 string // between hundreds and the rest: " " or " and "
}

func newNumbers(british bool) numbers {
	n := numbers{strings.Fields(small), strings.Fields(tens), strings.Fields(scales), " "}
	if british {
		n.and = " and "
	}
	return n
}

// whole returns a run of digits in words: as a number, or digit by digit if it starts with a zero or has ten
// digits or more, as codes and telephone numbers do.
func (n numbers) whole(digits string) string {
	plain := strings.ReplaceAll(digits, ",", "")
	if len(plain) > 1 && plain[0] == '0' || len(plain) > maxNamed || len(plain) >= 10 && plain == digits {
		return n.spell(plain)
	}
	v, err := strconv.Atoi(plain)
	if err != nil {
		return n.spell(plain)
	}
	return n.cardinal(v)
}

// cardinal returns v ≥ 0 in words.
func (n numbers) cardinal(v int) string {
	switch {
	case v < 20:
		return n.small[v]
	case v < 100 && v%10 == 0:
		return n.tens[v/10]
	case v < 100:
		return n.tens[v/10] + "-" + n.small[v%10]
	case v < 1000:
		return n.join(n.small[v/100]+" hundred", n.and, v%100)
	}
	unit, scale := 1000, 1
	for v/unit >= 1000 && scale+1 < len(n.scales) {
		unit, scale = unit*1000, scale+1
	}
	and := " "
	if v%unit < 100 {
		and = n.and
	}
	return n.join(n.cardinal(v/unit)+" "+n.scales[scale], and, v%unit)
}

// join appends the words of the rest of a number, nothing for 0.
func (n numbers) join(head, and string, rest int) string {
	if rest == 0 {
		return head
	}
	return head + and + n.cardinal(rest)
}

// ordinal returns the ordinal of v in words.
func (n numbers) ordinal(v int) string {
	spoken := n.cardinal(v)
	cut := strings.LastIndexAny(spoken, " -") + 1
	head, last := spoken[:cut], spoken[cut:]
	if irregular := map[string]string{
		"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
		"twelve": "twelfth",
	}[last]; irregular != "" {
		return head + irregular
	}
	if stem, ok := strings.CutSuffix(last, "y"); ok {
		return head + stem + "ieth"
	}
	return spoken + "th"
}

// year returns a year in words: nineteen ninety-nine, two thousand five.
func (n numbers) year(v int) string {
	century, rest := v/100, v%100
	switch {
	case v < 1000 || v >= 10000 || v%1000 < 10:
		return n.cardinal(v)
	case rest == 0:
		return n.cardinal(century) + " hundred"
	}
	return n.cardinal(century) + " " + n.pair(rest)
}

// pair returns the last two digits of a year or a time in words: "oh five", "thirty".
func (n numbers) pair(v int) string {
	if v < 10 {
		return "oh " + n.small[v]
	}
	return n.cardinal(v)
}

// spell returns the digits of s in words. Other characters separate groups, and so does every fourth digit of
// a long run.
func (n numbers) spell(s string) string {
	var b strings.Builder
	run := 0
	for i, r := range s {
		if r < '0' || r > '9' {
			run = 0
			continue
		}
		switch {
		case i > 0 && run == 0 && b.Len() > 0, run > 0 && run%4 == 0 && len(s) > 6:
			b.WriteString(", ")
		case run > 0:
			b.WriteByte(' ')
		}
		b.WriteString(n.small[r-'0'])
		run++
	}
	return b.String()
}

// plural returns the plural of a number's last word: nineties, hundreds, sixes.
func plural(spoken string) string {
	switch {
	case strings.HasSuffix(spoken, "y"):
		return strings.TrimSuffix(spoken, "y") + "ies"
	case strings.HasSuffix(spoken, "x"), strings.HasSuffix(spoken, "s"):
		return spoken + "es"
	}
	return spoken + "s"
}
