package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"pressbox/voice/announce"
	"pressbox/voice/control/boolean"
)

// MaxBody is the size limit of bodies, in bytes.
const MaxBody = 64 << 10

// Limits of numbers in requests.
const (
	MaxInteger uint64 = 1<<53 - 1 // every JSON client can represent it
	MaxSeason         = 9999
)

// schemas holds the schemas of request bodies in the OpenAPI document by the types into which they are decoded, so
// that a body is checked against what is documented.
type schemas map[reflect.Type]bodySchema

// A bodySchema is the schema of a body, and whether a route with it writes.
type bodySchema struct {
	*jsonschema.Schema
	writes bool
}

// DecodeJSON decodes text into v. Text must be one JSON object in UTF-8, without
// duplicate names, trailing data and members that v does not have. Names are
// compared by case.
func DecodeJSON(text []byte, v any) error {
	if jsontext.Value(text).Kind() != '{' {
		return errNotJSON
	}
	if err := json.Unmarshal(text, v, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w: %w", errNotJSON, err)
	}
	return nil
}

// Decode decodes the body of a request into v, a pointer to the type of a route's Request. The body must be one
// JSON object that the schema of this type in the OpenAPI document accepts. With a [BodyError], v holds the
// members that are valid.
func (s *Server) Decode(w http.ResponseWriter, r *http.Request, v any) error {
	text, err := ReadBody(w, r)
	if err != nil {
		return err
	}
	return s.decodeValid(text, v)
}

// DecodeOptional is Decode for a body that may be missing, which leaves v
// unchanged.
func (s *Server) DecodeOptional(w http.ResponseWriter, r *http.Request, v any) error {
	text, err := ReadBody(w, r)
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return err
	}
	if err := checkContentType(r); err != nil {
		return err
	}
	return s.decodeValid(text, v)
}

func (s *Server) decodeValid(text []byte, v any) error {
	all, err := s.schemas()
	if err != nil {
		return err
	}
	return all.decode(text, v)
}

// ReadBody returns the body of a request, of at most [MaxBody] bytes.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return ReadLargeBody(w, r, MaxBody)
}

// ReadLargeBody returns the body of a request, of at most limit bytes.
func ReadLargeBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, BodyIncomplete(err, limit)
	}
	return text, nil
}

// BodyIncomplete returns the error for the client of one that was returned by the reader of its body, of at most limit
// bytes.
func BodyIncomplete(err error, limit int64) error {
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return &DetailedError{ErrBodyTooLarge, fmt.Sprintf("request body exceeds %d KiB", limit>>10)}
	}
	return fmt.Errorf("%w: %w", errNotJSON, err) // the connection was closed
}

// decode decodes a body that the schema of v accepts into v. Its rules are those of [DecodeJSON], but the schema
// decides about unknown members.
func (c schemas) decode(text []byte, v any) error {
	body := jsontext.Value(text)
	if body.Kind() != '{' {
		return errNotJSON
	}
	if err := body.Canonicalize(); err != nil { // RFC 8785: 170.0 becomes 170
		return fmt.Errorf("%w: %w", errNotJSON, err)
	}
	var tree map[string]any
	if err := json.Unmarshal(body, &tree); err != nil {
		return fmt.Errorf("%w: %w", errNotJSON, err)
	}
	schema := c[reflect.TypeOf(v).Elem()]
	var wrong []Violation
	if schema.writes {
		wrong = controlsIn(nil, tree)
	}
	err := schema.Validate(tree)
	if err == nil && wrong == nil {
		return unmarshalValid(body, v)
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if ok && readBooleans(tree, invalid) {
		changed, err := json.Marshal(tree)
		if err != nil {
			return fmt.Errorf("encode a body with booleans: %w", err)
		}
		return c.decode(changed, v)
	}
	if !ok && err != nil {
		return fmt.Errorf("validate a body against the schema of %T: %w", v, err)
	}
	if ok {
		wrong = append(violationsIn(invalid), wrong...)
	}
	return decodeRest(tree, wrong, v)
}

// decodeRest decodes the members of a body that have no violation, and returns the violations.
func decodeRest(tree map[string]any, wrong []Violation, v any) error {
	for _, violation := range wrong {
		for member := range jsontext.Pointer(violation.Path).Tokens() {
			delete(tree, member)
			break
		}
	}
	valid, err := json.Marshal(tree)
	if err != nil {
		return fmt.Errorf("encode the valid members of a body: %w", err)
	}
	if err := unmarshalValid(valid, v); err != nil {
		return err
	}
	return &BodyError{wrong}
}

// controlsIn lists the texts of a body at a location that have control characters.
func controlsIn(at []string, tree any) (all []Violation) {
	switch v := tree.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, controlsIn(append(slices.Clone(at), name), v[name])...)
		}
	case []any:
		for i, element := range v {
			all = append(all, controlsIn(append(slices.Clone(at), strconv.Itoa(i)), element)...)
		}
	case string:
		if wrong, ok := announce.ControlViolation(pointer(at), v); ok {
			all = append(all, Violation{Path: wrong.Path, Code: wrong.Code, Detail: wrong.Detail})
		}
	}
	return all
}

// unmarshalValid decodes a body that its schema accepts. An error means that
// the schema and v disagree.
func unmarshalValid(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode a valid body: %w", err)
	}
	return nil
}

