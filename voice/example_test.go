package voice_test

import (
	"context"
	"fmt"
	"time"

	"pressbox/voice"
)

// A fixedModel returns 50 ms of samples for each phoneme id.
type fixedModel struct{}

func (fixedModel) Infer(_ context.Context, in voice.Input) ([]float32, error) {
	return make([]float32, len(in.IDs)*800), nil
}

func (fixedModel) Close() error { return nil }

// Usually the config is a file next to the model, the phonemizer is package voice/espeak and the model is
// loaded by package voice/onnx.
func ExampleVoice_Speak() {
	config, err := voice.ParseConfig([]byte(`{
		"audio": {"sample_rate": 16000}, "espeak": {"voice": "en-us"}, "num_speakers": 1,
		"num_symbols": 6, "phoneme_id_map": {"_": [0], "^": [1], "$": [2], ".": [3], "a": [4], "b": [5]}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	v := voice.Voice{Config: config, Phonemizer: fixedPhonemizer("ab"), Model: fixedModel{}}
	for clip, err := range v.Speak(context.Background(), "Dinner is ready. Come down.", 170, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(clip.Duration().Round(time.Millisecond))
	}
	// Output:
	// 450ms
	// 200ms
	// 450ms
}
