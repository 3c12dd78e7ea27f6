package announce

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"pressbox/audio"
	"pressbox/voice/announce/plan"
	"pressbox/voice/announce/policy"
)

// Errors of requests, in addition to [*RequestError].
var (
	ErrFull         = errors.New("the queue is full")
	ErrScheduleFull = errors.New("too many announcements are scheduled") // as ErrFull, or a [*ShareError] wraps it
	ErrNotFound     = errors.New("no such announcement")
	ErrEnded        = errors.New("the announcement has already ended")
	ErrNotRepeated  = errors.New("the announcement is not repeated")
	ErrNoText       = errors.New("the text of the announcement was not saved")
	ErrGone         = errors.New("the recording was deleted when its announcement had ended")
	ErrKeyReused    = errors.New("the idempotency key was used for a different request")
	// ErrUnavailable, wrapped with the reason, is returned while the outbox cannot save: the disk is full or
	// damaged.
	ErrUnavailable = errors.New("announcements cannot be accepted")
)

// A Status is a step in the life of an announcement: scheduled → queued → synthesizing → playing → done. The
// other statuses end it earlier.
type Status string

// The statuses of an announcement; the last six are final.
const (
	Scheduled    Status = "scheduled" // waits for its time, the end of quiet, or its next repetition
	Queued       Status = "queued"
	Synthesizing Status = "synthesizing"
	Playing      Status = "playing"
	Done         Status = "done"
	Failed       Status = "failed"
	Cancelled    Status = "cancelled"
	Expired      Status = "expired"
	Unheard      Status = "unheard"  // played to the end on an output that was silent all the time
	Silenced     Status = "silenced" // not spoken, or not to its end: of priority 1, muted, or because of quiet
)

// Ended reports whether the status is final.
func (s Status) Ended() bool {
	switch s {
	case Done, Failed, Cancelled, Expired, Unheard, Silenced:
		return true
	default:
		return false
	}
}

// A Request asks for an announcement.
type Request struct {
	Content
	ID             string        // 26 characters, of an announcement from another room; "" means a new one
	From           string        // the room that sent it; "" means none
	Rooms          []string      // the rooms in which it is spoken; empty means this one
	At             time.Time     // time of day at which it is spoken; zero means now
	In             time.Duration // time until it is spoken, instead of At; 0 means now
	TTL            time.Duration // from At or now; 0 means the default
	Repeat         Repeat
	Sender         Sender
	Recording      time.Duration // length of the recording that its ID has in package sounds; 0: there is none
	Stored         bool          // it was stored before: where its voice is gone, the default of its language speaks
	Limited        bool          // the sender's client has at most its share: half of the queue, [MaxScheduledEach]
	IdempotencyKey string        // of the sender's client; "" means none
}

// A Repeat is how often an announcement is spoken until it is acknowledged.
type Repeat struct {
	Times int           // 2–10; 0 means once
	Every time.Duration // from the end of one repetition to the next: 10 s to 1 h
}

// A Sender is the origin of an announcement.
type Sender struct {
	Kind SenderKind
	Name string // of the account, token or user, or the address; at most [MaxSenderName] bytes
	// Client identifies the client, for its share, its idempotency keys and its scheduled announcements; "" means
	// none. No client sees it.
	Client string
	// Topic is the one of ntfy to which it was published, and Sequence what identifies it there; "" means none.
	Topic, Sequence string
}

// A SenderKind is the way by which an announcement came.
type SenderKind string

// The kinds of senders.
const (
	FromPage    SenderKind = "page"    // a signed-in user; the name is the account's
	FromToken   SenderKind = "token"   // the name is the token's
	FromAddress SenderKind = "address" // a client on the network; the name is its address
	FromMQTT    SenderKind = "mqtt"
	// FromHomeAssistant is one that Home Assistant sent to its speaker, without a name.
	FromHomeAssistant SenderKind = "homeassistant"
	FromHook          SenderKind = "hook"
	FromSchedule      SenderKind = "schedule" // the name is the schedule's
	FromCLI           SenderKind = "cli"      // the administrator's socket; the name is the user's
)

