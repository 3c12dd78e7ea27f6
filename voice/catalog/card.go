package catalog

import (
	"context"
	"fmt"
	"io"
	"path"
	"regexp"
)

// maxCard is the size limit of a model card in bytes; Piper's have at most 2 KB.
const maxCard = 64 << 10

// Card downloads the model card of a voice, which names its license; "" if it has none.
func (c *Catalog) Card(ctx context.Context, v Voice) (string, error) {
	for _, f := range v.files {
		if path.Ext(f.name) != ".MODEL_CARD" {
			continue
		}
		resp, err := get(ctx, c.client, c.fileURL(f), 0)
		if err != nil {
			return "", fmt.Errorf("fetch the card of %s: %w", v.Name, err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(io.LimitReader(resp.Body, maxCard))
		if err != nil {
			return "", fmt.Errorf("fetch the card of %s: %w", v.Name, err)
		}
		return string(text), nil
	}
	return "", nil
}

var licenseLine = regexp.MustCompile(`(?im)^[\s*#-]*licen[cs]e\s*:\s*(\S.*?)\s*$`)

// License returns the license in a model card; "" if it states none.
func License(card string) string {
	if found := licenseLine.FindStringSubmatch(card); found != nil {
		return found[1]
	}
	return ""
}
