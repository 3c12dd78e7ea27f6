package announcements

import (
	"crypto/rand"
	"io"
	"net/http"
	"strings"

	"pressbox/daemon/web"
	"pressbox/voice/announce/draft"
	"pressbox/voice/sounds"
)

// recordingCost is the number of requests as which one with a recording counts.
const recordingCost = 10

// announceUpload announces what an audio/* body or a form says, after the recording that it may have. The recording is
// saved before the announcement, and deleted again if that is not accepted.
func (h *handlers) announceUpload(w http.ResponseWriter, r *http.Request) error {
	by, err := h.RequestBy(r)
	if err != nil {
		return err
	}
	id, client := strings.ToLower(rand.Text()), ""
	if by.Limited {
		client = by.Sender.Client
	}
	ctx := r.Context()
	receive := func(file io.Reader) error {
		if err := h.AllowUpload(recordingCost, r); err != nil {
			return err
		}
		by.ID = id
		by.Recording, err = h.Sounds.Record(ctx, id, client, sounds.Uploaded(), file)
		return err
	}
	fields, err := web.Upload(w, r, sounds.MaxBytes, receive)
	if err != nil {
		h.Sounds.Forget(id)
		return err
	}
	d := draft.Form(fields, r.URL.RawQuery)
	view, err := d.Announce(r.Context(), h.Announcer, by)
	if by.Recording > 0 && (err != nil || view.ID != id) { // the request was refused, or repeated
		h.Sounds.Forget(id)
	}
	if err != nil {
		return err
	}
	return h.accepted(w, r, r.URL.Path, view, d.Warnings)
}
