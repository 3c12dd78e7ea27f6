package announce_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pressbox/audio"
	"pressbox/voice/announce"
)

// An outbox stands in for the disk.
type outbox struct {
	mu      sync.Mutex
	notices map[string]announce.Announcement
	first   map[string]announce.Announcement // by idempotency key
	digests map[string][32]byte
	fault   error         // what Keep and Save then return
	slow    time.Duration // how long they take
	saves   int
}

func newOutbox() *outbox {
	return &outbox{
		notices: make(map[string]announce.Announcement),
		first:   make(map[string]announce.Announcement),
		digests: make(map[string][32]byte),
	}
}

func (o *outbox) set(fault error, slow time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fault, o.slow = fault, slow
}

// open waits as long as the disk takes and locks.
func (o *outbox) open() error {
	o.mu.Lock()
	fault, slow := o.fault, o.slow
	o.mu.Unlock()
	time.Sleep(slow)
	o.mu.Lock()
	return fault
}

func (o *outbox) Find(_ context.Context, key announce.IdempotencyKey) (announce.Announcement, bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, ok := o.first[key.Key]
	if ok && o.digests[key.Key] != key.Digest {
		return announce.Announcement{}, false, announce.ErrKeyReused
	}
	return n, ok, nil
}

func (o *outbox) Append(ctx context.Context, n announce.Announcement, key announce.IdempotencyKey) (announce.Announcement, bool, error) {
	if before, ok, err := o.Find(ctx, key); ok || err != nil {
		return before, false, err
	}
	err := o.open()
	defer o.mu.Unlock()
	if err != nil {
		return announce.Announcement{}, false, err
	}
	o.notices[n.ID] = n
	if key.Key != "" {
		o.first[key.Key], o.digests[key.Key] = n, key.Digest
	}
	return n, true, nil
}

func (o *outbox) Done(_ context.Context, ns ...announce.Announcement) error {
	err := o.open()
	defer o.mu.Unlock()
	if err != nil {
		return err
	}
	o.saves++
	for _, n := range ns {
		o.notices[n.ID] = n
	}
	return nil
}

func (o *outbox) Load(context.Context) (waiting, ended []announce.Announcement, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range o.notices {
		if n.Status.Ended() {
			ended = append(ended, n)
		} else {
			waiting = append(waiting, n)
		}
	}
	return waiting, ended, o.fault
}

// writes returns how often Save was called.
func (o *outbox) writes() int { o.mu.Lock(); defer o.mu.Unlock(); return o.saves }

func (o *outbox) status(id string) announce.Status {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.notices[id].Status
}

// A speaker stands in for synthesis. A message is sentences that end in "|",
// each a clip of one second, "long" of twenty; it knows a clip by its first
// sample.
type speaker struct {
	pace time.Duration // to make a clip
	mu   sync.Mutex
	made []string // in order
	says map[*float32]string
}

func (s *speaker) Voice(name string) (string, error) {
	if name == "" {
		name = "anna"
	}
	if name != "anna" && name != "bert" {
		return "", &announce.UnknownVoiceError{Name: name, Installed: []string{"anna", "bert"}}
	}
	return name, nil
}

func (s *speaker) Speak(ctx context.Context, _, message string, _ int) iter.Seq2[audio.Clip, error] {
	return func(yield func(audio.Clip, error) bool) {
		for sentence := range strings.SplitSeq(message, "|") {
			select {
			case <-time.After(s.pace):
			case <-ctx.Done():
				yield(audio.Clip{}, ctx.Err())
				return
			}
			if sentence == "unspeakable" {
				yield(audio.Clip{}, errors.New("no phonemes"))
				return
			}
			if !yield(s.clip(sentence), nil) {
				return
			}
		}
	}
}

func (s *speaker) clip(sentence string) audio.Clip {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := audio.Clip{Rate: 8, Samples: []float32{0.5, 0.6607, -0.6607, 0.25, 0, 0.1, -0.1, 0.3}}
	if sentence == "long" {
		c.Samples = slices.Repeat(c.Samples, 20)
	}
	s.made = append(s.made, sentence)
	s.says[&c.Samples[0]] = sentence
	return c
}

