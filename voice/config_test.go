package voice_test

import (
	"fmt"
	"strings"
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice"
	"pressbox/voice/voicetest"
)

func TestParseConfig_bundledAndDefaults(t *testing.T) {
	t.Parallel()
	c := voicetest.Config(t, voicetest.Bundled)
	if c.SampleRate != 22050 || c.Espeak != "en-us" || c.PhonemeType != voice.Espeak || c.Speakers != 1 ||
		c.Symbols != 256 ||
		c.NoiseScale != 0.667 || c.LengthScale != 1 || c.NoiseW != 0 || c.Quality != "medium" ||
		c.Dataset != "pressbox" || c.Language.Country != "United States" || c.Locale() != "en-us" {
		t.Errorf("%+v", c)
	}
	sparse := `{"inference": null, "phoneme_type": null, "language": null, "unheard_of": 3, "piper_version": 2}`
	c = check.Must(voice.ParseConfig(voicetest.ChangedJSON(t, sparse)))(t)
	check.That(t, c.NoiseScale == 0.667 && c.LengthScale == 1 && c.NoiseW == 0.8 && c.PhonemeType == voice.Espeak,
		"%+v", c)
}

func TestParseConfig_errors(t *testing.T) {
	t.Parallel()
	for _, row := range check.Table(t, "testdata/config-errors.txt") {
		err := check.Err(voice.ParseConfig(voicetest.ChangedJSON(t, row[0])))
		check.Contains(t, fmt.Sprint(err), row[1], "config with %s", row[0])
	}
	for text, want := range map[string]string{
		"": "unexpected end", "null": "lacks audio.sample_rate", "[]": "expected an object", "{": "unexpected end",
		"\n <!DOCTYPE html><p>": "an HTML page",
		"version https://git-lfs.github.com/spec/v1\noid sha256:0\n": "a Git LFS pointer",
		"\ufeff" + string(voicetest.ChangedJSON(t, `{}`)):            "byte order mark",
	} {
		check.Contains(t, fmt.Sprint(check.Err(voice.ParseConfig([]byte(text)))), want, "config %.40q", text)
	}
}

// In an accepted config every id is below the number of symbols and every speaker below the number of
// speakers.
func FuzzParseConfig(f *testing.F) {
	const speakers = `{"phoneme_type": "text", "espeak": null, "num_speakers": 3, "speaker_id_map": {"a": 2}}`
	f.Add(voicetest.ChangedJSON(f, `{}`))
	f.Add(voicetest.ChangedJSON(f, speakers))
	f.Add([]byte(`{"audio":{"sample_rate":16000},"num_symbols":3,"num_speakers":1,` +
		`"phoneme_id_map":{"_":[0],"^":[1],"$":[2]},"espeak":{"voice":"de"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := voice.ParseConfig(data)
		if err != nil {
			return
		}
		for p, ids := range c.PhonemeIDs {
			for _, id := range ids {
				check.That(t, id >= 0 && id < int64(c.Symbols), "%q has the id %d of %d", p, id, c.Symbols)
			}
		}
		for name, id := range c.SpeakerIDs {
			check.That(t, id >= 0 && id < int64(c.Speakers), "speaker %q has the id %d of %d", name, id, c.Speakers)
		}
		check.That(t, c.SampleRate > 0 && c.LengthScale > 0 && !strings.HasPrefix(c.Espeak, "-"), "accepted: %+v", c)
	})
}
