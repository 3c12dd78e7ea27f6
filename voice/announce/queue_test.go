package announce_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/announce/policy"
)

// A model is a queue with what its runner and its clients know of it.
type model struct {
	announce.Queue
	t         *rapid.T
	now       time.Time
	quiet     policy.Quiet
	posted    int
	reserved  []announce.Announcement    // being saved
	accepted  []string                   // ids
	ending    []end                      // being saved
	final     map[string]announce.Status // of those that have ended
	published map[string]announce.Status // by the latest event
	current   *announce.Turn
	next      time.Time // when Advance is due; zero: never
	due       bool      // a step said that something may be due before
}

// An end is an announcement that is ending.
type end struct {
	id     string
	status announce.Status
	at     announce.Conditions
}

func newModel(t *rapid.T) *model {
	m := &model{t: t, now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	m.final, m.published = map[string]announce.Status{}, map[string]announce.Status{}
	m.Load(nil, nil, m.conditions())
	return m
}

func (m *model) conditions() announce.Conditions {
	return announce.Conditions{
		Config: announce.Config{Max: 3, History: true}, Now: m.now, ClockSet: true,
		State: func(time.Time) policy.State { return policy.State{Volume: 50, Quiet: m.quiet} },
	}
}

// do does what a step says. What it ends is saved later.
func (m *model) do(s announce.Step) {
	for _, e := range s.Events {
		m.published[e.View.ID] = e.View.Status
	}
	m.due = m.due || s.Retime
	for _, id := range s.Ends {
		m.end(id, s.Status)
	}
}

func (m *model) end(id string, status announce.Status) {
	check.Require(m.t, !m.isEnding(id) && m.final[id] == "", "%s ends twice", id)
	e := end{id, status, m.conditions()}
	m.Ending([]string{id}, status, "", e.at)
	m.ending = append(m.ending, e)
}

// post reserves a place for an announcement.
func (m *model) post(t *rapid.T) {
	m.posted++
	ann := announce.Announcement{
		Content: announce.Content{
			Urgent: rapid.Bool().Draw(t, "urgent"), Priority: rapid.IntRange(1, 4).Draw(t, "priority"),
		},
		ID: fmt.Sprint(m.posted), Created: m.now, TTL: time.Minute, At: m.now,
		Repeat: announce.Repeat{Times: rapid.SampledFrom([]int{0, 2}).Draw(t, "times"), Every: 20 * time.Second},
	}
	ann.At = m.now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 30}).Draw(t, "in")) * time.Second)
	ann.Expires = ann.At.Add(ann.TTL)
	ann.Sender.Client = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "client")
	if ann, err := m.Reserve(ann, true, m.conditions()); err == nil {
		m.reserved = append(m.reserved, ann)
	} else if _, share := errors.AsType[*announce.ShareError](err); share {
		return
	} else if n := len(m.List(m.conditions()).Queue) + len(m.reserved); n < 3 {
		t.Fatalf("%v with %d announcements", err, n)
	}
}

// save ends the saving of an announcement: it is accepted unless the disk has failed.
func (m *model) save(t *rapid.T) {
	i := index(t, len(m.reserved))
	id := m.reserved[i].ID
	m.reserved = slices.Delete(m.reserved, i, i+1)
	if rapid.Bool().Draw(t, "failed") {
		m.Release(id)
		return
	}
	m.do(m.Enqueue(id, m.conditions()))
	m.accepted = append(m.accepted, id)
}

// index draws an index, or skips the action if there is none.
func index(t *rapid.T, n int) int {
	if n == 0 {
		t.Skip("there is none")
	}
	return rapid.IntRange(0, n-1).Draw(t, "index")
}

// endSaved ends the saving of an end. That of the current announcement follows the end of its sound.
func (m *model) endSaved(t *rapid.T) {
	i := index(t, len(m.ending))
	e := m.ending[i]
	m.ending = slices.Delete(m.ending, i, i+1)
	ends, s := m.End([]string{e.id}, e.status, "", e.at)
	m.do(s)
	m.final[e.id] = ends[0].Status
	if m.current != nil && m.current.ID == e.id {
		m.current = nil
	}
}

func (m *model) take(t *rapid.T) {
	if m.current != nil {
		t.Skip("one is being spoken")
	}
	m.do(m.EndUnspoken(m.conditions()))
	next, peeked := m.peek(t)
	turn, ok, s := m.Take(m.conditions())
	m.do(s)
	check.Require(t, ok == peeked && turn.ID == next.ID, "took %s, after %s was next", turn.ID, next.ID)
	if ok {
		m.current = &turn
	}
}

