package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Object returns the body of a request as a JSON object. What begins with { or [ is JSON whatever the media
// type is; a form becomes an object of its fields, or, if its field data is JSON, as Uptime Kuma sends it,
// that; any other text becomes the member message. An error is a [*BodyError].
func Object(mediaType string, body []byte) ([]byte, error) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\uFEFF")))
	if len(body) > 0 && (body[0] == '{' || body[0] == '[') {
		return body, checkObject(body)
	}
	fields := map[string]string{}
	media, params, _ := mime.ParseMediaType(mediaType)
	switch {
	case len(body) == 0:
		return nil, &BodyError{Detail: "must not be empty"}
	case media == "multipart/form-data":
		form, err := multipart.NewReader(bytes.NewReader(body), params["boundary"]).ReadForm(MaxBody)
		if err != nil {
			return nil, &BodyError{Detail: "must be a multipart form", Err: err}
		}
		setFirst(fields, form.Value)
	case media == "application/x-www-form-urlencoded" && bytes.ContainsRune(body, '='):
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, &BodyError{Detail: "must be a form or JSON", Err: err}
		}
		setFirst(fields, form)
	default:
		fields["message"] = strings.ToValidUTF8(string(body), "\uFFFD")
	}
	if data := strings.TrimSpace(fields["data"]); strings.HasPrefix(data, "{") {
		return []byte(data), checkObject([]byte(data))
	}
	object, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encode the fields of a form: %w", err)
	}
	return object, nil
}

// setFirst sets the fields of a form, of each the first value.
func setFirst(fields map[string]string, form map[string][]string) {
	for name, value := range form {
		if len(value) > 0 {
			fields[strings.ToValidUTF8(name, "\uFFFD")] = strings.ToValidUTF8(value[0], "\uFFFD")
		}
	}
}

// checkObject returns an error unless text is one JSON object without duplicate names.
func checkObject(text []byte) error {
	in := jsontext.NewDecoder(bytes.NewReader(text))
	value, err := in.ReadValue()
	if err == nil && value.Kind() != '{' {
		return &BodyError{Detail: notObject}
	}
	if err == nil {
		if _, err = in.ReadToken(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.Join(err, errors.New("data after the object"))
	}
	return &BodyError{Detail: notObject, Err: err}
}

const notObject = "must be one JSON object"

// A BodyError reports a body that does not have the format of its webhook.
type BodyError struct {
	Path   string // JSON pointer to what is wrong; "" is the body itself
	Detail string // what would be right
	Err    error  // of the JSON decoder; nil otherwise
}

func (e *BodyError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Path, e.Detail, e.Err)
	}
	return e.Path + ": " + e.Detail
}

func (e *BodyError) Unwrap() error { return e.Err }

// decode decodes a body into v.
func decode(body []byte, v any, options ...json.Options) error {
	if jsontext.Value(body).Kind() != '{' {
		return &BodyError{Detail: notObject}
	}
	err := json.Unmarshal(body, v, options...)
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		return &BodyError{Path: string(wrong.JSONPointer), Detail: "must be " + kindName(wrong.GoType), Err: err}
	}
	if err != nil {
		return &BodyError{Detail: notObject, Err: err}
	}
	return nil
}

// kindName returns what JSON has for values of a type.
func kindName(t reflect.Type) string {
	if t == nil {
		return "valid"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Bool:
		return "true or false"
	default:
		return "a number"
	}
}

// plain decodes a body into maps, lists, strings, booleans and numbers: int64 for whole ones, otherwise
// decimal. Members that are null are left out, so that they are as missing ones.
func plain(body []byte) (map[string]any, error) {
	var tree map[string]any
	if err := decode(body, &tree, json.WithUnmarshalers(json.UnmarshalFromFunc(readNumber))); err != nil {
		return nil, err
	}
	dropNull(tree)
	return tree, nil
}

func readNumber(in *jsontext.Decoder, v *any) error {
	if in.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	text, err := in.ReadValue()
	if err != nil {
		return err
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		*v = n
		return nil
	}
	n, err := strconv.ParseFloat(string(text), 64)
	*v = decimal(n)
	return err
}

// A decimal is written without an exponent.
type decimal float64

func (d decimal) String() string { return strconv.FormatFloat(float64(d), 'f', -1, 64) }

func dropNull(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if member == nil {
				delete(v, name)
			}
			dropNull(member)
		}
	case []any:
		for _, element := range v {
			dropNull(element)
		}
	}
}