// readBooleans replaces the texts that are booleans where a body has text in place of one. It reports
// whether it did.
func readBooleans(tree any, e *jsonschema.ValidationError) (replaced bool) {
	for _, cause := range e.Causes {
		replaced = readBooleans(tree, cause) || replaced
	}
	k, ok := e.ErrorKind.(*kind.Type)
	if !ok || !slices.Equal(k.Want, []string{"boolean"}) || len(e.InstanceLocation) == 0 {
		return replaced
	}
	for i, name := range e.InstanceLocation {
		members, isObject := tree.(map[string]any)
		if !isObject { // no body has booleans in an array
			return replaced
		}
		text, isText := members[name].(string)
		value, isBoolean := boolean.Parse(text)
		if i == len(e.InstanceLocation)-1 && isText && isBoolean {
			members[name] = value
			return true
		}
		tree = members[name]
	}
	return replaced
}

// violationsIn lists the leaves of a validation error.
func violationsIn(e *jsonschema.ValidationError) []Violation {
	if len(e.Causes) > 0 {
		var all []Violation
		for _, cause := range e.Causes {
			all = append(all, violationsIn(cause)...)
		}
		return all
	}
	at := e.InstanceLocation
	violation := func(code, format string, args ...any) []Violation {
		return []Violation{{Path: pointer(at), Code: code, Detail: fmt.Sprintf(format, args...)}}
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		return forEach(at, k.Properties, "unknown_field", "unknown field")
	case *kind.Required:
		return forEach(at, k.Missing, "required", "required field is missing")
	case *kind.Type:
		return violation("wrong_type", "must be %s, not %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Minimum:
		return violation("out_of_range", "must be at least %s", k.Want.RatString())
	case *kind.Maximum:
		return violation("out_of_range", "must be at most %s", k.Want.RatString())
	case *kind.MinLength:
		return violation("too_short", "must have at least %s", characters(k.Want))
	case *kind.MaxLength:
		return violation("too_long", "must have at most %s, has %d", characters(k.Want), k.Got)
	case *kind.MinItems:
		return violation("too_few", "must have at least %d entries, has %d", k.Want, k.Got)
	case *kind.MaxItems:
		return violation("too_many", "must have at most %d entries, has %d", k.Want, k.Got)
	case *kind.MinProperties:
		return violation("required", "must have at least one field")
	case *kind.Enum:
		return violation("not_offered", "must be one of %v", k.Want)
	default:
		return violation("invalid", "does not match the schema of the API")
	}
}

// characters returns n and its unit, such as "1 character".
func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

// forEach returns a violation for each of the named members of the object at a
// location.
func forEach(at, names []string, code, detail string) []Violation {
	all := make([]Violation, len(names))
	for i, name := range names {
		all[i] = Violation{Path: pointer(append(slices.Clone(at), name)), Code: code, Detail: detail}
	}
	return all
}

// pointer returns a location in a body as a JSON pointer (RFC 6901).
func pointer(at []string) string {
	p := jsontext.Pointer("")
	for _, name := range at {
		p = p.AppendToken(name)
	}
	return string(p)
}

// QueryParam returns a parameter of the query; "" when it is missing. It returns
// an error when the query has it twice.
func QueryParam(r *http.Request, name string) (string, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", QueryError(name, "invalid", "malformed query")
	}
	if len(q[name]) > 1 {
		return "", QueryError(name, "given_twice", "must be given once")
	}
	return q.Get(name), nil
}

// BoolParam returns a query parameter that is a boolean; absent means false.
func BoolParam(r *http.Request, name string) (bool, error) {
	text, err := QueryParam(r, name)
	if err != nil || text == "" {
		return false, err
	}
	value, ok := boolean.Parse(text)
	if !ok {
		return false, QueryError(name, "not_offered", "must be "+boolean.Expects)
	}
	return value, nil
}

// QueryError returns the error of an invalid parameter of the query.
func QueryError(name, code, detail string) error {
	return &BodyError{[]Violation{{Path: "/" + name, Code: code, Detail: detail}}}
}

// checkContentType returns nil when a body may be decoded as JSON. Browsers must
// send application/json: a page of another site cannot without a CORS preflight.
// Other clients may also send none, or the form type that curl -d sends.
func checkContentType(r *http.Request) error {
	values := r.Header.Values("Content-Type")
	if len(values) == 0 && !fromBrowser(r) {
		return nil
	}
	if len(values) != 1 {
		return ErrContentType
	}
	media, _, err := mime.ParseMediaType(values[0])
	if err == nil && (media == "application/json" || media == "application/x-www-form-urlencoded" && !fromBrowser(r)) {
		return nil
	}
	return ErrContentType
}

// fromBrowser reports whether a browser may have sent the request for a page of another site: it has a header that only
// browsers send, and not X-Requested-With, which needs a CORS preflight too; /docs sets it. (Node's fetch sends
// Sec-Fetch-Mode alone; browsers send it with Sec-Fetch-Site.)
func fromBrowser(r *http.Request) bool {
	h := r.Header
	return (h.Get("Origin") != "" || h.Get("Sec-Fetch-Site") != "") && h.Get("X-Requested-With") == ""
}

// compileSchemas returns the schemas of all request bodies from the document.
func compileSchemas(document []byte, routes []Route) (schemas, error) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("parse the OpenAPI document: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openapi.json", tree); err != nil {
		return nil, fmt.Errorf("parse the OpenAPI document: %w", err)
	}
	all := schemas{}
	pointer := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	for _, rt := range routes {
		if rt.Operation.Request == nil {
			continue
		}
		body := "#/paths/" + pointer.Replace(rt.Template()) + "/" + strings.ToLower(rt.Method) +
			"/requestBody/content/application~1json/schema"
		schema, err := c.Compile("openapi.json" + body)
		if err != nil {
			return nil, fmt.Errorf("compile the schema of %T: %w", rt.Operation.Request, err)
		}
		of := reflect.TypeOf(rt.Operation.Request)
		all[of] = bodySchema{schema, rt.Writes() || all[of].writes}
	}
	return all, nil
}
