package speakable

import (
	"regexp"
	"strings"
)

// phones returns the forms of numbers that are spelled.
func phones() []form {
	forms := []form{{regexp.MustCompile(`^\d{3,8}`), (*reader).code}}
	for _, like := range []string{
		`^(?:\+?1[ .-])?(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}`,
		`^\+\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,7}`,
		`^\(0\d{1,5}\) ?\d{3,8}(?:[ -]\d{3,8})?`,
		`^0\d{2,4}(?:[ -]\d{2,8}){1,4}`,
		`^\d{3}-\d{4}`,
		`^\d{3}-\d{2}-\d{4}`,
		`^\d{4}(?:[ -]\d{4}){3}`,
	} {
		forms = append(forms, form{regexp.MustCompile(like), (*reader).phone})
	}
	return forms
}

func (r *reader) phone(m []string) string {
	spoken := r.spell(m[0])
	if strings.HasPrefix(m[0], "+") {
		spoken = "plus " + spoken
	}
	return spoken
}

// code expands a short number after a word such as "dial" or "PIN".
func (r *reader) code(m []string) string {
	if !r.is("codes", r.word) || strings.HasPrefix(r.clip(len(m[0])), ":") {
		return ""
	}
	return r.spell(m[0])
}
