package announcer

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"pressbox/audio"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
)

// Parts holds the parts of an Announcer. Outbox, Speaker, Sink and Log are required.
type Parts struct {
	Outbox   Outbox
	Speaker  Speaker
	Sink     Sink
	Urgent   Sink     // plays what is urgent; nil: Sink does
	Ducker   Ducker   // nil: other streams stay as they are
	Controls Controls // nil: the volume of the Config, and never quiet
	// Estimate returns the expected duration of a text, in a voice that is usable; nil means that texts are not
	// limited by their duration.
	Estimate func(voice, text string, rate int) time.Duration
	// ClockSet reports whether the wall clock has been set since the host was started; nil means that it has.
	ClockSet func() bool
	Rooms    RoomNames // nil: there are no other rooms
	Sounds   Sounds    // nil: there are none but the built-in chimes
	// Output returns what sound is played on, for [Announcer.Warnings]; nil: nothing is known about it.
	Output func() audio.Output
	Log    *slog.Logger
}

// An Outbox stores announcements so that they survive crashes and power cuts.
type Outbox interface {
	// Find returns the announcement that was appended with key in the last [announce.KeyRetention], and whether
	// there is one. It returns [announce.ErrKeyReused] if that was a different request. Keys beyond the limits
	// of the outbox are forgotten earlier, the sender's own before those of others.
	Find(ctx context.Context, key announce.IdempotencyKey) (announce.Accepted, bool, error)
	// Append stores a durably. If Find would find an announcement, Append stores nothing and returns that one,
	// with fresh false. It does not return before it is certain whether a is stored.
	Append(ctx context.Context, a announce.Announcement, key announce.IdempotencyKey) (
		stored announce.Accepted, fresh bool, err error)
	// Done stores the ends of appended announcements durably, in one transaction.
	Done(ctx context.Context, ended ...announce.Announcement) error
	// Update stores a changed announcement that has not ended durably. It does nothing for one that is not stored.
	Update(ctx context.Context, changed announce.Announcement) error
	// Load returns the announcements that have not ended, in order of acceptance, and the stored ended ones,
	// newest first. If the system clock was set in between, Load moves At and Expires so that the remaining
	// time is right, unless they are fixed.
	Load(ctx context.Context) (waiting, ended []announce.Announcement, err error)
}

// A Speaker turns text into sound.
type Speaker interface {
	// Voice returns the name of an installed voice, of the default voice for "", or an [*announce.UnknownVoiceError].
	Voice(name string) (string, error)
	// Speak yields the clips of a message from sentence u.From on, in order, as they are synthesized, at the
	// common level and all at one sample rate. The receiver owns them. If the message has fewer sentences, its
	// last one is spoken. Speak stops at the first error, and soon after ctx ends.
	Speak(ctx context.Context, u announce.Utterance) iter.Seq2[announce.Clip, error]
}

// A Sink plays sound.
type Sink interface {
	// Play plays the clips as they arrive, at the gain of the fader, also while that moves, and returns when the last
	// sample has been played; clips is then closed and empty. When ctx ends, it fades out within 20 ms and returns
	// ctx's error, also if clips is closed. The error wraps [audio.ErrSinkLost] if the connection to the sound server
	// was lost. played is the duration of the clips, from the first, that had been played when it returned.
	Play(ctx context.Context, clips <-chan audio.Clip, fader *audio.Fader) (played time.Duration, err error)
}

// A Ducker lowers the other streams of the sink.
type Ducker interface {
	// Duck lowers the other streams by a gain, 0–1, and returns when they are lowered. restore brings them back
	// as they were. If ctx ends before, Duck brings them back itself and returns ctx's error.
	Duck(ctx context.Context, gain float64) (restore func(), err error)
}

// Controls provide what applies to all announcements. [Announcer.Reconsider] is called when it has changed.
type Controls interface {
	// State returns the state at a moment, present or future. The announcer is locked: State must not call it.
	State(at time.Time) policy.State
}

// Sounds are the sounds that a request can name. See package sounds.
type Sounds interface {
	// Check returns an [*announce.UnknownSoundError] if there is no sound with a name.
	Check(name string) error
	// Clip returns a sound. Its error is that of Check, or of the file.
	Clip(name string) (audio.Clip, error)
	// Recording returns the recording of an announcement.
	Recording(id string) (audio.Clip, error)
	// Forget deletes the recording of an announcement.
	Forget(id string)
}

// RoomNames are the rooms that a request can name. See package rooms.
type RoomNames interface {
	// Own returns the name of this room.
	Own() string
	// Resolve returns whether names include this room, and the other rooms that they include. Its error is an
	// [*announce.UnknownRoomError] or [announce.ErrRoomUnreachable].
	Resolve(names []string) (here bool, others []string, err error)
}
