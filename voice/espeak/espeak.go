// Package espeak converts text to phonemes with espeak-ng. [Phonemizer] implements voice.Phonemizer.
//
// One law: espeak-ng is a separate program. It runs as a child process and gets text through a pipe, never in
// its arguments. It stays alive between clauses, and is replaced when it dies or hangs. It is not linked, so
// neither its license nor its crashes affect this program.
//
// The child prints the IPA of each line that it reads, on any number of lines. So each clause is followed by
// a line of random phonemes in espeak's own notation, which all its languages print in the same way. The
// output before that line is the answer. A child that prints anything else is ended, so that the answer to a
// clause is never that to another.
//
// Texts come from the network and espeak-ng is written in C. Therefore the child gets an environment without
// secrets and, in the product, runs confined (voice/espeak/confine): one that is taken over can return wrong
// phonemes.
package espeak

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode"

	"pressbox/voice"
)

const (
	// maxChildren limits the running children, one per language; each uses 8 MB.
	maxChildren = 4
	// maxClause is the length of a line that espeak-ng reads at once, in bytes.
	maxClause = 900
	// timeout is the time after which a child counts as hanging: usual are 1–2 ms for a clause, and ten times
	// that for a new child, but a small host that starts a browser from its memory card may stop either for
	// seconds. Two children that hang at a clause after a slow start stay below the 90 s after which the
	// watchdog ends the server.
	timeout = 20 * time.Second
)

// limits bounds the time that a child may take to start, or for a clause.
type limits struct {
	timeout time.Duration
	grace   time.Duration // after the caller has stopped waiting
}

// ErrNotInstalled reports that the program espeak-ng was not found.
var ErrNotInstalled = fmt.Errorf("%w: espeak-ng is not installed (install the package espeak-ng)", voice.ErrUnavailable)

// errDied reports that a child ended, or was ended, while it processed a clause.
var errDied = errors.New("espeak-ng failed")

// died wraps the reason why a child was ended in errDied. One that crashes or prints too much does so because
// of the clause, which then fails alone. If a deadline passed the host may be too slow, and speech is
// unavailable.
func died(reason error) error {
	if errors.Is(reason, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: %w: %w", voice.ErrUnavailable, errDied, reason)
	}
	return fmt.Errorf("%w: %w: %w", voice.ErrUnreadable, errDied, reason)
}

// A Phonemizer runs one espeak-ng for each of the most recently used languages. It may be used concurrently;
// clauses are processed one at a time.
type Phonemizer struct {
	command  []string // espeak-ng, behind its helper
	limits   limits
	slot     chan struct{} // holds a token; the goroutine that has it owns children
	children []*child      // the most recently used is last; nil once closed
	closed   bool
}

// New returns a Phonemizer that runs the program at path, or espeak-ng from PATH for "". helper is the
// command that confines the program named after it; without one it is not confined. New starts nothing.
func New(path string, helper ...string) *Phonemizer {
	if path == "" {
		path = "espeak-ng"
	}
	p := &Phonemizer{
		command: append(slices.Clip(helper), path), limits: limits{timeout, 50 * time.Millisecond},
		slot: make(chan struct{}, 1),
	}
	p.slot <- struct{}{}
	return p
}

// Phonemes returns the IPA of a clause in espeak's language lang, "" if it is not spoken. It returns ctx's
// error soon after ctx ends.
func (p *Phonemizer) Phonemes(ctx context.Context, lang, clause string) (string, error) {
	clause = oneLine(clause)
	if len(clause) > maxClause {
		return "", fmt.Errorf("clause of %d bytes exceeds the %d that espeak-ng reads at once", len(clause), maxClause)
	}
	select {
	case <-p.slot:
		defer func() { p.slot <- struct{}{} }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	ipa, err := p.ask(ctx, lang, clause)
	if errors.Is(err, errDied) && ctx.Err() == nil {
		ipa, err = p.ask(ctx, lang, clause) // once more, with a new child
	}
	return known(lang, ipa), err
}

// known returns the IPA without the question marks that espeak-ng prints for phonemes that its table of IPA lacks: 1.51
// prints two for the German "ur" before a consonant, as in "Geburtstag", for which 1.52 has "ʊɐ".
func known(lang, ipa string) string {
	if family, _, _ := strings.Cut(lang, "-"); family == "de" {
		ipa = strings.ReplaceAll(ipa, "??", "ʊɐ")
	}
	return strings.ReplaceAll(ipa, "?", "")
}

// Close ends the children. Later calls of Phonemes fail.
func (p *Phonemizer) Close() error {
	<-p.slot
	defer func() { p.slot <- struct{}{} }()
	p.closed = true
	for _, c := range p.children {
		c.close()
	}
	p.children = nil
	return nil
}

// ask gets the answer from the child of lang, and drops the child on error. The slot must be held.
func (p *Phonemizer) ask(ctx context.Context, lang, clause string) (string, error) {
	c, err := p.child(ctx, lang)
	if err != nil {
		return "", err
	}
	ipa, err := c.ask(ctx, clause, p.limits)
	if err != nil {
		p.children = slices.DeleteFunc(p.children, func(other *child) bool { return other == c })
		c.close()
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", died(err)
	}
	return ipa, nil
}

// child returns the running child of lang, starting one if necessary, and marks it as most recently used. The
// slot must be held.
func (p *Phonemizer) child(ctx context.Context, lang string) (*child, error) {
	if p.closed {
		return nil, errors.New("the phonemizer is closed")
	}
	if i := slices.IndexFunc(p.children, func(c *child) bool { return c.lang == lang }); i >= 0 {
		c := p.children[i]
		p.children = append(slices.Delete(p.children, i, i+1), c)
		return c, nil
	}
	c, err := start(ctx, p.command, lang, p.limits)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	if err != nil {
		return nil, err
	}
	if len(p.children) == maxChildren {
		p.children[0].close()
		p.children = slices.Delete(p.children, 0, 1)
	}
	p.children = append(p.children, c)
	return c, nil
}

// oneLine returns clause as a line that espeak-ng reads as plain text: without control characters, which it
// takes as commands, and without opening brackets, which start its phoneme notation.
func oneLine(clause string) string {
	return strings.TrimSpace(breakInitials(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '[' || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, clause)))
}

// maxInitials limits a run of initials, such as "U.S.A.". espeak-ng 1.51 copies the letters of one, of up to
// 4 bytes, to 80 bytes on its stack without a check (CheckDottedAbbrev in translate.c).
const maxInitials = 16

// breakInitials replaces each dot that makes a run of initials too long by a space, so that espeak-ng reads
// two runs. Up to three characters count as initials, because espeak-ng drops some.
func breakInitials(clause string) string {
	run, length := 0, 0
	return strings.Map(func(r rune) rune {
		switch {
		case r == '.':
			run++
			if length > 3 {
				run = 0
			}
			length = 0
			if run == maxInitials {
				run = 0
				return ' '
			}
		case !unicode.IsSpace(r):
			length++
		}
		return r
	}, clause)
}
