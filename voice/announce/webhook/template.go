package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// Limits of templates. Together they bound the time that one takes.
const (
	MaxTemplate = 16 << 10 // bytes of its source
	MaxOutput   = 5000     // characters that it writes, and of each value within it
	maxDepth    = 2        // of range inside range
	maxSteps    = 1000     // elements over which all its ranges go together
	maxWidth    = 100      // of printf
)

// A Template is an operator's text/template for one webhook. It writes the message,
// or, if its text begins with a brace, an announcement in JSON.
//
// It is safe to be executed concurrently.
type Template struct {
	template *template.Template
	json     bool
}

// ParseTemplate returns the template with this source. Errors begin with name and
// the line. A template may use fields of the body, variables, if, with, range and
// the functions of this package, and nothing else.
func ParseTemplate(name, source string) (*Template, error) {
	if len(source) > MaxTemplate {
		return nil, fmt.Errorf("%s: the template has %d bytes, at most %d are allowed", name, len(source), MaxTemplate)
	}
	if !utf8.ValidString(source) {
		return nil, fmt.Errorf("%s: the template is not UTF-8", name)
	}
	trees := map[string]*parse.Tree{}
	functions := parserFunctions()
	tree, err := parse.New(name).Parse(strings.TrimPrefix(source, "\uFEFF"), "", "", trees, functions)
	if err != nil {
		return nil, withoutPrefix(err)
	}
	if len(trees) > 1 || trees[name] != tree && len(trees) > 0 {
		return nil, fmt.Errorf("%s: define and block are not allowed", name)
	}
	r := rewriter{tree: tree, functions: functions}
	r.list(tree.Root, 0)
	if r.err != nil {
		return nil, r.err
	}
	t, err := template.New(name).Funcs((&execution{}).functions()).AddParseTree(name, tree)
	if err != nil {
		return nil, withoutPrefix(err)
	}
	first, _ := firstText(tree.Root)
	return &Template{template: t, json: strings.HasPrefix(first, "{")}, nil
}

// Read returns the announcement that the template makes of a body, which is a JSON
// object. Its fields are missing if the template writes nothing but white space.
// The error is a [*BodyError], or begins with the name and the line of the template.
func (t *Template) Read(body []byte) (Result, error) {
	fields, err := plain(body)
	if err != nil {
		return Result{}, err
	}
	run, err := t.template.Clone()
	if err != nil {
		return Result{}, fmt.Errorf("copy the template: %w", err)
	}
	out := &limitedWriter{}
	if err := run.Funcs((&execution{}).functions()).Execute(out, fields); err != nil {
		if _, located := errors.AsType[template.ExecError](err); !located { // the writer's own
			err = fmt.Errorf("%s: %w", run.Name(), err)
		}
		return Result{}, withoutPrefix(err)
	}
	text := strings.TrimSpace(out.text.String())
	switch {
	case text == "":
		return Result{}, nil
	case !t.json:
		return Result{Fields: map[string]string{"message": text}}, nil
	}
	announcement, err := readFields([]byte(text))
	if wrong, ok := errors.AsType[*BodyError](err); ok {
		return Result{}, fmt.Errorf("%s: what the template writes is not a JSON object: %w", t.template.Name(), wrong.Err)
	}
	return Result{Fields: announcement}, err
}

// withoutPrefix returns an error of text/template without the word before the name.
func withoutPrefix(err error) error {
	if text, ok := strings.CutPrefix(err.Error(), "template: "); ok {
		return errors.New(text)
	}
	return err
}

// A limitedWriter holds at most [MaxOutput] characters.
type limitedWriter struct{ text bytes.Buffer }

var errOutput = fmt.Errorf("the template writes more than %d characters", MaxOutput)

func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.text.Len()+len(p) > MaxOutput*utf8.UTFMax || utf8.RuneCount(w.text.Bytes())+utf8.RuneCount(p) > MaxOutput {
		return 0, errOutput
	}
	return w.text.Write(p)
}

