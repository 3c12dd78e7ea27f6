package pulse_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pressbox/audio"
	"pressbox/audio/pulse"
	"pressbox/audio/pulse/pulsetest"
	"pressbox/packaging/check"
)

// level returns the mute and the volume of the speaker, such as "yes 40%".
func level(server *pulsetest.Server) string {
	_, mute, _ := strings.Cut(server.Pactl("get-sink-mute", "speaker"), "Mute: ")
	for field := range strings.FieldsSeq(server.Pactl("get-sink-volume", "speaker")) {
		if strings.HasSuffix(field, "%") {
			return strings.TrimSpace(mute) + " " + field
		}
	}
	return ""
}

// An urgent sound unmutes and raises its sink for its time. A volume that a person has set meanwhile stays; what is
// loud enough is not changed; and what a killed process has left is put back by the next one.
func TestUrgent_unmutes(t *testing.T) {
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, pulsetest.Config{})
			saved := new(saver)
			sink := reach(t, pulse.Config{Server: server.Address, Ducked: saved})
			on := true
			urgent := pulse.Urgent{Sink: sink, Unmute: func() (int, bool) { return 40, on }}
			set := func(mute, volume string) {
				server.Pactl("set-sink-mute", "speaker", mute)
				server.Pactl("set-sink-volume", "speaker", volume)
				percent := strings.TrimPrefix(level(server), "yes ")
				until(t, func() bool {
					now := sink.Status()
					return now.Muted == (mute == "1") && strings.HasSuffix(percent, volume)
				})
			}
			play := func() chan error {
				played := make(chan error, 1)
				go func() {
					_, err := urgent.Play(t.Context(), all(noise(2*time.Second)), unity())
					played <- err
				}()
				return played
			}
			want := func(want string) {
				t.Helper()
				until(t, func() bool { return level(server) == want })
			}

			set("1", "10%")
			played := play()
			want("no 40%")
			left, _ := saved.Raised()
			check.NoError(t, <-played)
			check.Equal(t, level(server), "yes 10%", "afterwards")
			content, _ := saved.Raised()
			check.That(t, content == nil, "%s is still saved", content)

			played = play()
			want("no 40%")
			server.Pactl("set-sink-volume", "speaker", "70%")
			check.NoError(t, <-played)
			check.Equal(t, level(server), "yes 70%", "after a person has changed the volume")

			set("0", "50%")
			played = play()
			time.Sleep(time.Second)
			check.Equal(t, level(server), "no 50%", "a sink that is loud enough")
			check.NoError(t, <-played)

			set("1", "10%")
			on = false
			silent, ok := errors.AsType[*audio.UnheardError](<-play())
			check.That(t, ok && silent.Why == audio.Muted, "with the option off: %v", silent)

			set("0", "40%")
			reach(t, pulse.Config{Server: server.Address, Ducked: &saver{raised: left}})
			want("yes 10%")
		})
	}
}

// What urgent sounds that follow one another at once put back is what was there before the first.
func TestUrgent_oneAfterAnother(t *testing.T) {
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, pulsetest.Config{})
			server.Pactl("set-sink-mute", "speaker", "1")
			server.Pactl("set-sink-volume", "speaker", "10%")
			sink := reach(t, pulse.Config{Server: server.Address, Ducked: new(saver)})
			urgent := pulse.Urgent{Sink: sink, Unmute: func() (int, bool) { return 40, true }}
			for range 12 {
				check.Must(urgent.Play(t.Context(), all(noise(20*time.Millisecond)), unity()))(t)
			}
			check.Equal(t, level(server), "yes 10%", "afterwards")
		})
	}
}

type player interface {
	Play(ctx context.Context, clips <-chan audio.Clip, fader *audio.Fader) (time.Duration, error)
}

// Where its sink is muted, an urgent sound takes the next one; another one does not.
func TestUrgent_nextSink(t *testing.T) {
	t.Parallel()
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, pulsetest.Config{})
			server.Pactl("load-module", "module-null-sink", "sink_name=kitchen")
			sink := reach(t, pulse.Config{Server: server.Address, Sinks: []string{"kitchen", "attic", "speaker"}})
			heard := func(sink player) (bool, error) {
				recording := server.Record() // of the speaker
				_, err := sink.Play(t.Context(), all(noise(300*time.Millisecond)), unity())
				return len(sounding(recording.Stop())) > 0, err
			}
			urgent := pulse.Urgent{Sink: sink}
			there, err := heard(urgent)
			check.That(t, !there && err == nil, "at first it is played on the second sink: %v", err)
			server.Pactl("set-sink-mute", "kitchen", "1")
			until(t, func() bool { return sink.Status().Muted })
			there, err = heard(urgent)
			check.That(t, there && err == nil, "it is not played on the second sink: %v", err)
			there, err = heard(sink)
			_, unheard := errors.AsType[*audio.UnheardError](err)
			check.That(t, !there && unheard, "what is not urgent is played on the second sink: %v", err)
		})
	}
}

// A sink that cannot be put back, because its server was lost, is put back when that is there again.
func TestUrgent_serverLost(t *testing.T) {
	t.Parallel()
	server := pulsetest.Start(t, pulsetest.Config{})
	server.Pactl("set-sink-mute", "speaker", "1")
	sink := reach(t, pulse.Config{Server: server.Address, Ducked: new(saver)})
	urgent := pulse.Urgent{Sink: sink, Unmute: func() (int, bool) { return 40, true }}
	played := make(chan error, 1)
	go func() {
		_, err := urgent.Play(t.Context(), all(noise(5*time.Second)), unity())
		played <- err
	}()
	until(t, func() bool { return strings.HasPrefix(level(server), "no ") })
	server.Kill()
	check.ErrorIs(t, <-played, audio.ErrSinkLost, "Play")
	server.Start()
	until(t, func() bool { return strings.HasPrefix(level(server), "yes ") })
}