func (s *speaker) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.made)
}

// A sink stands in for the sound server. It takes as long as the sound does.
type sink struct {
	speaker *speaker
	mu      sync.Mutex
	away    chan struct{} // closed while the server is away
	plays   int
	heard   []string // sentences that were begun; "/" follows one that was cut
	levels  map[string][]float32
}

func (s *sink) lose() { s.mu.Lock(); defer s.mu.Unlock(); close(s.away) }
func (s *sink) find() { s.mu.Lock(); defer s.mu.Unlock(); s.away = make(chan struct{}) }

// tries returns how often Play was called.
func (s *sink) tries() int { s.mu.Lock(); defer s.mu.Unlock(); return s.plays }

func (s *sink) Play(ctx context.Context, clips <-chan audio.Clip) error {
	s.mu.Lock()
	s.plays++
	away := s.away
	s.mu.Unlock()
	for {
		var clip audio.Clip
		var ok bool
		select {
		case <-away:
			return errors.Join(errors.New("hung up"), audio.ErrSinkLost)
		default:
		}
		select {
		case clip, ok = <-clips:
		case <-ctx.Done():
			return ctx.Err()
		case <-away:
			return audio.ErrSinkLost
		}
		if !ok {
			return nil
		}
		s.note(clip)
		select {
		case <-time.After(clip.Duration()):
			continue
		case <-ctx.Done():
			s.cut()
			return ctx.Err()
		case <-away:
			s.cut()
			return audio.ErrSinkLost
		}
	}
}

func (s *sink) note(c audio.Clip) {
	s.speaker.mu.Lock()
	sentence := s.speaker.says[&c.Samples[0]]
	s.speaker.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, sentence)
	s.levels[sentence] = c.Samples
}

func (s *sink) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, "/")
}

func (s *sink) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.heard, " ")
}

// A house is an announcer with all that it meets, inside a bubble of time.
type house struct {
	*announce.Announcer
	t       *testing.T
	outbox  *outbox
	speaker *speaker
	sink    *sink
}

var settings = announce.Config{Max: 100, TTL: 10 * time.Minute, Rate: 170, Volume: 100}

func newHouse(t *testing.T, c announce.Config) *house {
	t.Helper()
	h := &house{t: t, outbox: newOutbox(), speaker: &speaker{says: make(map[*float32]string)}}
	h.sink = &sink{speaker: h.speaker, away: make(chan struct{}), levels: make(map[string][]float32)}
	h.restart(c)
	return h
}

// restart makes the announcer anew, as after a crash.
func (h *house) restart(c announce.Config) {
	h.t.Helper()
	a, err := announce.New(c, h.outbox, h.speaker, h.sink, slog.New(slog.DiscardHandler))
	if err != nil {
		h.t.Fatal(err)
	}
	h.Announcer = a
}

// run runs the announcer; stop ends that and waits for it.
func (h *house) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				h.t.Errorf("Run: %v", err)
			}
		})
	}
	synctest.Wait()
	return stop
}

// post announces and fails the test when that is refused.
func (h *house) post(message string, urgent bool) announce.View {
	h.t.Helper()
	v, err := h.Announce(context.Background(), announce.Request{Message: message, Urgent: urgent})
	if err != nil {
		h.t.Fatalf("announce %q: %v", message, err)
	}
	return v
}

// expect fails the test unless this was heard so far.
func (h *house) expect(want string) {
	h.t.Helper()
	synctest.Wait()
	if got := h.sink.said(); got != want {
		h.t.Errorf("after %s heard %q, want %q", time.Since(dawn), got, want)
	}
}

// expectStatus fails the test unless the announcement stands so.
func (h *house) expectStatus(id string, want announce.Status) announce.View {
	h.t.Helper()
	synctest.Wait()
	v, err := h.Find(id)
	if err != nil || v.Status != want {
		h.t.Errorf("after %s announcement is %s, %v, want %s", time.Since(dawn), v.Status, err, want)
	}
	return v
}

// dawn is when every bubble begins.
var dawn = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
