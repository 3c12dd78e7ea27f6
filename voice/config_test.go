package voice_test

import (
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
	for _, tt := range []struct{ changes, want string }{
		{`{"audio": null, "num_symbols": null}`, "lacks audio.sample_rate, num_symbols"},
		{`{"espeak": null}`, "lacks espeak.voice"},
		{`{"num_speakers": null}`, "lacks num_speakers"},
		{`{"phoneme_id_map": null}`, "lacks phoneme_id_map"},
		{`{"phoneme_type": "pinyin"}`, `phoneme_type is "pinyin", expected "espeak" or "text"`},
		{`{"num_symbols": 100}`, `phoneme_id_map gives "\"" the id 150, but num_symbols is 100`},
		{`{"num_symbols": 0}`, "num_symbols is 0"},
		{`{"num_symbols": "256"}`, "has text at num_symbols, expected a whole number"},
		{`{"audio": {"quality": 2}}`, "has a number at audio.quality, expected text"},
		{`{"audio": 3}`, "has a number at audio, expected an object"},
		{`{"num_symbols": 25.5}`, "has a number at num_symbols, expected a whole number"},
		{`{"inference": {"noise_w": "loud"}}`, "has text at inference.noise_w, expected a number"},
		{`{"phoneme_id_map": {"a": 3}}`, "has a number at phoneme_id_map, expected a list"},
		{`{"phoneme_id_map": {"a": [-1]}}`, `gives "a" the id -1`},
		{`{"phoneme_id_map": {"a": [256]}}`, `gives "a" the id 256`},
		{`{"phoneme_id_map": {"^": null}}`, `phoneme_id_map has no "^"`},
		{`{"phoneme_id_map": {"_": []}}`, `phoneme_id_map has no "_"`},
		{`{"num_speakers": 0}`, "num_speakers is 0"},
		{`{"speaker_id_map": {"ann": 1}}`, `speaker_id_map gives "ann" the id 1, but num_speakers is 1`},
		{`{"default_speaker_id": 1}`, "default_speaker_id is 1, but num_speakers is 1"},
		{`{"audio": {"sample_rate": 0}}`, "audio.sample_rate is 0"},
		{`{"audio": {"sample_rate": 1000000}}`, "audio.sample_rate is 1000000"},
		{`{"espeak": {"voice": "--stdout"}}`, `espeak.voice is "--stdout"`},
		{`{"espeak": {"voice": "../../etc/passwd"}}`, `espeak.voice is "../../etc/passwd"`},
		{`{"inference": {"length_scale": 0}}`, "inference.length_scale is 0"},
		{`{"inference": {"noise_scale": -1}}`, "inference.noise_scale is -1"},
		{`{"inference": {"noise_w": 100}}`, "inference.noise_w is 100"},
		{`{"vowel_clusters": [["a", "ɪ"]]}`, `vowel_clusters has "aɪ"`},
		{`{"num_speakers": 0, "audio": {"sample_rate": 1}}`, "num_speakers is 0"}, // all errors at once
		{`{"num_speakers": 0, "audio": {"sample_rate": 1}}`, "audio.sample_rate is 1"},
	} {
		_, err := voice.ParseConfig(voicetest.ChangedJSON(t, tt.changes))
		check.That(t, err != nil && strings.Contains(err.Error(), tt.want),
			"config with %s: %v, want an error with %q", tt.changes, err, tt.want)
	}
	for text, want := range map[string]string{
		"": "unexpected end", "null": "lacks audio.sample_rate", "[]": "expected an object", "{": "unexpected end",
		"\n <!DOCTYPE html><p>": "an HTML page",
		"version https://git-lfs.github.com/spec/v1\noid sha256:0\n": "a Git LFS pointer",
		"\ufeff" + string(voicetest.ChangedJSON(t, `{}`)):            "byte order mark",
	} {
		if _, err := voice.ParseConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("config %.40q: %v, want an error with %q", text, err, want)
		}
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
