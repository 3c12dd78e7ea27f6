package draft

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"unicode/utf8"
)

// Read reads the body of a request and the query of its address, whose parameters are
// fields too. What begins with { or [ is JSON whatever the media type is; a form is one if
// it has a message; else the body is the text of the message. Unknown members of JSON are
// violations, unknown fields in any other form are warnings.
func Read(mediaType string, body []byte, query string) (*Draft, error) {
	d, err := readBody(mediaType, bytes.TrimPrefix(body, []byte("\ufeff")))
	if err != nil {
		return nil, err
	}
	d.SetForm(query)
	return d, nil
}

func readBody(mediaType string, body []byte) (*Draft, error) {
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) > 0 && (first[0] == '{' || first[0] == '[') {
		d, _, err := JSON(body)
		return d, err
	}
	media, params, _ := mime.ParseMediaType(mediaType)
	d := &Draft{}
	if media == "multipart/form-data" {
		return d, d.setParts(body, params["boundary"])
	}
	for position, rest := 0, body; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			return nil, malformed("not_utf8", "request body must be UTF-8", position, nil)
		}
		position, rest = position+size, rest[size:]
	}
	switch {
	case len(bytes.TrimSpace(body)) == 0:
	case (media == "" || media == "application/x-www-form-urlencoded") && hasMessage(string(body)):
		d.SetForm(string(body))
	default:
		d.Set(message, string(body))
	}
	return d, nil
}

// hasMessage reports whether a text is a form with a message.
func hasMessage(form string) bool {
	for pair := range strings.SplitSeq(strings.TrimSpace(form), "&") {
		if strings.HasPrefix(pair, message+"=") {
			return true
		}
	}
	return false
}

// SetForm sets the fields of a form or a query, which is URL-encoded. A % that escapes
// nothing is a percent sign.
func (d *Draft) SetForm(form string) {
	for pair := range strings.SplitSeq(strings.Trim(form, "\r\n"), "&") {
		if pair == "" {
			continue
		}
		name, text, _ := strings.Cut(pair, "=")
		d.Set(unescaped(name), unescaped(text))
	}
}

// unescaped returns a URL-encoded text, in UTF-8.
func unescaped(s string) string {
	var text []byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '+':
			text = append(text, ' ')
		case c == '%' && i+2 < len(s):
			if b, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				text, i = append(text, b...), i+2
				continue
			}
			text = append(text, c)
		default:
			text = append(text, c)
		}
	}
	return strings.ToValidUTF8(string(text), "\ufffd")
}

// setParts sets the fields of a multipart form. Files are ignored with a warning.
func (d *Draft) setParts(body []byte, boundary string) error {
	if boundary == "" {
		return malformed("not_form", "multipart/form-data must have a boundary", 0, nil)
	}
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(part)
		}
		if err != nil {
			return malformed("not_form", "request body must be a multipart form", unknownPosition, err)
		}
		if part.FileName() != "" {
			d.warn(part.FormName())
			continue
		}
		d.Set(part.FormName(), strings.ToValidUTF8(string(text), "\ufffd"))
	}
}