// A rewriter checks a tree, and adds to it the functions that bound what is
// printed and over what is ranged, which only the execution shows.
type rewriter struct {
	tree      *parse.Tree
	functions map[string]any // see [parserFunctions]
	err       error          // the first violation
}

func (r *rewriter) refuse(n parse.Node, format string, args ...any) {
	if r.err == nil {
		at, _ := r.tree.ErrorContext(n)
		r.err = fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
	}
}

// list rewrites the nodes of a list inside so many ranges.
func (r *rewriter) list(l *parse.ListNode, depth int) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode, *parse.CommentNode, *parse.BreakNode, *parse.ContinueNode:
		case *parse.ActionNode:
			r.pipe(n.Pipe)
			if len(n.Pipe.Decl) == 0 {
				r.append(n.Pipe, "text")
			}
		case *parse.IfNode:
			r.branch(&n.BranchNode, depth)
		case *parse.WithNode:
			r.branch(&n.BranchNode, depth)
		case *parse.RangeNode:
			r.loop(n, depth+1)
		case *parse.TemplateNode:
			r.refuse(n, "template is not allowed")
		default:
			r.refuse(n, "%s is not allowed", n)
		}
	}
}

func (r *rewriter) branch(b *parse.BranchNode, depth int) {
	r.pipe(b.Pipe)
	r.list(b.List, depth)
	r.list(b.ElseList, depth)
}

func (r *rewriter) loop(n *parse.RangeNode, depth int) {
	if depth > maxDepth {
		r.refuse(n, "range is allowed inside one other range, not deeper")
	}
	if len(n.Pipe.Cmds) != 1 || len(n.Pipe.Cmds[0].Args) != 1 || !isField(n.Pipe.Cmds[0].Args[0]) {
		r.refuse(n.Pipe, "range is allowed over fields of the body only")
	}
	r.append(n.Pipe, "each")
	r.list(n.List, depth)
	r.list(n.ElseList, depth-1)
}

// isField reports whether a node is the dot, a variable or a field of one.
func isField(n parse.Node) bool {
	return slices.Contains([]parse.NodeType{parse.NodeDot, parse.NodeField, parse.NodeVariable}, n.Type())
}

// pipe checks the functions of a pipeline.
func (r *rewriter) pipe(p *parse.PipeNode) {
	for _, c := range p.Cmds {
		for _, arg := range c.Args {
			r.argument(arg)
		}
	}
}

func (r *rewriter) argument(n parse.Node) {
	switch n := n.(type) {
	case *parse.PipeNode:
		r.pipe(n)
	case *parse.ChainNode:
		r.argument(n.Node)
	case *parse.IdentifierNode:
		if r.functions[n.Ident] != true {
			r.refuse(n, "the function %s is not allowed", n.Ident)
		}
	}
}

// append adds a call of a function, with the result of the pipeline.
func (r *rewriter) append(p *parse.PipeNode, function string) {
	call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: p.Pos}
	call.Args = []parse.Node{parse.NewIdentifier(function).SetPos(p.Pos).SetTree(r.tree)}
	p.Cmds = append(p.Cmds, call)
}

// firstText returns the text with which the output begins, and whether the search
// ends with it: an action before it writes something else.
func firstText(l *parse.ListNode) (text string, found bool) {
	if l == nil {
		return "", false
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			text = strings.TrimSpace(string(n.Text))
			found = text != ""
		case *parse.ActionNode:
			found = len(n.Pipe.Decl) == 0
		case *parse.IfNode:
			text, found = firstText(n.List)
		case *parse.WithNode:
			text, found = firstText(n.List)
		case *parse.RangeNode:
			text, found = firstText(n.List)
		}
		if found {
			return text, true
		}
	}
	return "", false
}

// toJSON writes a value as JSON.
func toJSON(v any) (string, error) {
	out := &limitedWriter{}
	if err := json.MarshalWrite(out, v); err != nil {
		return "", err
	}
	return out.text.String(), nil
}
