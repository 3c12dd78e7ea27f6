package announce

import (
	"context"
	"errors"
	"iter"
	"time"

	"pressbox/audio"
)

// What can go wrong with a request, besides a [*RequestError].
var (
	ErrFull      = errors.New("the queue is full")
	ErrNotFound  = errors.New("no such announcement")
	ErrEnded     = errors.New("the announcement has already ended")
	ErrKeyReused = errors.New("the idempotency key was used for another announcement")
	// ErrUnavailable, wrapped with the reason, says that the outbox keeps nothing
	// now: the disk is full or damaged.
	ErrUnavailable = errors.New("announcements cannot be accepted")
)

// A Status is where a notice stands. The way is
// queued → synthesizing → playing → done, or it ends before.
type Status string

// The statuses of a notice; the last four are ends.
const (
	Queued       Status = "queued"
	Synthesizing Status = "synthesizing"
	Playing      Status = "playing"
	Done         Status = "done"
	Failed       Status = "failed"
	Cancelled    Status = "cancelled"
	Expired      Status = "expired"
)

// Ended says whether nothing more will happen to a notice of this status.
func (s Status) Ended() bool {
	switch s {
	case Done, Failed, Cancelled, Expired:
		return true
	default:
		return false
	}
}

// A Request is what a client asks to be said.
type Request struct {
	Message        string
	Voice          string        // "" means the default voice
	Rate           int           // words per minute; 0 means the default rate
	Urgent         bool          // spoken before the others, at 1.5 times their level
	TTL            time.Duration // 0 means the default
	IdempotencyKey string        // idempotency key; "" means none
}

// A Announcement is an accepted announcement.
type Announcement struct {
	ID              string
	Seq             uint64 // order of acceptance, from 1
	Message         string
	Voice           string
	Rate            int // words per minute
	Urgent          bool
	Created         time.Time
	Expires         time.Time
	Status          Status
	Error           string    // why it failed
	InitialPosition int       // its position when it was accepted, 0 the head
	Started         time.Time // zero until its first sample was played
	Ended           time.Time // zero until it ended
}

// How long an [Outbox] remembers.
const (
	KeyRetention   = 24 * time.Hour // an idempotency key
	EndedRetention = 24 * time.Hour // an ended notice, at least,
	EndedMin       = 200            // unless it is among the newest, which stay longer,
	EndedMax       = 5000           // and unless there are too many
	keyMaxLength   = 255            // bytes of an idempotency key
)

// Evictable says whether an ended notice need no longer be remembered, when
// age has passed since its end and so many are remembered, it being the oldest.
func Evictable(age time.Duration, remembered int) bool {
	return remembered > EndedMin && age >= EndedRetention || remembered > EndedMax
}

// An Outbox keeps notices over crashes and power cuts.
type Outbox interface {
	// Kept returns the notice that was kept under a key in the last [KeyRetention],
	// as it was kept, and whether there is one; or ErrKeyReused when it came
	// of another request.
	Find(ctx context.Context, key IdempotencyKey) (Announcement, bool, error)
	// Keep stores n durably before it returns. With a key under which one is
	// kept it stores nothing and answers as Kept does, with fresh false. It
	// does not return before it is certain whether n is stored.
	Append(ctx context.Context, n Announcement, key IdempotencyKey) (kept Announcement, fresh bool, err error)
	// Save records durably the ends of notices that were kept, in one
	// transaction.
	Done(ctx context.Context, ns ...Announcement) error
	// Load returns the notices that have not ended, in order of acceptance,
	// and the ended ones that are still remembered, newest first. Where the
	// clock was set in between, Expires is moved so that the time that is
	// left is right.
	Load(ctx context.Context) (waiting, ended []Announcement, err error)
}

// A IdempotencyKey makes the repetition of a request harmless.
type IdempotencyKey struct {
	Key    string   // as the client sent it; "" means none
	Digest [32]byte // of the request
}

// A Speaker turns text into sound.
type Speaker interface {
	// Voice returns the name under which a voice is installed, the default's
	// for "", or an error that says which are ([*UnknownVoiceError]).
	Voice(name string) (string, error)
	// Speak yields the message's clips in order, each levelled, as they are
	// made, for the receiver to keep and change. Every clip has the same
	// rate. It stops at the first error, and soon when ctx ends.
	Speak(ctx context.Context, voice, message string, rate int) iter.Seq2[audio.Clip, error]
}

// A Sink makes sound heard.
type Sink interface {
	// Play plays the clips as they arrive and returns when the last sample
	// has been heard (clips is then closed and empty). When ctx ends it falls
	// silent at once and returns ctx's error. An error that wraps
	// [audio.ErrSinkLost]
	// means that the sound server went away.
	Play(ctx context.Context, clips <-chan audio.Clip) error
}
