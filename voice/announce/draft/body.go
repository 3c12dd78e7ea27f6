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

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Read reads the body of a request and the query of its address, whose parameters are fields too. What begins
// with { or [ is JSON whatever the media type is; a form is one if it has a message; else the body is the text
// of the message. Unknown members of JSON are violations, unknown fields in any other form are warnings.
func Read(mediaType string, body []byte, query string) (*Draft, error) {
	body, err := UTF8(mediaType, body)
	if err != nil {
		return nil, err
	}
	if !isJSON(body) {
		all, err := fieldsIn(mediaType, body)
		if err != nil {
			return nil, err
		}
		return Form(all, query), nil
	}
	d, _, err := JSON(body)
	if err != nil {
		return nil, err
	}
	d.SetForm(query)
	return d, nil
}

// Form returns the draft of the fields of a form and the query of its address; see [Read].
func Form(all []Field, query string) *Draft {
	d := &Draft{}
	d.setAll(all)
	d.SetForm(query)
	return d
}

// SetForm sets the fields of a form or a query; see [FormFields].
func (d *Draft) SetForm(form string) { d.setAll(FormFields(form)) }

func (d *Draft) setAll(all []Field) {
	for _, f := range all {
		d.Set(f.Name, f.Text)
	}
}

// A Field is a field of a request as text: of a value of JSON that is not text, the JSON; "" of null.
type Field struct{ Name, Text string }

// Fields returns the fields of a body in any form, in order; see [Read]. A body that is text has one, the
// message. Files of a multipart form have no text.
func Fields(mediaType string, body []byte) ([]Field, error) {
	body, err := UTF8(mediaType, body)
	if err != nil {
		return nil, err
	}
	return fieldsIn(mediaType, body)
}

// fieldsIn returns the fields of a body in UTF-8.
func fieldsIn(mediaType string, body []byte) ([]Field, error) {
	if isJSON(body) {
		return ObjectFields(body)
	}
	media, params, _ := mime.ParseMediaType(mediaType)
	if media == "multipart/form-data" {
		return Parts(bytes.NewReader(body), params["boundary"], nil)
	}
	text, err := Text(body)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(text) == "":
		return nil, nil
	case (media == "" || media == "application/x-www-form-urlencoded") && hasMessage(text):
		return FormFields(text), nil
	}
	return []Field{{message, text}}, nil
}

// UTF8 returns a body in UTF-8 without a byte order mark: it is converted if its media type has another charset
// (https://encoding.spec.whatwg.org), or if it begins with the mark of UTF-16, as PowerShell writes files.
func UTF8(mediaType string, body []byte) ([]byte, error) {
	media, params, _ := mime.ParseMediaType(mediaType)
	charset := unicode.UTF8
	if name := params["charset"]; name != "" && media != "multipart/form-data" {
		named, err := htmlindex.Get(name)
		if err != nil {
			return nil, malformed("not_text", "unknown charset of the request body: send UTF-8", unknownPosition, err)
		}
		charset = named
	}
	marked := bytes.HasPrefix(body, []byte("\xff\xfe")) || bytes.HasPrefix(body, []byte("\xfe\xff"))
	if charset == unicode.UTF8 && !marked {
		return withoutMark(body), nil
	}
	converted, _, err := transform.Bytes(unicode.BOMOverride(charset.NewDecoder()), body)
	if err != nil {
		return nil, malformed("not_text", "request body must have its charset", unknownPosition, err)
	}
	return converted, nil
}

// Text returns a body that is text, which must be UTF-8.
func Text(body []byte) (string, error) {
	body = withoutMark(body)
	for position, rest := 0, body; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			return "", malformed("not_text", "request body must be UTF-8", position, nil)
		}
		position, rest = position+size, rest[size:]
	}
	return string(body), nil
}

// withoutMark returns a body without a byte order mark.
func withoutMark(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\ufeff")) }

func isJSON(body []byte) bool {
	first := bytes.TrimLeft(body, " \t\r\n")
	return len(first) > 0 && (first[0] == '{' || first[0] == '[')
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

// FormFields returns the fields of a form or a query, which is URL-encoded. A % that escapes nothing is a
// percent sign.
func FormFields(form string) (all []Field) {
	for pair := range strings.SplitSeq(strings.Trim(form, "\r\n"), "&") {
		if pair == "" {
			continue
		}
		name, text, _ := strings.Cut(pair, "=")
		all = append(all, Field{unescaped(name), unescaped(text)})
	}
	return all
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

// FileField is the name of the field of a multipart form that has a sound.
const FileField = "file"

// ErrTooLarge reports that the fields of a form have more than [MaxFields] bytes.
var ErrTooLarge = errors.New("the fields of the form are too large")

// MaxFields limits the bytes of the fields of a multipart form, without its file.
const MaxFields = 64 << 10

// Parts returns the fields of a multipart form, and calls receive, unless it is nil, with the file in the field
// [FileField] as it arrives; another file there is an error. The error may be that of receive.
func Parts(body io.Reader, boundary string, receive func(io.Reader) error) (all []Field, err error) {
	if boundary == "" {
		return nil, malformed("not_form", "multipart/form-data must have a boundary", 0, nil)
	}
	form := multipart.NewReader(body, boundary)
	for left := int64(MaxFields); ; {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err == nil && receive != nil && part.FormName() == FileField && part.FileName() != "" {
			if err := receive(part); err != nil {
				return nil, err
			}
			receive = nil
			continue
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(io.LimitReader(part, left+1))
			left -= int64(len(text))
		}
		if left < 0 {
			return nil, ErrTooLarge
		}
		if err != nil {
			return nil, malformed("not_form", "request body must be a multipart form", unknownPosition, err)
		}
		f := Field{Name: part.FormName()}
		if part.FileName() == "" {
			f.Text = strings.ToValidUTF8(string(text), "\ufffd")
		}
		all = append(all, f)
	}
}
