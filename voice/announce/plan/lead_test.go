package plan_test

import (
	"testing"
	"time"

	"pressbox/voice/announce/plan"

	"pressbox/packaging/check"
)

// segments returns segments of so many seconds in a sentence.
func segments(sentence int, seconds ...float64) []plan.Segment {
	var all []plan.Segment
	for _, s := range seconds {
		all = append(all, plan.Segment{Sentence: sentence, Length: time.Duration(s * float64(time.Second))})
	}
	return all
}

func TestLead_mayPlay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lead plan.Lead
		play bool
		more bool // may be synthesized
	}{
		"nothing":                        {plan.Lead{}, false, true},
		"all":                            {plan.Lead{Ready: segments(0, 1), Factor: 9}, true, true},
		"quick":                          {plan.Lead{Ready: segments(0, 1), Rest: segments(0, 8), Factor: 0.1}, true, false},
		"quick, long rest":               {plan.Lead{Ready: segments(0, 1), Rest: segments(0, 9), Factor: 0.1}, false, true},
		"as long, not yet":               {plan.Lead{Ready: segments(0, 1), Rest: segments(0, 1), Factor: 1}, false, true},
		"as long":                        {plan.Lead{Ready: segments(0, 1, 1), Rest: segments(0, 1), Factor: 1}, true, true},
		"slow, not yet":                  {plan.Lead{Ready: segments(0, 4), Rest: segments(0, 1, 1), Factor: 3}, false, true},
		"slow":                           {plan.Lead{Ready: segments(0, 6.3), Rest: segments(0, 1, 1), Factor: 3}, true, true},
		"sentence ready, not the rest":   {plan.Lead{Ready: segments(0, 2), Rest: segments(1, 2), Factor: 3}, false, true},
		"the same after 15 s":            {plan.Lead{Ready: segments(0, 2), Rest: segments(1, 2), Factor: 3, Spent: 15 * time.Second}, true, true},
		"sentence not ready after 15 s":  {plan.Lead{Ready: segments(0, 2), Rest: segments(0, 2), Factor: 3, Spent: 15 * time.Second}, false, true},
		"in a sentence":                  {plan.Lead{Ready: segments(0, 2), Rest: segments(0, 2), Factor: 3, Begun: true}, true, true},
		"next sentence, not yet":         {plan.Lead{Ready: segments(1, 2), Rest: segments(1, 2), Factor: 3, Begun: true}, false, true},
		"next sentence, not the rest":    {plan.Lead{Ready: segments(1, 2), Rest: segments(2, 2), Factor: 3, Begun: true}, true, true},
		"a minute is ready":              {plan.Lead{Ready: segments(0, 60), Rest: segments(0, 600), Factor: 3}, true, false},
		"nearly a minute is ready":       {plan.Lead{Ready: segments(0, 59), Rest: segments(0, 600), Factor: 3}, false, true},
		"lazy up to half of the length":  {plan.Lead{Ready: segments(0, 2), Rest: segments(0, 2), Factor: 0.5}, true, false},
		"eager above half of the length": {plan.Lead{Ready: segments(0, 2), Rest: segments(0, 2), Factor: 0.51}, true, true},
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