// peek returns what is spoken next. It is not late, in quiet or ending.
func (m *model) peek(t *rapid.T) (next announce.Announcement, ok bool) {
	next, ok, s := m.Peek(m.conditions())
	m.do(s)
	if !ok {
		return next, false
	}
	late := !next.Expires.After(m.now) && next.Sentence == 0
	d := m.conditions().Decide(next, m.now)
	check.Require(t, !late && d.Speak && !m.isEnding(next.ID), "%s is next at %s: %+v", next.ID, m.now, d)
	return next, true
}

func (m *model) isEnding(id string) bool {
	return slices.ContainsFunc(m.ending, func(e end) bool { return e.id == id })
}

// play is the sound of the current announcement: as far as its first sample, to its end, or until it is interrupted.
func (m *model) play(t *rapid.T) {
	if m.current == nil || m.isEnding(m.current.ID) {
		t.Skip("none is being spoken")
	}
	_, s := m.Played("anna", m.conditions())
	m.do(s)
	switch rapid.IntRange(0, 2).Draw(t, "until") {
	case 0:
		m.finish(announce.Done)
	case 1:
		s := m.Interrupt(m.conditions())
		m.do(s)
		m.Rest(1)
		if ok, s := m.Requeue(s.Stop == nil, m.conditions()); ok {
			m.do(s)
			m.current = nil
		} else {
			m.finish(announce.Cancelled)
		}
	}
}

// finish ends the current announcement, or has it wait for its next repetition.
func (m *model) finish(status announce.Status) {
	if next, ok := m.NextRepetition(m.conditions()); ok && status == announce.Done {
		var s announce.Step
		if status, s = m.Repeat(next, m.conditions()); status == announce.Scheduled {
			m.do(s)
			m.current = nil
			return
		}
	}
	m.end(m.current.ID, status)
}

func (m *model) cancel(t *rapid.T) {
	s, err := m.Cancel(m.accepted[index(t, len(m.accepted))], m.conditions())
	if err == nil && s.Stop != nil {
		m.end(m.current.ID, announce.Cancelled) // once its sound has stopped
	}
	m.do(s)
}

func (m *model) acknowledge(t *rapid.T) {
	s, _ := m.Acknowledge(m.accepted[index(t, len(m.accepted))], m.conditions())
	m.do(s)
}

func (m *model) switchQuiet(t *rapid.T) {
	m.quiet.Active = !m.quiet.Active
	m.quiet.Mode = rapid.SampledFrom([]policy.Mode{policy.Silence, policy.Hold, policy.Soft}).Draw(t, "mode")
	m.quiet.Until = m.now.Add(40 * time.Second)
	m.do(m.Reconsider(m.conditions()))
}

// pass lets time pass, as far as the next event.
func (m *model) pass(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(1, 70).Draw(t, "seconds")) * time.Second)
	if !m.next.IsZero() && m.now.After(m.next) {
		m.now = m.next
	}
	m.advance()
}

// advance does what is due. Nothing is, unless a step has said so.
func (m *model) advance() {
	expected := m.due || !m.next.IsZero() && !m.now.Before(m.next)
	m.due = false
	next, s := m.Advance(m.conditions())
	check.Require(m.t, expected || len(s.Ends)+len(s.Events) <= 0, "something was due before %s: %+v", m.next, s)
	if s.Stop != nil {
		m.end(m.current.ID, announce.Expired)
	}
	m.next = next
	m.do(s)
}

// check compares the queue with what its events have told.
func (m *model) check(t *rapid.T) {
	m.peek(t)
	l := m.List(m.conditions())
	seen := map[string]bool{}
	for _, v := range slices.Concat(l.Queue, l.Scheduled, l.Recent) {
		if seen[v.ID] || m.published[v.ID] != v.Status {
			t.Fatalf("%s is listed twice, or %s and published as %s", v.ID, v.Status, m.published[v.ID])
		}
		seen[v.ID] = true
		final := m.final[v.ID]
		check.Require(t, final == "" || final == v.Status, "%s ended as %s and is %s", v.ID, final, v.Status)
	}
	check.Require(t, len(seen) == len(m.accepted), "%d of %d announcements are listed", len(seen), len(m.accepted))
	for i, v := range l.Queue {
		if *v.Position != i {
			t.Fatalf("%s has position %d instead of %d", v.ID, *v.Position, i)
		}
		if i > 0 && l.Queue[i-1].Status == announce.Queued {
			m.checkOrder(t, l.Queue[i-1].Announcement, v.Announcement)
		}
	}
}

