package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"pressbox/auth"
	"pressbox/voice/announce"
	"pressbox/voice/control/cron"
)

// Limits of schedules.
const (
	MaxSchedules  = 100
	MaxPerCreator = 20
	MaxName       = 100 // characters of a schedule's name
	MaxExcept     = 100 // dates on which a schedule is not spoken
)

// Errors of schedules.
var (
	ErrNoSchedule    = errors.New("no such schedule")
	ErrNothingToSkip = errors.New("the schedule is never due: it is disabled, or the clock is not set")
	ErrManySchedules = fmt.Errorf("there are %d schedules already", MaxSchedules)
	ErrOwnSchedules  = fmt.Errorf("this client has made %d schedules already", MaxPerCreator)
)

// A Plan is a schedule as a client sends it.
//
//	{"name": "Wake up", "cron": "30 6 * * mon-fri", "message": "Good morning."}
type Plan struct {
	Name string `json:"name" required:"true" maxLength:"200"` // 1 to 100 characters after trimming
	// Minute, hour, day of month, month and day of week, as in crontab(5); names such as mon-fri are accepted.
	Cron     string `json:"cron" required:"true" maxLength:"200"`
	TimeZone string `json:"time_zone,omitempty" maxLength:"64"` // such as Europe/Berlin; default: the host's
	Enabled  bool   `json:"enabled" default:"true"`
	// Dates in its time zone on which it is not spoken; past ones are dropped.
	Except []string `json:"except,omitempty" maxItems:"100" example:"[\"2026-12-24\"]"`
	announce.Payload
}

// A Schedule is a stored plan.
type Schedule struct {
	ID string `json:"id"`
	Plan
	Creator string    `json:"creator"`       // the client that made it
	Next    time.Time `json:"next,omitzero"` // when it is due; zero: never, or the clock is not set
	Skip    time.Time `json:"skip,omitzero"` // a time that is left out; zero: none

	expr cron.Expr
	zone *time.Location // nil means the host's
}

// parse reads the times of the plan, and returns every violation.
func (s *Schedule) parse() []announce.Violation {
	var wrong []announce.Violation
	add := func(path, code, detail string) {
		wrong = append(wrong, announce.Violation{Path: path, Code: code, Detail: detail})
	}
	if n := utf8.RuneCountInString(strings.TrimSpace(s.Name)); n == 0 || n > MaxName {
		add("name", announce.CodeOutOfRange, fmt.Sprintf("must have 1 to %d characters", MaxName))
	}
	if v, ok := announce.ControlViolation("name", s.Name); ok {
		wrong = append(wrong, v)
	}
	var err error
	if s.expr, err = cron.Parse(s.Cron); err != nil {
		add("cron", codeInvalid, err.Error())
	}
	s.zone = nil
	if s.TimeZone != "" {
		if s.zone, err = time.LoadLocation(s.TimeZone); err != nil || s.TimeZone == "Local" {
			add("time_zone", codeInvalid, "must be a name of the host's time zone database, such as Europe/Berlin")
		}
	}
	if len(s.Except) > MaxExcept {
		add("except", announce.CodeOutOfRange, fmt.Sprintf("must have at most %d dates", MaxExcept))
	}
	for i, date := range s.Except {
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			add(fmt.Sprintf("except/%d", i), codeInvalidDate, "must be a date such as 2026-12-24")
		}
	}
	return wrong
}

// Codes of violations.
const (
	codeInvalid     = "invalid"
	codeInvalidDate = "invalid_date"
)

// after returns when the schedule is due after a moment; zero if it is disabled.
func (s *Schedule) after(t time.Time) time.Time {
	if !s.Enabled {
		return time.Time{}
	}
	for next := s.expr.Next(s.local(t)); !next.IsZero(); {
		switch year, month, day := next.Date(); {
		case slices.Contains(s.Except, next.Format(time.DateOnly)):
			next = s.expr.Next(time.Date(year, month, day+1, 0, 0, 0, -1, next.Location()))
		case next.Equal(s.Skip):
			next = s.expr.Next(next)
		default:
			return next.UTC()
		}
	}
	return time.Time{}
}