// An Announcement is an accepted request: its content has a voice, a rate and a priority. Announcements are
// comparable.
type Announcement struct {
	Content
	ID              string
	Seq             uint64        // order of acceptance, from 1
	Recording       time.Duration // length of its recording; 0: its sound, if any, is installed
	Created         time.Time
	TTL             time.Duration // from At, or from Created
	Expires         time.Time
	At              time.Time // when it may be spoken next; zero: since Created
	FixedTime       bool      // At and Expires are times of day: a correction of the clock does not move them
	Repeat          Repeat
	Spoken          int  // finished repetitions
	Acknowledged    bool // it is not repeated again
	Sender          Sender
	Rooms           Rooms
	Status          Status
	Quiet           bool         // quiet changes what happens to it
	Reason          policy.Cause // why it waits, or ended as silenced or unheard; "" if neither, or of priority 1
	SpeaksAt        time.Time    // when it is expected to be spoken; zero: unknown, or it is not scheduled
	Sentence        int          // with which it is spoken on; 0 is its beginning
	Error           string       // why it failed
	InitialPosition int          // position at acceptance; 0 is the current announcement
	Started         time.Time    // when its first sample was played; zero before
	Ended           time.Time    // zero until it ends
}

// RecordedSound is the Sound of an announcement that has a recording. No installed sound has this name.
const RecordedSound = "recording"

var soundName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// ValidSound reports whether a sound may have a name.
func ValidSound(name string) bool { return soundName.MatchString(name) }

// Text returns what is spoken: the title as a sentence, then the message. It is "" if only a sound is played.
func (ann Announcement) Text() string {
	if ann.Title == "" {
		return ann.Message
	}
	end := ". "
	if strings.ContainsAny(ann.Title[len(ann.Title)-1:], ".!?:;") {
		end = " "
	}
	return strings.TrimSuffix(ann.Title+end+ann.Message, " ")
}

// Speech returns what is left to be spoken, after so many parts of its sound, which count as sentences before those of
// the text.
func (ann Announcement) Speech(parts int) Utterance {
	return Utterance{Voice: ann.Voice, Message: ann.Text(), Rate: ann.Rate, From: max(0, ann.Sentence-parts)}
}

// How long an outbox stores things.
const (
	KeyRetention   = 24 * time.Hour // of an idempotency key
	KeysPerSender  = 1000           // idempotency keys
	EndedRetention = 24 * time.Hour // of an ended announcement
	EndedMin       = 200            // ended announcements that are stored for longer
	EndedMaxBytes  = 4 << 20        // of all ended announcements
	MaxKeyLength   = 255            // bytes of an idempotency key
)

// Evictable reports whether the oldest of count stored ended announcements, which have so many bytes together,
// may be deleted, age after its end.
func Evictable(age time.Duration, count int, bytes int64) bool {
	return count > EndedMin && age >= EndedRetention || bytes > EndedMaxBytes
}

// An Accepted is the part of an announcement that an outbox stores with its idempotency key.
type Accepted struct {
	ID     string
	Status Status // at acceptance, until Done has stored its end
}

// An IdempotencyKey makes it safe to repeat a request.
type IdempotencyKey struct {
	Sender string   // identifies the client; others may use the same Key
	Key    string   // as the client sent it; "" means none
	Digest [32]byte // of the request
}

// A Clip is a piece of an announcement's sound.
type Clip struct {
	audio.Clip
	// Sentence is the one that it belongs to, from 0 within the announcement's text. A pause belongs to the one
	// after it.
	Sentence int
	Voice    string         // that speaks it
	Rest     []plan.Segment // foreseen to follow it
}

// An Utterance is a text to be spoken.
type Utterance struct {
	Voice   string // "" means the default voice
	Message string
	Rate    int // words per minute; 0 means the default rate
	From    int // sentence that is spoken first; 0 is the beginning
}

// Waiting returns an announcement that has not ended as it is stored: it waits, whatever it does at the moment.
func (ann Announcement) Waiting() Announcement {
	ann.Status, ann.Started = Queued, time.Time{}
	return ann
}
