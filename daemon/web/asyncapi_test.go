package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/daemon/web"
)

// frameSchemas returns the schema of each frame, which says what there may be
// and refuses the rest.
var frameSchemas = sync.OnceValue(func() func(string) *jsonschema.Schema {
	text, err := web.AsyncAPI("1.2.3")
	if err != nil {
		panic(err)
	}
	all, err := newSchemas("asyncapi.json", text)
	if err != nil {
		panic(err)
	}
	return func(name string) *jsonschema.Schema {
		schema, err := all.at("#/components/messages/" + name + "/payload")
		if err != nil {
			panic(err)
		}
		return schema
	}
})

// The schema is AsyncAPI's own (Apache-2.0), of the npm package @asyncapi/specs 6.11.1.
func TestSocketDocumentIsAsyncAPI30(t *testing.T) {
	t.Parallel()
	text, err := web.AsyncAPI("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile("testdata/asyncapi-3.0.0.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	published, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	keeps(t, text, jsonschema.Draft7, "http://asyncapi.com/definitions/3.0.0/asyncapi.json", published)
}

// Both documents say the same of what they share, /docs leads to this one, and
// it is served.
func TestSocketDocumentIsServed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.do(t, "GET", "/asyncapi.json", "").want(200, "").Body.Bytes()
	want, err := web.AsyncAPI("1.2.3")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("it differs from AsyncAPI(version), %v", err)
	}
	if page := r.do(t, "GET", "/docs", "").Body.String(); !strings.Contains(page, `href="/asyncapi.json"`) {
		t.Error("/docs does not lead there")
	}
	open, err := web.OpenAPI("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	type document struct {
		Components struct{ Schemas map[string]any }
	}
	var socket, http document
	if err := json.Unmarshal(got, &socket); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(open, &http); err != nil {
		t.Fatal(err)
	}
	shared := 0
	for name, schema := range socket.Components.Schemas {
		other, ok := http.Components.Schemas[name]
		if !ok {
			continue
		}
		shared++
		a, _ := json.Marshal(schema)
		b, _ := json.Marshal(other)
		if !bytes.Equal(a, b) {
			t.Errorf("the documents differ about %s", name)
		}
	}
	if shared < 10 {
		t.Errorf("they share %d schemas", shared)
	}
}
