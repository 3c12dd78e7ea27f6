package catalog

import (
	"context"
	"fmt"
	"io"
	"path"

	"pressbox/voice"
)

// maxCard is the size limit of a model card in bytes; Piper's have at most 2 KB.
const maxCard = 64 << 10

// License returns the license of a voice, by its model card; "" if it has no card, or the card states none.
func (c *Catalog) License(ctx context.Context, v Voice) (string, error) {
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
		return voice.License(text), nil
	}
	return "", nil
}
