package site_test

import (
	"encoding/json"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pressbox/packaging/check"
)

// sources reads what the comments of packages say about types.
type sources struct {
	t   *testing.T
	all map[string]*source // by import path
}

// A source holds the comments and the constants of a package.
type source struct {
	types     map[string]string // type → its comment
	fields    map[string]string // type.field → its comment
	constants map[string][]any  // type → values of its constants
	meanings  map[string]string // type → what its constants mean
}

// source returns the source of a type's package.
func (s sources) source(t reflect.Type) *source {
	path, ok := strings.CutPrefix(t.PkgPath(), "pressbox/")
	if !ok {
		return &source{}
	}
	if s.all[path] == nil {
		found := &source{map[string]string{}, map[string]string{}, map[string][]any{}, map[string]string{}}
		files := check.Must(filepath.Glob("../../../" + path + "/*.go"))(s.t)
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				file := check.Must(parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments))(s.t)
				ast.Inspect(file, found.read)
			}
		}
		s.all[path] = found
	}
	return s.all[path]
}

// read reads the types and constants of a declaration.
func (s *source) read(n ast.Node) bool {
	declared, ok := n.(*ast.GenDecl)
	if !ok {
		return true
	}
	for _, spec := range declared.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.types[spec.Name.Name] = spec.Doc.Text()
			if !declared.Lparen.IsValid() { // otherwise its comment is that of a group
				s.types[spec.Name.Name] = declared.Doc.Text()
			}
			if fields, ok := spec.Type.(*ast.StructType); ok {
				s.readFields(spec.Name.Name, fields)
			}
		case *ast.ValueSpec:
			s.readConstant(spec)
		}
	}
	return true
}

func (s *source) readFields(name string, fields *ast.StructType) {
	for _, field := range fields.Fields.List {
		text := field.Doc.Text() + field.Comment.Text()
		for _, id := range field.Names {
			s.fields[name+"."+id.Name] = sentence(text)
		}
	}
}

func (s *source) readConstant(spec *ast.ValueSpec) {
	kind, ok := spec.Type.(*ast.Ident)
	if !ok || len(spec.Values) != 1 {
		return
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return
	}
	s.constants[kind.Name] = append(s.constants[kind.Name], value)
	if meaning := strings.TrimSpace(spec.Comment.Text()); meaning != "" {
		s.meanings[kind.Name] += " " + sentence(value+": "+meaning)
	}
}

// field returns what the comment of a field says.
func (s *source) field(t reflect.Type, name string) string { return s.fields[base(t)+"."+name] }

// text returns what the comment of a type says, with its name in the API, and the examples, which are the indented
// parts of the comment.
func (s *source) text(t reflect.Type, name string) (words string, examples []any) {
	var paragraphs []string
	for _, block := range new(comment.Parser).Parse(s.types[base(t)]).Content {
		if code, ok := block.(*comment.Code); ok {
			var example any
			if json.Unmarshal([]byte(code.Text), &example) == nil {
				examples = append(examples, example)
			}
			continue
		}
		printed := new(comment.Printer).Text(&comment.Doc{Content: []comment.Block{block}})
		if text := sentence(string(printed)); text != "Or:" { // between examples
			paragraphs = append(paragraphs, text)
		}
	}
	words = strings.Join(paragraphs, "\n\n") + s.meanings[base(t)]
	words = regexp.MustCompile(`\b`+base(t)+`\b`).ReplaceAllString(words, name)
	words = regexp.MustCompile(`\[(\w+)\]`).ReplaceAllString(words, "$1")
	return strings.TrimSpace(words), examples
}

// base returns the name of a type without arguments.
func base(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// sentence returns a comment as sentences on one line.
func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	if first := []rune(text); unicode.IsLower(first[0]) && !strings.Contains(strings.Fields(text)[0], ":") {
		first[0] = unicode.ToUpper(first[0])
		text = string(first)
	}
	if !strings.ContainsAny(text[len(text)-1:], ".:?!") {
		text += "."
	}
	return text
}
