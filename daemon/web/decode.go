package web

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxBody is how long a body may be, in bytes.
const maxBody = 64 << 10

// bodies holds the schemas of requests by their names in the document, so a
// body is checked against what is documented.
type bodies map[string]*jsonschema.Schema

// decode reads the body of a request, which must be one JSON object as the
// named schema describes it, into v. With a [bodyError], v holds those members
// that are right.
func (b bodies) decode(w http.ResponseWriter, r *http.Request, schema string, v any) error {
	text, err := readBody(w, r)
	if err != nil {
		return err
	}
	return b.parse(text, schema, v)
}

// readBody reads all of a body that is to be JSON.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, errBodyTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotJSON, err) // it was cut off
	}
	return text, nil
}

// parse is decode without the request.
func (b bodies) parse(text []byte, schema string, v any) error {
	object := jsontext.Value(text)
	if object.Kind() != '{' {
		return errNotJSON
	}
	// In its canonical form (RFC 8785), 170.0 is 170. Duplicate names,
	// trailing data and bad UTF-8 have none.
	if err := object.Canonicalize(); err != nil {
		return fmt.Errorf("%w: %w", errNotJSON, err)
	}
	var tree map[string]any
	if err := json.Unmarshal(object, &tree); err != nil {
		return fmt.Errorf("%w: %w", errNotJSON, err)
	}
	err := b[schema].Validate(tree)
	if err == nil {
		return fill(v, object)
	}
	wrong, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return fmt.Errorf("check a body against %s: %w", schema, err)
	}
	shape := &bodyError{violationsIn(wrong)}
	for _, violation := range shape.violations {
		for member := range jsontext.Pointer(violation.Path).Tokens() {
			delete(tree, member)
			break
		}
	}
	rest, err := json.Marshal(tree)
	if err != nil {
		return fmt.Errorf("keep what is right of a body: %w", err)
	}
	if err := fill(v, rest); err != nil {
		return err
	}
	return shape
}

// fill reads an object that is of the right shape into v.
func fill(v any, object []byte) error {
	if err := json.Unmarshal(object, v); err != nil {
		return fmt.Errorf("read a body: %w", err)
	}
	return nil
}

// violationsIn lists the leaves of a validation error.
func violationsIn(e *jsonschema.ValidationError) []violation {
	if len(e.Causes) > 0 {
		var all []violation
		for _, cause := range e.Causes {
			all = append(all, violationsIn(cause)...)
		}
		return all
	}
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		return each(at, k.Properties, "unknown_field", "there is no such field")
	case *kind.Required:
		return each(at, k.Missing, "required", "this field is needed")
	case *kind.Type:
		detail := fmt.Sprintf("must be %s, not %s", strings.Join(k.Want, " or "), k.Got)
		return []violation{{pointer(at), "wrong_type", detail}}
	case *kind.Minimum:
		return []violation{{pointer(at), "out_of_range", "must be at least " + k.Want.RatString()}}
	case *kind.Maximum:
		return []violation{{pointer(at), "out_of_range", "must be at most " + k.Want.RatString()}}
	case *kind.MinLength:
		return []violation{{pointer(at), "too_short", fmt.Sprintf("must have at least %s", characters(k.Want))}}
	case *kind.MaxLength:
		return []violation{{pointer(at), "too_long", fmt.Sprintf("must have at most %s, has %d", characters(k.Want), k.Got)}}
	case *kind.Enum:
		return []violation{{pointer(at), "not_offered", fmt.Sprintf("must be one of %v", k.Want)}}
	default:
		return []violation{{pointer(at), "invalid", "is not as the API describes it"}}
	}
}

// characters counts them in words.
func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

// each makes a violation for each of the named members of the object at a
// place.
func each(at, names []string, code, detail string) []violation {
	all := make([]violation, len(names))
	for i, name := range names {
		all[i] = violation{pointer(append(slices.Clone(at), name)), code, detail}
	}
	return all
}

// pointer writes a place in a body as a JSON pointer.
func pointer(at []string) string {
	p := jsontext.Pointer("")
	for _, name := range at {
		p = p.AppendToken(name)
	}
	return string(p)
}

// asked is a parameter of the address; "" when it is not there. One that is there
// twice is refused, as nobody knows which of both is meant.
func asked(r *http.Request, name string) (string, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", wrongQuery(name, "invalid", "what stands behind the question mark cannot be read")
	}
	if len(q[name]) > 1 {
		return "", wrongQuery(name, "given_twice", "must be given once")
	}
	return q.Get(name), nil
}

// wrongQuery says what is wrong with a parameter of the address.
func wrongQuery(name, code, detail string) error {
	return &bodyError{[]violation{{Path: "/" + name, Code: code, Detail: detail}}}
}

// checkContentType returns nil when a body may be read as JSON. A browser has
// to say that it is JSON, because a page of another site cannot say so
// without being asked first; curl -d, which says that it is a form, may.
func checkContentType(r *http.Request) error {
	values := r.Header.Values("Content-Type")
	browser := r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Sec-Fetch-Mode") != ""
	if len(values) == 0 && !browser {
		return nil
	}
	if len(values) != 1 {
		return errContentType
	}
	media, _, err := mime.ParseMediaType(values[0])
	if err == nil && (media == "application/json" || media == "application/x-www-form-urlencoded" && !browser) {
		return nil
	}
	return errContentType
}
