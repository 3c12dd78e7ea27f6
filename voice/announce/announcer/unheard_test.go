package announcer_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/packaging/check"
	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
	"pressbox/voice/announce/policy"
)

// What no one can have heard ends as unheard, whatever interrupted it; what was heard in part, or once, does not.
func TestUnheard(t *testing.T) {
	running(t, settings, func(h *rig) {
		h.sink.set(audio.Muted)
		whole := h.post("a|b", false)
		time.Sleep(time.Second / 2)
		h.post("urgent", true)
		time.Sleep(time.Minute)
		check.Equal(h.t, h.expectStatus(whole.ID, announce.Unheard).Reason, policy.Muted, "reason")
		h.expectSaved(whole.ID, announce.Unheard)

		part := h.post("c|long", false)
		time.Sleep(time.Second / 2)
		h.sink.set("")
		h.post("urgent", true)
		time.Sleep(time.Second / 2)
		h.sink.set(audio.NoOutput)
		time.Sleep(2 * time.Second)
		h.sink.set("")
		h.post("urgent", true)
		time.Sleep(time.Minute)
		check.Equal(h.t, h.expectStatus(part.ID, announce.Done).Reason, "", "reason")

		often := h.request(announce.Request{
			Content: said("often"), Repeat: announce.Repeat{Times: 2, Every: time.Minute},
		})
		time.Sleep(30 * time.Second)
		h.sink.set(audio.NoVolume)
		time.Sleep(time.Hour)
		h.expectStatus(often.ID, announce.Done)

		stopped := h.post("long", false)
		time.Sleep(time.Second)
		check.Must(h.Cancel(context.Background(), stopped.ID))(h.t)
		check.Equal(h.t, h.expectStatus(stopped.ID, announce.Cancelled).Reason, "", "reason")
	})
}

// The sender is told where hardly anything would be heard; each limit has both its sides.
func TestWarnings(t *testing.T) {
	here := audio.Output{Name: "speaker", Volume: 100}
	with := func(change func(*audio.Output)) audio.Output { o := here; change(&o); return o }
	rescued := with(func(o *audio.Output) { o.Silence, o.Urgent = audio.Muted, true })
	for i, tt := range []struct {
		output  audio.Output
		content announce.Content
		in      time.Duration
		want    string // part of the warning; "" means none
	}{
		{here, said("a"), 0, ""},
		{audio.Output{}, said("a"), 0, ""},
		{audio.Output{Absent: errors.New("no sink named x")}, said("a"), 0, "no sink named x"},
		{audio.Output{Absent: errors.New("no sink named x")}, said("a"), time.Hour, ""},
		{with(func(o *audio.Output) { o.Silence = audio.NoOutput }), said("a"), 0, "no audio output"},
		{with(func(o *audio.Output) { o.Silence = audio.Muted }), said("a"), 0, "is muted"},
		{rescued, announce.Content{Message: "a", Urgent: true}, 0, ""},
		{rescued, said("a"), 0, "is muted"},
		{with(func(o *audio.Output) { o.Volume = 10 }), said("a"), 0, ""},
		{with(func(o *audio.Output) { o.Volume = 9 }), said("a"), 0, "is 9 %"},
		{with(func(o *audio.Output) { o.Volume = 50 }), announce.Content{Message: "a", Volume: 10}, 0, ""},
		{with(func(o *audio.Output) { o.Volume = 50 }), announce.Content{Message: "a", Volume: 9}, 0, "at 9 %"},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			bubble(t, settings, func(h *rig) {
				h.parts = func(p *announcer.Parts) { p.Output = func() audio.Output { return tt.output } }
				h.restart(settings)
				got := h.Warnings(h.request(announce.Request{Content: tt.content, In: tt.in}))
				check.That(h.t, (len(got) == 0) == (tt.want == "") && strings.Contains(strings.Join(got, " "), tt.want),
					"warnings %q, want %q", got, tt.want)
			})
		})
	}
}
