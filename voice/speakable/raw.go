package speakable

import (
	"regexp"
	"strings"
)

// hidden stands for one block of raw phonemes while the text around it changes.
// It is a character for private use, and no step matches it.
const hidden = "\uE000"

var rawBlock = regexp.MustCompile(`\[\[[^\r\n]*?\]\]`)

// around changes the text around the blocks of raw phonemes and puts the blocks
// back as they were. change must keep each [hidden], and their order.
func around(s string, change func(string) string) string {
	var blocks []string
	if strings.Contains(s, "[[") {
		blocks = rawBlock.FindAllString(s, -1)
	}
	parts := []string{s}
	if len(blocks) > 0 {
		parts = rawBlock.Split(s, -1)
	}
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(part, hidden, "")
	}
	changed := strings.Split(change(strings.Join(parts, hidden)), hidden)
	var b strings.Builder
	for i, part := range changed {
		if i > 0 {
			b.WriteString(blocks[i-1])
		}
		b.WriteString(part)
	}
	return b.String()
}
