package announcer_test

import (
	"cmp"
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
	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
)

// An outbox stands in for the disk.
type outbox struct {
	mu      sync.Mutex
	stored  map[string]announce.Announcement
	first   map[string]string // id, by idempotency key
	digests map[string][32]byte
	fault   error         // returned by Append and Done
	slow    time.Duration // how long these take
	saves   int

	appended func() // called when an announcement was saved, before Append returns; nil: nothing
}

func newOutbox() *outbox {
	return &outbox{
		stored:  make(map[string]announce.Announcement),
		first:   make(map[string]string),
		digests: make(map[string][32]byte),
	}
}

func (o *outbox) set(fault error, slow time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fault, o.slow = fault, slow
}

// lock waits as long as the disk takes, locks mu and returns the fault.
func (o *outbox) lock() error {
	o.mu.Lock()
	fault, slow := o.fault, o.slow
	o.mu.Unlock()
	time.Sleep(slow)
	o.mu.Lock()
	return fault
}

func (o *outbox) Find(_ context.Context, key announce.IdempotencyKey) (announce.Accepted, bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	id, ok := o.first[key.Key]
	if ok && o.digests[key.Key] != key.Digest {
		return announce.Accepted{}, false, announce.ErrKeyReused
	}
	return announce.Accepted{ID: id, Status: o.stored[id].Status}, ok, nil
}

func (o *outbox) Append(
	ctx context.Context, n announce.Announcement, key announce.IdempotencyKey,
) (announce.Accepted, bool, error) {
	stored, fresh, err := o.save(ctx, n, key)
	if fresh && o.appended != nil {
		o.appended()
	}
	return stored, fresh, err
}

func (o *outbox) save(
	ctx context.Context, n announce.Announcement, key announce.IdempotencyKey,
) (announce.Accepted, bool, error) {
	if before, ok, err := o.Find(ctx, key); ok || err != nil {
		return before, false, err
	}
	err := o.lock()
	defer o.mu.Unlock()
	if err != nil {
		return announce.Accepted{}, false, err
	}
	o.stored[n.ID] = n
	if key.Key != "" {
		o.first[key.Key], o.digests[key.Key] = n.ID, key.Digest
	}
	return announce.Accepted{ID: n.ID, Status: n.Status}, true, nil
}

func (o *outbox) Done(_ context.Context, ns ...announce.Announcement) error {
	err := o.lock()
	defer o.mu.Unlock()
	if err != nil {
		return err
	}
	o.saves++
	for _, n := range ns {
		o.stored[n.ID] = n
	}
	return nil
}

func (o *outbox) Update(_ context.Context, n announce.Announcement) error {
	err := o.lock()
	defer o.mu.Unlock()
	if err != nil {
		return err
	}
	if before, ok := o.stored[n.ID]; ok && !before.Status.Ended() {
		o.saves++
		o.stored[n.ID] = n
	}
	return nil
}

// find returns an announcement as it is stored.
func (o *outbox) find(id string) announce.Announcement {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stored[id]
}

func (o *outbox) Load(context.Context) (waiting, ended []announce.Announcement, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range o.stored {
		if n.Status.Ended() {
			ended = append(ended, n)
		} else {
			waiting = append(waiting, n)
		}
	}
	return waiting, ended, o.fault
}

// writes returns how often Done succeeded.
func (o *outbox) writes() int { o.mu.Lock(); defer o.mu.Unlock(); return o.saves }

// saved returns an announcement as it is saved.
func (o *outbox) saved(id string) announce.Announcement {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stored[id]
}

