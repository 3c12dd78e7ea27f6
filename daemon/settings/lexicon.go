package settings

import (
	"fmt"
	"os"

	"pressbox/voice/speakable"
)

// Lexicon reads LEXICON_FILE. The lexicon is nil without a file, or if it cannot be
// read; with an error about invalid lines it has the valid ones.
func (c Config) Lexicon() (*speakable.Lexicon, error) {
	if c.LexiconFile == "" {
		return nil, nil
	}
	f, err := os.Open(c.LexiconFile)
	if err != nil {
		return nil, fmt.Errorf("read LEXICON_FILE: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	lexicon, err := speakable.ParseLexicon(f)
	if err != nil {
		err = fmt.Errorf("LEXICON_FILE %s: %w", c.LexiconFile, err)
	}
	return lexicon, err
}
