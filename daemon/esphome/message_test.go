package esphome

import (
	"errors"
	"testing"

	"pressbox/daemon/esphome/frame"
	"pressbox/packaging/check"
)

// Fields of kinds that are not used are skipped, and what is no message is refused.
func TestFields_kinds(t *testing.T) {
	t.Parallel()
	const url = ":\x05http:"
	for _, tt := range []struct {
		body string
		want playerCommand
	}{
		{"", playerCommand{}},
		{url + "0\x01H\x01", playerCommand{hasURL: true, url: "http:", announcement: true}},
		{"\x09\x01\x02\x03\x04\x05\x06\x07\x08\x10\x01\x18\x04", playerCommand{hasCommand: true, command: 4}},
		{"\x8b\x01\x08\x01\x8c\x01 \x01", playerCommand{hasVolume: true}}, // a group
	} {
		got, err := decodePlayerCommand([]byte(tt.body))
		check.That(t, err == nil && got == tt.want, "%q: %+v, %v", tt.body, got, err)
	}
	for _, body := range []string{"\xff", ":\x05x", "\x10", "\x2d\x01", "\x0c", "\x00\x01"} {
		_, err := decodePlayerCommand([]byte(body))
		check.ErrorIs(t, err, frame.ErrMalformed, "%q", body)
		_, err = decodeAnnouncement([]byte(body))
		check.ErrorIs(t, err, frame.ErrMalformed, "%q", body)
	}
}

// Whatever a client sends as a message, its fields are read or refused, and none is longer than the message.
func FuzzFields(f *testing.F) {
	for _, seed := range []string{"\x12\x03One", "0\x01:\x05http:H\x01", "\x8b\x01\x08\x01\x8c\x01", "\xff\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		command, err := decodePlayerCommand(b)
		check.Require(t, err == nil || errors.Is(err, frame.ErrMalformed), "%v", err)
		a, again := decodeAnnouncement(b)
		check.Require(t, (err == nil) == (again == nil), "%v, %v", err, again)
		longest := max(len(command.url), len(a.text), len(a.url), len(a.preamble))
		check.Require(t, longest <= len(b), "a field of %d bytes in %d", longest, len(b))
	})
}
