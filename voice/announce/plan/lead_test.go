package plan_test

import (
	"testing"
	"time"

	"pressbox/packaging/check"
	"pressbox/voice/announce/plan"
)

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
