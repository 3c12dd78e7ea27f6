package announcements_test

import (
	"strings"
	"testing"

	"pressbox/daemon/web/announcements"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
)

func TestVoices_list(t *testing.T) {
	t.Parallel()
	rate := 168.5
	list := announcements.VoiceList{Default: webtest.Voice}
	all := func() announcements.VoiceList { return list }
	r := webtest.NewRig(t, func(c *site.Config) { c.Announcements.Voices = all })
	if w := r.Do(t, "GET", "/voices", "").Want(200); w.Field("voices") != "[]" || w.Field("default") != webtest.Voice {
		t.Errorf("without voices: %s", w.Text)
	}
	list.Voices = []announcements.Voice{
		{
			Name: webtest.Voice, Language: "en", Country: "US", Speaker: "ballpark", Quality: "medium",
			SampleRate: 22050,
			Speakers:   []string{"alice", "bob"}, SizeBytes: 7 << 20, Default: true, Loaded: true,
			WordsPerMinute: &rate, License: "MIT",
		},
		{Name: "broken", Error: "the model file is truncated"},
	}
	w := r.Do(t, "GET", "/voices", "").Want(200)
	for _, want := range []string{
		`"words_per_minute":168.5`, `"words_per_minute":null`, `"speakers":[]`, `"speakers":["alice","bob"]`,
		`"error":"the model file is truncated"`,
	} {
		if !strings.Contains(w.Text, want) {
			t.Errorf("no %s in %s", want, w.Text)
		}
	}
}
