// Package espeak asks espeak-ng how words sound. It is the voice.Phonemizer.
//
// One law: espeak-ng is another program. It runs as a child process that is
// given text through a pipe, never in its arguments; it is kept alive between
// clauses, and one that dies or hangs is replaced. Nothing of it is linked, so
// neither its licence nor its crashes are ours.
//
// The child prints the IPA of each line that it reads, on as many lines as it
// likes, or on none. So each clause is followed by a line of glottal stops
// written as espeak's own phonemes, which every one of its languages prints in
// the same way, and which no clause can say: what comes before it is the
// answer.
package espeak

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode"

	"pressbox/voice"
)

const (
	// keep is how many children stay alive, one a language; each has 8 MB.
	keep = 4
	// maxClause is how many bytes espeak-ng reads as one line.
	maxClause = 900
)

// limits are how long a child may take for a clause; it needs 1–2 ms, a new one
// ten times that.
type limits struct {
	patience time.Duration
	grace    time.Duration // once nobody waits for the answer any more
}

// ErrNotInstalled says that there is no espeak-ng to run.
var ErrNotInstalled = fmt.Errorf("%w: espeak-ng is not installed (install the package espeak-ng)", voice.ErrUnavailable)

// errDied says that a child that worked before does not any more.
var errDied = fmt.Errorf("%w: espeak-ng stopped answering", voice.ErrUnavailable)

// A Phonemizer keeps one espeak-ng for each of the languages used last. It may
// be used concurrently; clauses are answered one at a time.
type Phonemizer struct {
	path     string
	limits   limits
	turn     chan struct{} // holds a token; whoever has it owns children
	children []*child      // the one used last comes last; nil once closed
	closed   bool
}

// New returns a Phonemizer that runs the program at path, or the espeak-ng
// found in PATH when path is "". It starts nothing.
func New(path string) *Phonemizer {
	if path == "" {
		path = "espeak-ng"
	}
	p := &Phonemizer{path: path, limits: limits{5 * time.Second, 50 * time.Millisecond}, turn: make(chan struct{}, 1)}
	p.turn <- struct{}{}
	return p
}

// Phonemes returns the IPA of clause in espeak's language lang, "" when it is
// not spoken. It ends early, with ctx's error, when ctx does.
func (p *Phonemizer) Phonemes(ctx context.Context, lang, clause string) (string, error) {
	clause = oneLine(clause)
	if len(clause) > maxClause {
		return "", fmt.Errorf("a clause of %d bytes is longer than the %d that espeak-ng reads at once", len(clause), maxClause)
	}
	select {
	case <-p.turn:
		defer func() { p.turn <- struct{}{} }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	ipa, err := p.ask(ctx, lang, clause)
	if errors.Is(err, errDied) && ctx.Err() == nil {
		ipa, err = p.ask(ctx, lang, clause) // once more, of a new child
	}
	return ipa, err
}

// Close ends the children. Later calls of Phonemes fail.
func (p *Phonemizer) Close() error {
	<-p.turn
	defer func() { p.turn <- struct{}{} }()
	p.closed = true
	for _, c := range p.children {
		c.end()
	}
	p.children = nil
	return nil
}

// ask has the child of lang answer, and drops it when it does not. The turn
// must be held.
func (p *Phonemizer) ask(ctx context.Context, lang, clause string) (string, error) {
	c, err := p.child(ctx, lang)
	if err != nil {
		return "", err
	}
	ipa, err := c.ask(ctx, clause, p.limits)
	if err != nil {
		p.children = slices.DeleteFunc(p.children, func(kept *child) bool { return kept == c })
		c.end()
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%w: %w", errDied, err)
	}
	return ipa, nil
}

// child returns the running child of lang, as the one used last; it starts one
// when there is none. The turn must be held.
func (p *Phonemizer) child(ctx context.Context, lang string) (*child, error) {
	if p.closed {
		return nil, errors.New("the phonemizer is closed")
	}
	if i := slices.IndexFunc(p.children, func(c *child) bool { return c.lang == lang }); i >= 0 {
		c := p.children[i]
		p.children = append(slices.Delete(p.children, i, i+1), c)
		return c, nil
	}
	c, err := start(ctx, p.path, lang, p.limits)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	if err != nil {
		return nil, err
	}
	if len(p.children) == keep {
		p.children[0].end()
		p.children = slices.Delete(p.children, 0, 1)
	}
	p.children = append(p.children, c)
	return c, nil
}

// oneLine returns clause as a line that espeak-ng reads as text only: without
// control characters, which it takes as commands, and without the brackets
// that would begin its own phonemes.
func oneLine(clause string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '[' || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, clause))
}
