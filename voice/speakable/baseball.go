package speakable

import (
	"regexp"
	"strings"
)

// baseball returns the forms of baseball scores and statistics.
func baseball() []form {
	return []form{
		{regexp.MustCompile(`^(\d{1,2})-for-(\d{1,2})`), func(r *reader, m []string) string {
			return strings.Replace(r.whole(m[1]), "zero", "oh", 1) + " for " + r.whole(m[2])
		}},
		{regexp.MustCompile(`^([0-3])[-–]([0-2]) (count|pitch)`), func(r *reader, m []string) string {
			return r.whole(m[1]) + "-" + r.whole(m[2]) + " " + m[3]
		}},
		{regexp.MustCompile(`^(\d{1,3})[-–](\d{1,3}) record`), func(r *reader, m []string) string {
			return r.whole(m[1]) + " and " + r.whole(m[2]) + " record"
		}},
		{regexp.MustCompile(`^\d{1,2}(?:-\d{1,2}){2,}`), func(r *reader, m []string) string {
			parts := strings.Split(m[0], "-")
			for i, part := range parts {
				parts[i] = r.whole(part)
			}
			return strings.Join(parts, " ")
		}},
		{regexp.MustCompile(`^\.([1-9])(\d)(\d)`), (*reader).average},
	}
}

// average returns three digits after a bare point as a batting average: two
// seventy-five.
func (r *reader) average(m []string) string {
	if r.units[r.nextWord(len(m[0]))].one != "" {
		return ""
	}
	if m[2] == "0" && m[3] == "0" {
		return r.whole(m[1]) + " hundred"
	}
	return r.whole(m[1]) + " " + r.pair(atoi(m[2]+m[3]))
}
