// Speak synthesizes sentences given as phoneme ids with a voice in Piper's format
// and writes each as a WAV file of 16-bit samples.
//
//	speak -library libonnxruntime.so -model VOICE.onnx -out DIR [-length 1] < SENTENCES.jsonl
//
// A sentence is {"id": "a01", "ids": [1, 0, …, 2]} on a line of its own and
// becomes DIR/a01.wav. Speak prints its speed on one thread, relative to real time.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"pressbox/audio"
	"pressbox/voice"
	"pressbox/voice/onnx"
)

func main() {
	library := flag.String("library", "", "path of ONNX Runtime")
	path := flag.String("model", "", "path of the voice")
	out := flag.String("out", ".", "directory for the WAV files")
	length := flag.Float64("length", 1, "above 1 is slower")
	flag.Parse()
	if err := run(onnx.Runtime{Library: *library, Threads: 1}, *path, *out, float32(*length)); err != nil {
		fmt.Fprintln(os.Stderr, "speak:", err)
		os.Exit(1)
	}
}

func run(runtime onnx.Runtime, path, out string, length float32) error {
	data, err := os.ReadFile(path + ".json") //nolint:gosec // the file is an argument
	if err != nil {
		return err
	}
	config, err := voice.ParseConfig(data)
	if err != nil {
		return err
	}
	model, err := runtime.Load(path, config)
	if err != nil {
		return err
	}
	defer func() { _ = model.Close() }() // the program ends
	if err := os.MkdirAll(out, 0o750); err != nil {
		return err
	}
	s := speaker{model: model, config: config, length: length, out: out}
	for lines := json.NewDecoder(os.Stdin); ; {
		var next sentence
		if err := lines.Decode(&next); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("read a sentence: %w", err)
		}
		if err := s.speak(next); err != nil {
			return fmt.Errorf("speak %s: %w", next.ID, err)
		}
	}
	fmt.Printf("%.1f s of speech in %.2f s: %.0f times real time\n",
		s.played.Seconds(), s.spent.Seconds(), s.played.Seconds()/s.spent.Seconds())
	return nil
}

type sentence struct {
	ID  string  `json:"id"`
	IDs []int64 `json:"ids"`
}

// A speaker synthesizes sentences and sums up their duration and the time spent.
type speaker struct {
	model         voice.Model
	config        *voice.Config
	length        float32
	out           string
	played, spent time.Duration
}

func (s *speaker) speak(next sentence) error {
	started := time.Now()
	samples, err := s.model.Infer(context.Background(),
		voice.Input{IDs: next.IDs, NoiseScale: s.config.NoiseScale, LengthScale: s.length})
	if err != nil {
		return err
	}
	s.spent += time.Since(started)
	clip := audio.Clip{Rate: s.config.SampleRate, Samples: samples}
	s.played += clip.Duration()

	f, err := os.Create(filepath.Join(s.out, next.ID+".wav"))
	if err != nil {
		return err
	}
	return errors.Join(audio.WriteWAV(f, clip), f.Close())
}
