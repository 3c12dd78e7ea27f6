package speakable

import (
	"regexp"
	"strings"
)

// dotted returns the forms of host addresses and version numbers.
func dotted() []form {
	return []form{
		{regexp.MustCompile(`^(\d{1,3}(?:\.\d{1,3}){3})(?::(\d{1,5})|/(\d{1,2}))?`), (*reader).host},
		{regexp.MustCompile(`^[1-9]\d{0,2}(?:\.\d{3}){2}`), func(r *reader, m []string) string { return r.whole(strings.ReplaceAll(m[0], ".", ",")) }},
		{regexp.MustCompile(`^\d{1,5}(?:\.\d{1,5}){2,5}`), func(r *reader, m []string) string { return r.version(m[0]) }},
	}
}

func (r *reader) host(m []string) string {
	parts := strings.Split(m[1], ".")
	for i, part := range parts {
		parts[i] = r.spell(part)
		if len(part) < 3 && part[0] != '0' {
			parts[i] = r.whole(part)
		}
	}
	spoken := strings.Join(parts, " dot ")
	if m[2] != "" {
		spoken += " colon " + r.spell(m[2])
	}
	if m[3] != "" {
		spoken += " slash " + r.whole(m[3])
	}
	return spoken
}

// version returns 1.2.3 as "one point two point three".
func (r *reader) version(s string) string {
	parts := strings.Split(s, ".")
	for i, part := range parts {
		parts[i] = r.whole(part)
	}
	return strings.Join(parts, " point ")
}
