// Package cyclonedx has the parts of a bill of materials in CycloneDX 1.6
// (https://cyclonedx.org/docs/1.6/json/) that Pressbox writes.
//
// One law: equal components give an equal bill, so it has neither a serial number nor a date.
package cyclonedx

import (
	"encoding/json"
	"io"
)

// A Bill lists everything that a file has.
type Bill struct {
	Format      string        `json:"bomFormat"`
	Spec        string        `json:"specVersion"`
	Version     int           `json:"version"`
	Metadata    Metadata      `json:"metadata"`
	Components  []Component   `json:"components"`
	Composition []Composition `json:"compositions"`
}

// Metadata names what the bill is of.
type Metadata struct {
	Component Component `json:"component"`
}

// A Component is a part, or the whole.
type Component struct {
	Type     string    `json:"type"` // application, library, machine-learning-model, operating-system
	Ref      string    `json:"bom-ref"`
	Name     string    `json:"name"`
	Version  string    `json:"version,omitempty"`
	URL      string    `json:"purl,omitempty"`
	Hashes   []Hash    `json:"hashes,omitempty"`
	Licenses []License `json:"licenses,omitempty"`
}

// A Hash is a checksum of a component's file.
type Hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"` // in hexadecimal
}

// A License has one of its fields.
type License struct {
	Expression string `json:"expression,omitempty"` // SPDX
	Named      *Named `json:"license,omitempty"`
}

// Named is a license that SPDX may not know.
type Named struct {
	Name string `json:"name"`
}

// A Composition declares how complete the list of a component's parts is.
type Composition struct {
	Aggregate  string   `json:"aggregate"`
	Assemblies []string `json:"assemblies"`
}

// New returns the bill of whole with all its components.
func New(whole Component, components []Component) Bill {
	return Bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata:    Metadata{Component: whole},
		Components:  components,
		Composition: []Composition{{Aggregate: "complete", Assemblies: []string{whole.Ref}}},
	}
}

// Write writes the bill, indented.
func (b Bill) Write(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(b)
}
