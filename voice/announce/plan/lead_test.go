package plan_test

import (
	"testing"
	"time"

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
	for name, tt := range map[string]struct {
		lead plan.Lead
		play bool
		more bool // may be synthesized
	}{
		"nothing":                      {lead{}, false, true},
		"all":                          {lead{Ready: of(0, 1), Factor: 9}, true, true},
		"quick":                        {lead{Ready: of(0, 1), Rest: of(0, 8), Factor: 0.1}, true, false},
		"quick, long rest":             {lead{Ready: of(0, 1), Rest: of(0, 9), Factor: 0.1}, false, true},
		"as long, not yet":             {lead{Ready: of(0, 1), Rest: of(0, 1), Factor: 1}, false, true},
		"as long":                      {lead{Ready: of(0, 1, 1), Rest: of(0, 1), Factor: 1}, true, true},
		"slow, not yet":                {lead{Ready: of(0, 4), Rest: of(0, 1, 1), Factor: 3}, false, true},
		"slow":                         {lead{Ready: of(0, 6.3), Rest: of(0, 1, 1), Factor: 3}, true, true},
		"sentence ready, not the rest": {lead{Ready: of(0, 2), Rest: of(1, 2), Factor: 3}, false, true},
		"the same after 15 s": {
			lead{Ready: of(0, 2), Rest: of(1, 2), Factor: 3, Spent: 15 * time.Second}, true, true,
		},
		"sentence not ready after 15 s": {
			lead{Ready: of(0, 2), Rest: of(0, 2), Factor: 3, Spent: 15 * time.Second}, false, true,
		},
		"in a sentence":                  {lead{Ready: of(0, 2), Rest: of(0, 2), Factor: 3, Begun: true}, true, true},
		"next sentence, not yet":         {lead{Ready: of(1, 2), Rest: of(1, 2), Factor: 3, Begun: true}, false, true},
		"next sentence, not the rest":    {lead{Ready: of(1, 2), Rest: of(2, 2), Factor: 3, Begun: true}, true, true},
		"a minute is ready":              {lead{Ready: of(0, 60), Rest: of(0, 600), Factor: 3}, true, false},
		"nearly a minute is ready":       {lead{Ready: of(0, 59), Rest: of(0, 600), Factor: 3}, false, true},
		"lazy up to half of the length":  {lead{Ready: of(0, 2), Rest: of(0, 2), Factor: 0.5}, true, false},
		"eager above half of the length": {lead{Ready: of(0, 2), Rest: of(0, 2), Factor: 0.51}, true, true},
	} {
		if got := tt.lead.MayPlay(); got != tt.play {
			t.Errorf("%s: may play %t", name, got)
		}
		if got := tt.lead.MaySynthesize(); got != tt.more {
			t.Errorf("%s: may synthesize %t", name, got)
		}
	}
}

func TestSpeed_recent(t *testing.T) {
	t.Parallel()
	var s plan.Speed
	if got := s.Factor("anna"); got != 0 {
		t.Errorf("without a measurement: %v", got)
	}
	s = s.Add("anna", 3*time.Second, time.Second)
	if got := s.Factor("anna"); got != 3 {
		t.Errorf("%v, want 3", got)
	}
	if got := s.Factor("bert"); got != 0 {
		t.Errorf("another voice: %v", got)
	}
	for range 60 {
		s = s.Add("anna", time.Second, 10*time.Second)
	}
	if got := s.Factor("anna"); got < 0.099 || got > 0.11 {
		t.Errorf("after 600 s at 0.1: %v", got)
	}
	if got := s.Add("bert", time.Second, time.Second).Factor("bert"); got != 1 {
		t.Errorf("a new voice: %v, want 1", got)
	}
}
