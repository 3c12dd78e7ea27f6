package draft

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// notObject is the reason why a body that looks like JSON is refused.
const notObject = "request body must be exactly one JSON object"

// JSON reads a JSON object, and returns the values of the members named more, which are not the announcement's:
// those that are text. Members that neither it nor an announcement has are violations; a body that is anything
// but one object in UTF-8 without duplicate names is an [*Error].
func JSON(body []byte, more ...string) (d *Draft, others map[string]string, err error) {
	members, err := membersOf(body)
	if err != nil {
		return nil, nil, err
	}
	d, others = &Draft{}, map[string]string{}
	for _, name := range more {
		others[name] = ""
	}
	for _, m := range members {
		if _, ok := others[m.name]; ok {
			if m.kind != '"' {
				d.locate(escaped(m.name), m.position)
				d.wrongType(escaped(m.name), "text", m.value)
				continue
			}
			others[m.name] = m.text
			continue
		}
		d.setMember(m)
	}
	return d, others, nil
}

// ObjectFields returns the members of a JSON object as fields; see [Fields].
func ObjectFields(body []byte) ([]Field, error) {
	members, err := membersOf(body)
	if err != nil {
		return nil, err
	}
	all := make([]Field, len(members))
	for i, m := range members {
		all[i].Name = m.name
		if m.kind != 'n' {
			all[i].Text = m.text
		}
	}
	return all, nil
}

// setMember sets the field of a member.
func (d *Draft) setMember(m member) {
	path := escaped(m.name)
	d.locate(path, m.position)
	if f, ok := d.field(m.name); ok {
		d.set(f, path, m.value)
		return
	}
	d.Refuse(path, codeUnknownField, "unknown field")
}

// A member is a member of a JSON object.
type member struct {
	name string
	value
}

// membersOf returns the members of the JSON object that body is.
func membersOf(body []byte) ([]member, error) {
	if jsontext.Value(body).Kind() != '{' {
		return nil, malformed("not_json", notObject, 0, nil)
	}
	var members []member
	in := jsontext.NewDecoder(bytes.NewReader(body))
	_, err := in.ReadToken()
	for err == nil && in.PeekKind() != '}' {
		var m member
		if m, err = nextMember(in); err == nil {
			members = append(members, m)
		}
	}
	if err == nil {
		_, err = in.ReadToken()
	}
	if err == nil {
		if _, err = in.ReadToken(); errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return members, nil
		}
	}
	return nil, syntaxError(err, in)
}

// nextMember reads a member.
func nextMember(in *jsontext.Decoder) (member, error) {
	name, err := in.ReadToken()
	if err != nil {
		return member{}, err
	}
	m := member{name: name.String()}
	raw, err := in.ReadValue()
	if err != nil {
		return member{}, err
	}
	m.kind, m.text, m.position = raw.Kind(), string(raw), int(in.InputOffset())-len(raw)
	if m.kind == '"' {
		unquoted, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return member{}, err
		}
		m.text = string(unquoted)
	}
	return m, nil
}

var errTrailing = errors.New("data after the object")

// syntaxError returns the error of JSON at which the decoder stopped with err.
func syntaxError(err error, in *jsontext.Decoder) error {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if in.StackDepth() == 0 && in.InputOffset() > 0 {
			syntax.Err = errTrailing
		}
		return malformed("not_json", notObject, int(syntax.ByteOffset), syntax.Err)
	}
	if err == nil {
		return malformed("not_json", notObject, int(in.InputOffset()), errTrailing)
	}
	return malformed("not_json", notObject, int(in.InputOffset()), err)
}

// escaped returns the name of a member as a token of a JSON pointer (RFC 6901).
func escaped(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
