package webtest

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/daemon/web/openapi"
	"pressbox/packaging/check"
)

// FrameSchemas returns a function that returns the schema of a frame type. The
// schemas refuse unknown members.
var FrameSchemas = sync.OnceValue(func() func(string) *jsonschema.Schema {
	text, err := openapi.AsyncAPI("1.2.3")
	if err != nil {
		panic(err)
	}
	all, err := NewSchemas("asyncapi.json", text)
	if err != nil {
		panic(err)
	}
	return func(name string) *jsonschema.Schema {
		schema, err := all.At("#/components/messages/" + name + "/payload")
		if err != nil {
			panic(err)
		}
		return schema
	}
})

// Schemas compiles the schemas of a document at their first use.
type Schemas struct {
	name     string // of the document
	compiler *jsonschema.Compiler

	mu       sync.Mutex // guards compiled
	compiled map[string]*jsonschema.Schema
}

// NewSchemas parses a document. Its schemas refuse unknown members.
func NewSchemas(name string, document []byte) (*Schemas, error) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, err
	}
	closeObjects(tree)
	s := &Schemas{name: name, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	s.compiler.AssertFormat()
	return s, s.compiler.AddResource(name, tree)
}

// closeObjects sets additionalProperties to false in each schema with properties
// that does not have it.
func closeObjects(tree any) {
	switch node := tree.(type) {
	case []any:
		for _, child := range node {
			closeObjects(child)
		}
	case map[string]any:
		_, open := node["additionalProperties"]
		if _, ok := node["properties"].(map[string]any); ok && !open {
			node["additionalProperties"] = false
		}
		for _, child := range node {
			closeObjects(child)
		}
	}
}

// At returns the schema that a reference leads to, such as "#/components/schemas/Problem".
func (s *Schemas) At(ref string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compiled[ref] == nil {
		schema, err := s.compiler.Compile(s.name + ref)
		if err != nil {
			return nil, err
		}
		s.compiled[ref] = schema
	}
	return s.compiled[ref], nil
}

// WantValid fails the test unless document matches the published schema of
// address.
func WantValid(t *testing.T, document []byte, draft *jsonschema.Draft, address string, published io.Reader) {
	t.Helper()
	meta := check.Must(jsonschema.UnmarshalJSON(published))(t)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	check.NoError(t, c.AddResource(address, meta))
	schema := check.Must(c.Compile(address))(t)
	value := check.Must(jsonschema.UnmarshalJSON(bytes.NewReader(document)))(t)
	check.NoError(t, schema.Validate(value))
}
