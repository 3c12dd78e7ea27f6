package plan_test

import (
	"math"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/voice/announce/plan"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestFor_chime(t *testing.T) {
	t.Parallel()
	before := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, tt := range []struct {
		name string
		o    plan.Occasion
		want audio.Chime
	}{
		{"default", plan.Occasion{}, audio.Ding},
		{"urgent", plan.Occasion{Urgent: true, Default: audio.Alert}, audio.Alert},
		{"default none", plan.Occasion{Default: audio.NoChime}, audio.NoChime},
		{"requested", plan.Occasion{Chime: audio.DingDong}, audio.DingDong},
		{"requested none", plan.Occasion{Chime: audio.NoChime}, audio.NoChime},

		{"4.999 s after another", plan.Occasion{Last: before(4999 * time.Millisecond)}, audio.NoChime},
		{"5 s after another", plan.Occasion{Last: before(5 * time.Second)}, audio.Ding},
		{"right after another", plan.Occasion{Last: now}, audio.NoChime},
		{"urgent after another", plan.Occasion{Urgent: true, Default: audio.Alert, Last: now}, audio.Alert},
		{"urgent in soft quiet", plan.Occasion{Urgent: true, Default: audio.Alert, Soft: true}, audio.Alert},
		{"urgent, resumed", plan.Occasion{Urgent: true, Default: audio.Alert, Resumed: true}, audio.Alert},
		{"urgent, requested, resumed", plan.Occasion{Urgent: true, Chime: audio.Ding, Resumed: true}, audio.Ding},
		{"urgent, none", plan.Occasion{Urgent: true, Chime: audio.NoChime, Default: audio.Alert}, audio.NoChime},
		{"requested after another", plan.Occasion{Chime: audio.DingDong, Last: now}, audio.DingDong},
		{"the clock was set back", plan.Occasion{Last: now.Add(time.Hour)}, audio.NoChime},

		{"soft", plan.Occasion{Soft: true}, audio.NoChime},
		{"low", plan.Occasion{Low: true}, audio.NoChime},
		{"comment", plan.Occasion{Comment: true}, audio.NoChime},
		{"requested in soft quiet", plan.Occasion{Soft: true, Chime: audio.Ding}, audio.Ding},
		{"requested, low", plan.Occasion{Low: true, Chime: audio.Ding}, audio.Ding},

		{"resumed", plan.Occasion{Resumed: true}, audio.Cue},
		{"requested, resumed", plan.Occasion{Resumed: true, Chime: audio.Ding}, audio.Cue},
		{"resumed in soft quiet", plan.Occasion{Resumed: true, Soft: true}, audio.NoChime},
		{"resumed, requested none", plan.Occasion{Resumed: true, Chime: audio.NoChime}, audio.NoChime},
		{"resumed, default none", plan.Occasion{Resumed: true, Default: audio.NoChime}, audio.NoChime},
	} {
		o := tt.o
		o.Now, o.Volume = now, 100
		if o.Default == "" {
			o.Default = audio.Ding
		}
		check.Equal(t, plan.For(o).Chime, tt.want, "%s", tt.name)
	}
	check.Equal(t, plan.For(plan.Occasion{Now: now}).Chime, audio.NoChime, "without a default")
}

func TestFor_levels(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		o     plan.Occasion
		gain  float32
		lower float64
	}{
		{plan.Occasion{Volume: 100, Duck: -20}, 1, 0.1},
		{plan.Occasion{Volume: 50, Duck: -6}, 0.5, 0.501},
		{plan.Occasion{Volume: 100, Urgent: true, Duck: -20}, 1.5, 0.1},
		{plan.Occasion{Volume: 40, Urgent: true}, 0.6, 1},
		{plan.Occasion{Volume: 100, Comment: true, Duck: -20}, 1, 0.1},
		{plan.Occasion{Volume: 100, Duck: 0}, 1, 1},
		{plan.Occasion{Volume: 100, Duck: 6}, 1, 1},
		{plan.Occasion{Volume: 0, Duck: -20}, 0, 1}, // nothing is audible
	} {
		p := plan.For(tt.o)
		check.That(t, math.Abs(float64(p.Gain-tt.gain)) <= 1e-6 && math.Abs(p.Lower-tt.lower) <= 1e-3,
			"%+v: gain %v, others at %v; want %v and %v", tt.o, p.Gain, p.Lower, tt.gain, tt.lower)
	}
}

// Two announcements are 0.8 s apart, from the end of the first; an urgent one does not wait.
func TestFor_wait(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		o    plan.Occasion
		want time.Duration
	}{
		{plan.Occasion{}, 0},
		{plan.Occasion{Last: now}, 800 * time.Millisecond},
		{plan.Occasion{Last: now.Add(-300 * time.Millisecond)}, 500 * time.Millisecond},
		{plan.Occasion{Last: now.Add(-800 * time.Millisecond)}, 0},
		{plan.Occasion{Last: now.Add(-time.Minute)}, 0},
		{plan.Occasion{Last: now, Urgent: true}, 0},
	} {
		tt.o.Now, tt.o.Between = now, 800*time.Millisecond
		p := plan.For(tt.o)
		check.Equal(t, p.Wait, tt.want, "%+v", tt.o)
		check.Equal(t, len(p.Prelude(1000, nil)), int(tt.want.Milliseconds()), "samples of the prelude of %+v", tt.o)
	}
}