// checkOrder checks that one announcement waits before another: by urgency, then the low ones last, then those
// first of which a part has been spoken, then by acceptance.
func (m *model) checkOrder(t *rapid.T, before, after announce.Announcement) {
	low := func(a announce.Announcement) bool { return !a.Urgent && a.Priority == policy.Low }
	resumed := before.Sentence > 0 || after.Sentence > 0
	switch {
	case before.Urgent != after.Urgent:
		if before.Urgent {
			return
		}
	case low(before) != low(after):
		if low(after) {
			return
		}
	case resumed || before.Seq < after.Seq:
		return
	}
	t.Fatalf("%s waits before %s", before.ID, after.ID)
}

// Whatever happens in whatever order: every announcement is in one list, as its latest event told, ends once,
// is due when the queue said so, and is not spoken late or in quiet. In the end, all have ended.
func TestQueue_model(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"": m.check, "post": m.post, "save": m.save, "endSaved": m.endSaved, "take": m.take, "play": m.play,
			"cancel": m.cancel, "acknowledge": m.acknowledge, "quiet": m.switchQuiet, "pass": m.pass,
		})
		m.quiet.Active = false
		m.do(m.Reconsider(m.conditions()))
		for len(m.final) < len(m.accepted) {
			before := m.now
			if m.advance(); !m.next.IsZero() && m.now.Before(m.next) {
				m.now = m.next
			}
			if m.current == nil {
				m.take(t)
			}
			if m.current != nil && len(m.ending) == 0 {
				m.finish(announce.Done)
			}
			if len(m.ending) > 0 {
				m.endSaved(t)
			} else if m.now.Equal(before) && m.current == nil && !m.due {
				t.Fatalf("%d announcements never end: %+v", len(m.accepted)-len(m.final), m.List(m.conditions()))
			}
		}
	})
}

// A limited client has half of the places of the queue, and 50 of the planned announcements, also of those that are
// being saved and of those that a store had; others have theirs, and one that is not limited has all.
func TestQueue_shares(t *testing.T) {
	t.Parallel()
	c := announce.Conditions{Config: announce.Config{Max: 7, Volume: 100}, Now: time.Unix(1, 0), ClockSet: true}
	var q announce.Queue
	q.Load(nil, nil, c)
	posted := 0
	// post posts as many as are accepted, at most 210, and compares their number and why no other one is.
	post := func(client string, urgent bool, in time.Duration, want int, why string) {
		t.Helper()
		n := 0
		var err error
		for ; err == nil && n < 210; n++ {
			ann := announce.Announcement{ID: fmt.Sprint(posted), Created: c.Now, At: c.Now.Add(in)}
			ann.Expires = ann.At.Add(time.Hour)
			ann.Urgent, ann.Sender.Client = urgent, client
			posted++
			if ann, err = q.Reserve(ann, client != "free", c); err == nil && posted%2 == 0 {
				q.Enqueue(ann.ID, c)
			}
		}
		got := fmt.Sprint(n-1, " ", err)
		check.Equal(t, got, fmt.Sprint(want, " ", why), "%s, urgent: %t, in %v", client, urgent, in)
	}
	const half = "this client has %d announcements in the queue, at most half of QUEUE_MAX_SIZE"
	post("a", false, 0, 4, fmt.Sprintf(half, 3)) // the first of them is the current one
	post("b", false, 0, 3, fmt.Sprintf(half, 3))
	post("c", false, 0, 1, announce.ErrFull.Error())
	post("free", false, 0, 0, announce.ErrFull.Error())
	post("a", true, 0, 5, fmt.Sprintf(half, 8))
	post("free", true, 0, 5, announce.ErrFull.Error())
	const planned = "this client has 50 scheduled or repeated announcements, at most 50 are permitted"
	post("a", false, time.Hour, 50, planned)
	post("b", false, time.Hour, 50, planned)
	post("free", false, time.Hour, 100, announce.ErrScheduleFull.Error())

	var stored []announce.Announcement
	for _, v := range slices.Concat(q.List(c).Scheduled, q.List(c).Queue) {
		stored = append(stored, v.Announcement)
	}
	q = announce.Queue{}
	q.Load(stored, nil, c)
	c.Max = 14 // and 9 are loaded, half of those that were posted
	post("b", false, time.Hour, 25, planned)
	post("b", true, 0, 10, fmt.Sprintf(half, 12))
}
