package library

import (
	"log/slog"

	"pressbox/voice"
	"pressbox/voice/speakable"
)

// SpokenAfterPanic returns what is spoken of a message whose text in words cannot be made.
func SpokenAfterPanic(log *slog.Logger, message string) string {
	l := &Library{cfg: Config{Log: log}}
	return l.spoken(&voice.Config{}, message, func(string, string, *speakable.Lexicon) string { panic("a bug") })
}
