package announcer

import (
	"cmp"
	"context"
	"sync"
	"time"

	"pressbox/voice/announce"
	"pressbox/voice/announce/plan"
)

// A madeClip is a clip and the time that its synthesis took.
type madeClip struct {
	announce.Clip
	spent time.Duration
}

// A speedometer measures the synthesis of all announcements.
type speedometer struct {
	mu    sync.Mutex // guards speed
	speed plan.Speed
}

func (m *speedometer) add(c madeClip) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.speed = m.speed.Add(c.Voice, c.spent, c.Duration())
}

func (m *speedometer) factor(voice string) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.speed.Factor(voice)
}

// A lookahead passes the clips of one synthesis on as [plan.Lead] decides.
type lookahead struct {
	all   *speedometer
	lead  plan.Lead
	clips []announce.Clip // those of lead.Ready
	// The first clip may include the time to load a model, so that it counts only until there are others.
	first, later plan.Speed
	count        int
}

// pass sends the clips to out until made is closed, which it waits for, or ctx ends. It reports whether it has
// sent all.
func (l *lookahead) pass(ctx context.Context, made <-chan madeClip, out chan<- announce.Clip) bool {
	for open := true; open || len(l.clips) > 0; {
		var in <-chan madeClip
		if open && l.lead.MaySynthesize() {
			in = made
		}
		var ready chan<- announce.Clip
		var next announce.Clip
		if len(l.clips) > 0 && (!open || l.lead.MayPlay()) {
			ready, next = out, l.clips[0]
		}
		select {
		case c, ok := <-in:
			if open = ok; ok {
				l.add(c)
			}
		case ready <- next:
			l.remove()
		case <-ctx.Done():
			for open {
				_, open = <-made
			}
			return false
		}
	}
	return true
}

// add adds a clip that was synthesized.
func (l *lookahead) add(c madeClip) {
	if l.count++; l.count == 1 {
		l.first = l.first.Add(c.Voice, c.spent, c.Duration())
	} else {
		l.later = l.later.Add(c.Voice, c.spent, c.Duration())
		l.all.add(c)
	}
	l.lead.Factor = cmp.Or(max(l.all.factor(c.Voice), l.later.Factor(c.Voice)), l.first.Factor(c.Voice))
	l.lead.Spent += c.spent
	l.lead.Rest = c.Rest
	l.lead.Ready = append(l.lead.Ready, plan.Segment{Sentence: c.Sentence, Length: c.Duration()})
	l.clips = append(l.clips, c.Clip)
}

// remove removes the first clip, which is played next.
func (l *lookahead) remove() {
	l.lead.Begun, l.lead.Last = true, l.lead.Ready[0].Sentence
	l.lead.Ready = l.lead.Ready[1:]
	l.clips[0] = announce.Clip{}
	l.clips = l.clips[1:]
}