// local returns a moment in the time zone of the schedule.
func (s *Schedule) local(t time.Time) time.Time {
	if s.zone == nil {
		return t.In(time.Local)
	}
	return t.In(s.zone)
}

// forget drops what is past: dates, and a time that was left out.
func (s *Schedule) forget(now time.Time) {
	today := s.local(now).Format(time.DateOnly)
	s.Except = slices.DeleteFunc(slices.Clone(s.Except), func(date string) bool { return date < today })
	if !s.Skip.After(now) {
		s.Skip = time.Time{}
	}
}

// An Announcer accepts the announcements of schedules.
type Announcer interface {
	Announce(ctx context.Context, r announce.Request) (announce.View, error)
	Check(r announce.Request) (announce.Announcement, error)
}

// ScheduleParts holds the parts that [Schedules] use; all are required.
type ScheduleParts struct {
	Repository Repository
	Announcer  Announcer
	Hub        *Hub             // where changes are published
	Now        func() time.Time // the wall clock
	ClockSet   func() bool      // whether it is set: until then nothing is due
	Log        *slog.Logger
}

// Schedules create announcements at their times. The methods may be called concurrently.
type Schedules struct {
	ScheduleParts

	changed  chan struct{} // capacity 1: Run must look again
	clockSet chan struct{} // capacity 1: the wall clock was set

	saving sync.Mutex // held while a change is saved and applied; taken before mu

	mu  sync.Mutex // guards all
	all map[string]*Schedule
}

// NewSchedules returns the schedules of a repository. It starts nothing. An unreadable schedule is logged and
// not listed; one whose time zone the host does not know any more is disabled.
func NewSchedules(p ScheduleParts) (*Schedules, error) {
	s := &Schedules{
		ScheduleParts: p, changed: make(chan struct{}, 1), clockSet: make(chan struct{}, 1),
		all: map[string]*Schedule{},
	}
	records, err := p.Repository.Controls(context.Background())
	if err != nil {
		return nil, fmt.Errorf("read the schedules: %w", err)
	}
	for key, data := range records {
		if !strings.HasPrefix(key, schedulePrefix) {
			continue
		}
		one := &Schedule{}
		if err := json.Unmarshal(data, one); err != nil {
			p.Log.Error("a control cannot be read", "key", key, "err", err)
			continue
		}
		if wrong := one.parse(); len(wrong) > 0 {
			p.Log.Error("a schedule is disabled", "schedule", one.ID, "err", wrong[0].Detail)
			one.Enabled, one.Next = false, time.Time{}
		}
		s.all[one.ID] = one
	}
	return s, nil
}