// A speaker stands in for synthesis. A message is sentences separated by "|", and these are clips of one second
// separated by "+"; "long" is one of twenty seconds. The address of its first sample identifies a clip.
type speaker struct {
	delay   time.Duration // per clip
	instead string        // the voice that speaks instead of the requested one; "" for that
	from    int           // sentence from which on it does
	mu      sync.Mutex
	made    []string // in order
	texts   map[*float32]string
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

func (s *speaker) Speak(ctx context.Context, u announce.Utterance) iter.Seq2[announce.Clip, error] {
	return func(yield func(announce.Clip, error) bool) {
		for i, sentence := range strings.Split(u.Message, "|") {
			if i < u.From {
				continue
			}
			for text := range strings.SplitSeq(sentence, "+") {
				select {
				case <-time.After(s.delay):
				case <-ctx.Done():
					yield(announce.Clip{}, ctx.Err())
					return
				}
				if text == "unspeakable" {
					yield(announce.Clip{}, errors.New("no phonemes"))
					return
				}
				voice := u.Voice
				if i >= s.from {
					voice = cmp.Or(s.instead, voice)
				}
				if !yield(announce.Clip{Clip: s.clip(text), Sentence: i, Voice: voice}, nil) {
					return
				}
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
	s.texts[&c.Samples[0]] = sentence
	return c
}

func (s *speaker) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.made)
}

// A sink stands in for the sound server. Play takes as long as the sound.
type sink struct {
	speaker *speaker
	fade    time.Duration // after the end of the context
	mu      sync.Mutex
	lost    chan struct{} // closed while the server is lost
	plays   int
	played  []string // clips that were started, "chime" for a chime; "/" follows an interrupted one
	levels  map[string][]float32
	fader   *audio.Fader  // of the latest Play
	silence audio.Silence // why nothing is heard; "" if it is
}

func (s *sink) lose()    { s.mu.Lock(); defer s.mu.Unlock(); close(s.lost) }
func (s *sink) restore() { s.mu.Lock(); defer s.mu.Unlock(); s.lost = make(chan struct{}) }

// attempts returns how often Play was called.
func (s *sink) attempts() int { s.mu.Lock(); defer s.mu.Unlock(); return s.plays }

func (s *sink) Play(
	ctx context.Context, clips <-chan audio.Clip, fader *audio.Fader,
) (played time.Duration, err error) {
	s.mu.Lock()
	s.plays++
	s.fader = fader
	if s.silence != "" {
		defer func(why audio.Silence) { err = errors.Join(err, &audio.UnheardError{Why: why}) }(s.silence)
	}
	lost := s.lost
	s.mu.Unlock()
	for {
		var clip audio.Clip
		var ok bool
		select {
		case <-lost:
			return played, errors.Join(errors.New("connection closed"), audio.ErrSinkLost)
		default:
		}
		select {
		case clip, ok = <-clips:
		case <-ctx.Done():
			return played, ctx.Err()
		case <-lost:
			return played, audio.ErrSinkLost
		}
		if !ok {
			return played, nil
		}
		s.begin(clip)
		began := time.Now()
		select {
		case <-time.After(clip.Duration()):
			played += clip.Duration()
		case <-ctx.Done():
			time.Sleep(s.fade)
			s.interrupt()
			return played + time.Since(began), ctx.Err()
		case <-lost:
			s.interrupt()
			return played + time.Since(began), audio.ErrSinkLost
		}
	}
}

func (s *sink) begin(c audio.Clip) {
	s.speaker.mu.Lock()
	sentence := cmp.Or(s.speaker.texts[&c.Samples[0]], "chime")
	s.speaker.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played = append(s.played, sentence)
	gain, _ := s.fader.Gain()
	s.levels[sentence] = slices.Clone(c.Samples)
	for i := range s.levels[sentence] {
		s.levels[sentence][i] *= gain
	}
}

func (s *sink) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played = append(s.played, "/")
}

// set makes the sink silent, or audible for "".
func (s *sink) set(silence audio.Silence) { s.mu.Lock(); defer s.mu.Unlock(); s.silence = silence }

// gain returns the gain of what is being played.
func (s *sink) gain() float32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	gain, _ := s.fader.Gain()
	return gain
}

func (s *sink) transcript() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.played, " ")
}

// A rig is an announcer with its stand-ins.
type rig struct {
	*announcer.Announcer
	t       *testing.T
	log     check.Log
	outbox  *outbox
	speaker *speaker
	sink    *sink
	ducker  *ducker
	parts   func(*announcer.Parts) // changes what restart uses; nil: nothing
}

var settings = announce.Config{Max: 100, TTL: 10 * time.Minute, Rate: 170, Volume: 100, History: true}

