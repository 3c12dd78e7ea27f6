package openapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/daemon/web/openapi"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// The schema is AsyncAPI's (Apache-2.0), from the npm package @asyncapi/specs 6.11.1.
func TestAsyncAPI_validDocument(t *testing.T) {
	t.Parallel()
	text := check.Must(openapi.AsyncAPI("1.2.3"))(t)
	gzipped := check.Must(os.ReadFile("testdata/asyncapi-3.0.0.json.gz"))(t)
	published := check.Must(gzip.NewReader(bytes.NewReader(gzipped)))(t)
	webtest.WantValid(t, text, jsonschema.Draft7, "http://asyncapi.com/definitions/3.0.0/asyncapi.json", published)
}

// Both documents have the same shared schemas, and /docs links to this one.
func TestAsyncAPI_served(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	got := r.Do(t, "GET", "/asyncapi.json", "").Want(200).Text
	want, err := openapi.AsyncAPI("1.2.3")
	if err != nil || got != string(want) {
		t.Errorf("GET /asyncapi.json differs from AsyncAPI(version), %v", err)
	}
	if page := r.Do(t, "GET", "/docs", "").Text; !strings.Contains(page, `href="/asyncapi.json"`) {
		t.Error("/docs does not link to /asyncapi.json")
	}
	open := check.Must(site.OpenAPI("1.2.3"))(t)
	type document struct {
		Components struct{ Schemas map[string]any }
	}
	var socket, http document
	check.NoError(t, json.Unmarshal([]byte(got), &socket))
	check.NoError(t, json.Unmarshal(open, &http))
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
			t.Errorf("the documents differ in schema %s", name)
		}
	}
	if shared < 10 {
		t.Errorf("the documents share %d schemas", shared)
	}
}
