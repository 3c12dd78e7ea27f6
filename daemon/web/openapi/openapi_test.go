package openapi_test

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

func TestDocument_validOpenAPI(t *testing.T) {
	t.Parallel()
	text := check.Must(site.OpenAPI("1.2.3"))(t)
	published := check.Must(os.Open("testdata/openapi-3.1.json"))(t)
	defer published.Close()
	webtest.WantValid(t, text, jsonschema.Draft2020, "https://spec.openapis.org/oas/3.1/schema", published)
}

// Every schema is valid and used, every reference resolves, every JSON has a schema, and operation ids are unique.
func TestDocument_references(t *testing.T) {
	t.Parallel()
	text := check.Must(site.OpenAPI("1.2.3"))(t)
	var doc struct {
		Components map[string]map[string]any
	}
	check.NoError(t, json.Unmarshal(text, &doc))
	check := webtest.NewChecker(t)
	for name := range doc.Components["schemas"] {
		check.Schema(t, "#/components/schemas/"+name)
	}
	used := map[string]bool{}
	refs := regexp.MustCompile(`"#/components/([A-Za-z]+)/([A-Za-z-]+)"`)
	for _, ref := range refs.FindAllStringSubmatch(string(text), -1) {
		used[ref[1]+"/"+ref[2]] = true
		if doc.Components[ref[1]][ref[2]] == nil {
			t.Errorf("%s does not resolve", ref[0])
		}
	}
	for kind, all := range doc.Components {
		for name := range all {
			if kind != "securitySchemes" && !used[kind+"/"+name] {
				t.Errorf("%s/%s is unused", kind, name)
			}
		}
	}
	check.Each(func(op webtest.Operation, method, template string) {
		for status, response := range op.Responses {
			if media, ok := response.Content["application/json"]; ok && media.Schema.Ref == "" {
				t.Errorf("%s %s names no type of the body of %s", method, template, status)
			}
		}
	})
	ids := map[string]string{}
	for path, methods := range check.Paths {
		for method, op := range methods {
			if other := ids[op.ID]; other != "" || op.ID == "" {
				t.Errorf("operation id %q of %s %s is empty or also that of %s", op.ID, method, path, other)
			}
			ids[op.ID] = method + " " + path
		}
	}
}