// bubble runs a test on an announcer that is not running, in fake time.
func bubble(t *testing.T, c announce.Config, test func(h *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(newRig(t, c)) })
}

// running is bubble with an announcer that runs.
func running(t *testing.T, c announce.Config, test func(h *rig)) {
	t.Helper()
	bubble(t, c, func(h *rig) {
		defer h.run()()
		test(h)
	})
}

func newRig(t *testing.T, c announce.Config) *rig {
	t.Helper()
	h := &rig{t: t, outbox: newOutbox(), speaker: &speaker{texts: make(map[*float32]string)}, ducker: &ducker{}}
	h.sink = &sink{speaker: h.speaker, lost: make(chan struct{}), levels: make(map[string][]float32)}
	h.restart(c)
	return h
}

// restart replaces the announcer, as after a crash.
func (h *rig) restart(c announce.Config) {
	h.t.Helper()
	p := announcer.Parts{
		Outbox: h.outbox, Speaker: h.speaker, Sink: h.sink, Ducker: h.ducker,
		Log: slog.New(slog.NewTextHandler(&h.log, nil)),
	}
	if h.parts != nil {
		h.parts(&p)
	}
	h.Announcer = check.Must(announcer.New(c, p))(h.t)
}

// run runs the announcer; stop ends it and waits for it.
func (h *rig) run() (stop func()) {
	stop = check.Run(h.t, h.Run)
	synctest.Wait()
	return stop
}

// post announces a message; the test fails if it is rejected.
func (h *rig) post(message string, urgent bool) announce.View {
	h.t.Helper()
	return h.request(announce.Request{Content: announce.Content{Message: message, Urgent: urgent}})
}

func (h *rig) request(r announce.Request) announce.View {
	h.t.Helper()
	v, err := h.Announce(context.Background(), r)
	if err != nil {
		h.t.Fatalf("announce %+v: %v", r, err)
	}
	return v
}

// expectError fails the test unless the request is rejected with the error.
func (h *rig) expectError(r announce.Request, want error) {
	h.t.Helper()
	check.ErrorIs(h.t, check.Err(h.Announce(context.Background(), r)), want, "announce %+v", r)
}

// expectCancelError fails the test unless canceling is rejected with the error.
func (h *rig) expectCancelError(id string, want error) {
	h.t.Helper()
	check.ErrorIs(h.t, check.Err(h.Cancel(context.Background(), id)), want, "cancel %s", id)
}

// expect fails the test unless exactly this was played so far.
func (h *rig) expect(want string) {
	h.t.Helper()
	synctest.Wait()
	check.Equal(h.t, h.sink.transcript(), want, "after %s played", time.Since(start))
}

// expectSynthesized fails the test unless these sentences were synthesized.
func (h *rig) expectSynthesized(want string) {
	h.t.Helper()
	synctest.Wait()
	check.Equal(h.t, strings.Join(h.speaker.list(), " "), want, "after %s synthesized", time.Since(start))
}

// expectStatus fails the test unless the announcement has the status.
func (h *rig) expectStatus(id string, want announce.Status) announce.View {
	h.t.Helper()
	synctest.Wait()
	v, err := h.Find(id)
	check.That(h.t, err == nil && v.Status == want,
		"after %s the announcement is %s, %v, want %s", time.Since(start), v.Status, err, want)
	return v
}

// expectSaved fails the test unless the outbox has the status.
func (h *rig) expectSaved(id string, want announce.Status) {
	h.t.Helper()
	check.Equal(h.t, h.outbox.saved(id).Status, want, "after %s the outbox has", time.Since(start))
}

// expectGain fails the test unless the sentence was played with this gain.
func (h *rig) expectGain(sentence string, gain float32) {
	h.t.Helper()
	synctest.Wait()
	for i, s := range h.speaker.clip("reference").Samples {
		got, want := h.sink.levels[sentence][i], s*gain
		check.Require(h.t, got == want, "%s: sample %d is %v, want %v", sentence, i, got, want)
	}
}

// start is the time at which every bubble starts.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// said returns a content that has only a message.
func said(message string) announce.Content { return announce.Content{Message: message} }