// List returns the schedules, those that are due first at the beginning.
func (s *Schedules) List() []Schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Schedule, 0, len(s.all))
	for _, one := range s.all {
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b Schedule) int {
		if a.Next.IsZero() != b.Next.IsZero() {
			return b.Next.Compare(a.Next) // those that are never due come last
		}
		return cmp.Or(a.Next.Compare(b.Next), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Find returns a schedule, or [ErrNoSchedule].
func (s *Schedules) Find(id string) (Schedule, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[id]
	if !ok {
		return Schedule{}, ErrNoSchedule
	}
	return *one, nil
}

// Create saves a new schedule of a client. Its errors are an [*announce.RequestError] that lists every
// violation, [ErrManySchedules], [ErrOwnSchedules], or they wrap [ErrUnavailable].
func (s *Schedules) Create(ctx context.Context, creator string, p Plan) (Schedule, error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	one := &Schedule{ID: auth.NewID(), Plan: p, Creator: creator}
	if err := s.prepare(one, nil); err != nil {
		return Schedule{}, err
	}
	if err := s.checkRoom(creator); err != nil {
		return Schedule{}, err
	}
	return *one, s.put(ctx, one)
}

// Replace saves another plan for a schedule. Its errors are those of Create, and [ErrNoSchedule]. Content that
// stays the same is not checked again: its voice may have been removed, and the default voice speaks it. A time that is
// left out stays so unless the times change.
func (s *Schedules) Replace(ctx context.Context, id string, p Plan) (Schedule, error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	old, err := s.Find(id)
	if err != nil {
		return Schedule{}, err
	}
	one := &Schedule{ID: id, Plan: p, Creator: old.Creator}
	if p.Cron == old.Cron && p.TimeZone == old.TimeZone {
		one.Skip = old.Skip
	}
	if err := s.prepare(one, &old.Payload); err != nil {
		return Schedule{}, err
	}
	return *one, s.put(ctx, one)
}

// Skip leaves out the next time of a schedule, unless one is left out already. Its errors are [ErrNoSchedule],
// [ErrNothingToSkip], or wrap [ErrUnavailable].
func (s *Schedules) Skip(ctx context.Context, id string) (Schedule, error) {
	return s.edit(ctx, id, func(one *Schedule) error {
		if one.Next.IsZero() {
			return ErrNothingToSkip
		}
		if one.Skip.IsZero() {
			one.Skip = one.Next
		}
		return nil
	})
}

// Restore undoes [Schedules.Skip]. Its errors are [ErrNoSchedule], or wrap [ErrUnavailable].
func (s *Schedules) Restore(ctx context.Context, id string) (Schedule, error) {
	return s.edit(ctx, id, func(one *Schedule) error {
		one.Skip = time.Time{}
		return nil
	})
}

// edit changes what a schedule leaves out, and saves it.
func (s *Schedules) edit(ctx context.Context, id string, change func(*Schedule) error) (Schedule, error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	one, err := s.Find(id)
	if err != nil {
		return Schedule{}, err
	}
	now := s.Now()
	one.forget(now)
	if err := change(&one); err != nil {
		return Schedule{}, err
	}
	if !one.Next.IsZero() {
		one.Next = one.after(now)
	}
	return one, s.put(ctx, &one)
}

// prepare checks the plan of a schedule and sets when it is due. It does not check a content that equals saved.
func (s *Schedules) prepare(one *Schedule, saved *announce.Payload) error {
	wrong := &announce.RequestError{Violations: one.parse()}
	var err error
	if saved == nil || !one.Equal(*saved) {
		_, err = s.Announcer.Check(one.Request())
	}
	if invalid, ok := errors.AsType[*announce.RequestError](err); ok {
		wrong.Violations, wrong.Voice = append(wrong.Violations, invalid.Violations...), invalid.Voice
	} else if err != nil {
		return err
	}
	if len(wrong.Violations) > 0 {
		return wrong
	}
	one.Name = strings.TrimSpace(one.Name)
	if s.ClockSet() {
		one.forget(s.Now())
		one.Next = one.after(s.Now())
	}
	return nil
}

// checkRoom returns an error if there are too many schedules.
func (s *Schedules) checkRoom(creator string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := 0
	for _, one := range s.all {
		if one.Creator == creator {
			own++
		}
	}
	switch {
	case len(s.all) >= MaxSchedules:
		return ErrManySchedules
	case own >= MaxPerCreator:
		return ErrOwnSchedules
	}
	return nil
}

// put saves and applies a schedule. s.saving must be held.
func (s *Schedules) put(ctx context.Context, one *Schedule) error {
	if err := saveRecord(ctx, s.Repository, schedulePrefix+one.ID, one); err != nil {
		return err
	}
	s.mu.Lock()
	s.all[one.ID] = one
	s.mu.Unlock()
	s.notify()
	return nil
}

// Delete deletes a schedule, or returns [ErrNoSchedule] or an error that wraps [ErrUnavailable].
func (s *Schedules) Delete(ctx context.Context, id string) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	if _, err := s.Find(id); err != nil {
		return err
	}
	if err := s.Repository.SaveControl(ctx, schedulePrefix+id, nil); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	s.mu.Lock()
	delete(s.all, id)
	s.mu.Unlock()
	s.notify()
	return nil
}

// notify wakes Run and the watchers.
func (s *Schedules) notify() {
	signal(s.changed)
	s.Hub.Publish(ChangedSchedules)
}
