// Package main synthesizes speech with sherpa-onnx, as the peer of a benchmark.
//
//	peer MODEL ESPEAK-NG-DATA
//
// It reads a speed and a text from each line of its standard input, and writes the
// nanoseconds that the synthesis took and the number of samples. It runs on one thread.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	sherpa "github.com/k2-fsa/sherpa-onnx-go-linux"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: peer MODEL ESPEAK-NG-DATA")
	}
	tts, err := load(args[0], args[1])
	if err != nil {
		return err
	}
	defer sherpa.DeleteOfflineTts(tts)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		number, text, _ := strings.Cut(lines.Text(), " ")
		speed, err := strconv.ParseFloat(number, 32)
		if err != nil {
			return fmt.Errorf("read the speed: %w", err)
		}
		began := time.Now()
		speech := tts.Generate(text, 0, float32(speed))
		fmt.Println(time.Since(began).Nanoseconds(), len(speech.Samples))
	}
	return lines.Err()
}

// A config is the part of a Piper voice's config that sherpa-onnx needs.
type config struct {
	Audio struct {
		SampleRate int `json:"sample_rate"`
	} `json:"audio"`
	Espeak struct {
		Voice string `json:"voice"`
	} `json:"espeak"`
	PhonemeIDs map[string][]int `json:"phoneme_id_map"`
	Inference  struct {
		NoiseScale  float32 `json:"noise_scale"`
		LengthScale float32 `json:"length_scale"`
		NoiseW      float32 `json:"noise_w"`
	} `json:"inference"`
}

func load(model, data string) (*sherpa.OfflineTts, error) {
	text, err := os.ReadFile(model + ".json") //nolint:gosec // the benchmark names it
	if err != nil {
		return nil, err
	}
	var c config
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("read %s.json: %w", model, err)
	}
	dir, err := os.MkdirTemp("", "peer")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // sherpa-onnx has read it
	tokens := filepath.Join(dir, "tokens.txt")
	if err := os.WriteFile(tokens, c.tokens(), 0o600); err != nil {
		return nil, err
	}
	weights, err := os.ReadFile(model) //nolint:gosec // the benchmark names it
	if err != nil {
		return nil, err
	}
	model = filepath.Join(dir, "model.onnx")
	if err := os.WriteFile(model, append(weights, c.metadata()...), 0o600); err != nil {
		return nil, err
	}
	// Zeros mean the defaults of sherpa-onnx.
	tts := sherpa.NewOfflineTts(&sherpa.OfflineTtsConfig{
		Model: sherpa.OfflineTtsModelConfig{
			Vits: sherpa.OfflineTtsVitsModelConfig{
				Model: model, Tokens: tokens, DataDir: data,
				NoiseScale: c.Inference.NoiseScale, NoiseScaleW: max(c.Inference.NoiseW, 1e-9),
				LengthScale: c.Inference.LengthScale,
			},
			NumThreads: 1, Provider: "cpu",
		},
		MaxNumSentences: 1, // of a run
		SilenceScale:    1, // pauses stay as they are
	})
	if tts == nil {
		return nil, fmt.Errorf("sherpa-onnx does not load %s", model)
	}
	return tts, nil
}

// tokens returns the phonemes with their ids in the format of sherpa-onnx, which knows those of one character.
func (c config) tokens() []byte {
	var b []byte
	for phoneme, ids := range c.PhonemeIDs {
		if utf8.RuneCountInString(phoneme) == 1 {
			b = fmt.Appendf(b, "%s %d\n", phoneme, ids[0])
		}
	}
	return b
}

// metadata returns what sherpa-onnx wants to find in the model, as fields of ONNX's ModelProto: appended to a file,
// repeated fields are added to those in it.
func (c config) metadata() []byte {
	var b []byte
	for _, p := range [][2]string{
		{"comment", "piper"},
		{"language", "English"},
		{"voice", c.Espeak.Voice},
		{"has_espeak", "1"},
		{"n_speakers", "1"},
		{"sample_rate", strconv.Itoa(c.Audio.SampleRate)},
	} {
		var entry []byte
		for i, text := range p {
			entry = append(entry, byte(i+1)<<3|2, byte(len(text)))
			entry = append(entry, text...)
		}
		const metadataProps = 14
		b = append(b, metadataProps<<3|2, byte(len(entry)))
		b = append(b, entry...)
	}
	return b
}
