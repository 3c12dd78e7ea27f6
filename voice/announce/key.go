package announce

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// Key returns the request's key with a digest of its other fields. The digest of a request that version 0.5.0
// could express is that of 0.5.0, whose keys are stored.
func (r Request) Key() IdempotencyKey {
	if r.IdempotencyKey == "" {
		return IdempotencyKey{}
	}
	if r.From != "" { // what another room repeats has a shorter time to live
		return IdempotencyKey{Sender: r.Sender.Client, Key: r.IdempotencyKey, Digest: sha256.Sum256([]byte(r.ID))}
	}
	text := fmt.Appendf(nil, "%q %q %d %t %d", r.Message, r.Voice, r.Rate, r.Urgent, r.TTL)
	at := int64(0)
	if !r.At.IsZero() {
		at = r.At.UnixNano()
	}
	timed := at != 0 || r.In != 0 || r.Repeat != (Repeat{})
	if timed || r.Title != "" || r.Priority != 0 || r.Volume != 0 || r.Chime != "" {
		text = fmt.Appendf(text, " %q %d %d %q %d %d %d %d",
			r.Title, r.Priority, r.Volume, r.Chime, at, r.In, r.Repeat.Times, r.Repeat.Every)
	}
	if len(r.Rooms) > 0 {
		text = fmt.Appendf(text, " rooms %q", r.Rooms)
	}
	if r.Recording > 0 {
		text = fmt.Appendf(text, " recording %d", r.Recording)
	}
	rest := r.Content
	rest.Title, rest.Message, rest.Voice, rest.Rate = "", "", "", 0
	rest.Urgent, rest.Priority, rest.Volume, rest.Chime = false, 0, 0, ""
	if rest != (Content{}) {
		newer, _ := json.Marshal(rest) // texts, numbers and truth values: never an error
		text = append(text, newer...)
	}
	return IdempotencyKey{Sender: r.Sender.Client, Key: r.IdempotencyKey, Digest: sha256.Sum256(text)}
}