// The samples: the chime, 0.15 to 0.25 s of silence, the speech.
func TestPlan_samples(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{8000, 22050, 48000} {
		for _, chime := range audio.Chimes() {
			p := plan.Plan{Chime: chime}
			prelude := p.Prelude(rate, nil)
			bell := chime.Samples(rate)
			if chime == audio.NoChime {
				check.That(t, len(prelude) == 0, "without a chime, the speech begins at sample %d", len(prelude))
				continue
			}
			for i, s := range bell {
				check.Require(t, prelude[i] == s,
					"%s at %d Hz: sample %d is %v, want %v", chime, rate, i, prelude[i], s)
			}
			for i, s := range prelude[len(bell):] {
				check.Require(t, s == 0, "%s at %d Hz: sample %d of the gap is %v", chime, rate, i, s)
			}
			check.Equal(t, len(prelude)-len(bell), rate/5, "%s at %d Hz: samples before the speech", chime, rate)
		}
	}
}

func TestTimeline_unplayed(t *testing.T) {
	t.Parallel()
	const second = time.Second
	var timeline plan.Timeline
	n, ok := timeline.Unplayed(0)
	check.That(t, !ok && timeline.Last() == -1 && timeline.End() == 0, "empty: %d, %v", n, ok)
	timeline.Add(2, second)   // the chime and a clause
	timeline.Add(2, second)   // another clause
	timeline.Add(4, second/5) // the pause; sentence 3 has no speech
	timeline.Add(4, 2*second) //
	for _, tt := range []struct {
		played time.Duration
		want   int
		ok     bool
	}{
		{0, 2, true},
		{second, 2, true},
		{2*second - 1, 2, true},
		{2 * second, 4, true},
		{2*second + second/10, 4, true},
		{4*second + second/5 - 1, 4, true},
		{4*second + second/5, 0, false},
		{math.MaxInt64, 0, false},
	} {
		if n, ok := timeline.Unplayed(tt.played); n != tt.want || ok != tt.ok {
			t.Errorf("after %v: sentence %d, %v; want %d, %v", tt.played, n, ok, tt.want, tt.ok)
		}
	}
	check.That(t, timeline.Last() == 4 && timeline.End() == 4*second+second/5,
		"it ends with sentence %d after %v", timeline.Last(), timeline.End())
}

// of returns segments of so many seconds in a sentence.
func of(sentence int, seconds ...float64) []plan.Segment {
	var all []plan.Segment
	for _, s := range seconds {
		all = append(all, plan.Segment{Sentence: sentence, Length: time.Duration(s * float64(time.Second))})
	}
	return all
}

// lead is short, for the rows of a table.
type lead = plan.Lead

func TestLead_mayPlay(t *testing.T) {
	t.Parallel()
	const late = 15 * time.Second
	for name, tt := range map[string]struct {
		lead plan.Lead
		play bool
		more bool // may be synthesized
	}{
		"nothing":                        {lead{}, false, true},
		"all":                            {lead{Ready: of(0, 1), Factor: 9}, true, true},
		"quick":                          {lead{Ready: of(0, 1), Rest: of(0, 8), Factor: 0.1}, true, false},
		"quick, long rest":               {lead{Ready: of(0, 1), Rest: of(0, 9), Factor: 0.1}, false, true},
		"as long, not yet":               {lead{Ready: of(0, 1), Rest: of(0, 1), Factor: 1}, false, true},
		"as long":                        {lead{Ready: of(0, 1, 1), Rest: of(0, 1), Factor: 1}, true, true},
		"slow, not yet":                  {lead{Ready: of(0, 4), Rest: of(0, 1, 1), Factor: 3}, false, true},
		"slow":                           {lead{Ready: of(0, 6.3), Rest: of(0, 1, 1), Factor: 3}, true, true},
		"sentence ready, not the rest":   {lead{Ready: of(0, 2), Rest: of(1, 2), Factor: 3}, false, true},
		"the same after 15 s":            {lead{Ready: of(0, 2), Rest: of(1, 2), Factor: 3, Spent: late}, true, true},
		"sentence not ready after 15 s":  {lead{Ready: of(0, 2), Rest: of(0, 2), Factor: 3, Spent: late}, false, true},
		"in a sentence":                  {lead{Ready: of(0, 2), Rest: of(0, 2), Factor: 3, Begun: true}, true, true},
		"next sentence, not yet":         {lead{Ready: of(1, 2), Rest: of(1, 2), Factor: 3, Begun: true}, false, true},
		"next sentence, not the rest":    {lead{Ready: of(1, 2), Rest: of(2, 2), Factor: 3, Begun: true}, true, true},
		"a minute is ready":              {lead{Ready: of(0, 60), Rest: of(0, 600), Factor: 3}, true, false},
		"nearly a minute is ready":       {lead{Ready: of(0, 59), Rest: of(0, 600), Factor: 3}, false, true},
		"lazy up to half of the length":  {lead{Ready: of(0, 2), Rest: of(0, 2), Factor: 0.5}, true, false},
		"eager above half of the length": {lead{Ready: of(0, 2), Rest: of(0, 2), Factor: 0.51}, true, true},
	} {
		check.Equal(t, tt.lead.MayPlay(), tt.play, "%s: may play", name)
		check.Equal(t, tt.lead.MaySynthesize(), tt.more, "%s: may synthesize", name)
	}
}

func TestSpeed_recent(t *testing.T) {
	t.Parallel()
	var s plan.Speed
	check.Equal(t, s.Factor("anna"), 0, "without a measurement")
	s = s.Add("anna", 3*time.Second, time.Second)
	check.Equal(t, s.Factor("anna"), 3, "three seconds for one")
	check.Equal(t, s.Factor("bert"), 0, "another voice")
	for range 60 {
		s = s.Add("anna", time.Second, 10*time.Second)
	}
	got := s.Factor("anna")
	check.That(t, got >= 0.099 && got <= 0.11, "after 600 s at 0.1: %v", got)
	check.Equal(t, s.Add("bert", time.Second, time.Second).Factor("bert"), 1, "a new voice")
}
