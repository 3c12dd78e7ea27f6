// Package onnx runs the models of voices with ONNX Runtime. [Runtime] loads them as voice.Model.
//
// One law: model files are not trusted. The inputs and outputs of a model are checked before it runs, and
// every fault of the file or the library is returned as an error.
//
// ONNX Runtime is loaded with dlopen together with the first model, so programs that load no model do not
// need it.
package onnx

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"

	ort "github.com/yalue/onnxruntime_go"

	"pressbox/voice"
)

// A Runtime loads models. The zero value is valid.
type Runtime struct {
	Library string // path of the library; "" means the default locations
	Threads int    // per run; 0 means one for each core, at most 4
}

// Version loads the library and returns its version, such as "1.28.2".
func (r Runtime) Version() (string, error) {
	if err := open(r.Library); err != nil {
		return "", err
	}
	return ort.GetVersion(), nil
}

// Load loads the model file at path and checks it against config.
func (r Runtime) Load(path string, config *voice.Config) (voice.Model, error) {
	if err := open(r.Library); err != nil {
		return nil, err
	}
	m, err := r.load(path, config)
	if err != nil {
		return nil, fmt.Errorf("load the model: %w", err)
	}
	return m, nil
}

func (r Runtime) load(path string, config *voice.Config) (*model, error) {
	inputs, output, err := describe(path)
	if err != nil {
		return nil, err
	}
	if err := checkInputs(inputs, config); err != nil {
		return nil, err
	}
	options, err := r.options()
	if err != nil {
		return nil, err
	}
	defer options.Destroy() //nolint:errcheck // it fails only when called twice
	session, err := ort.NewDynamicAdvancedSession(path, inputs, []string{output}, options)
	if err != nil {
		return nil, err
	}
	m := &model{session: session, inputs: inputs}
	if err := m.checkMetadata(config); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// options returns the session options: threads that do not spin once a run has ended; no memory pattern, because
// clauses differ in length.
func (r Runtime) options() (*ort.SessionOptions, error) {
	threads := r.Threads
	if threads == 0 {
		threads = min(runtime.NumCPU(), 4)
	}
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		o.SetIntraOpNumThreads(threads),
		o.SetInterOpNumThreads(1),
		o.SetExecutionMode(ort.ExecutionModeSequential),
		o.SetGraphOptimizationLevel(ort.GraphOptimizationLevelEnableAll),
		o.SetMemPattern(false),
		o.SetLogSeverityLevel(ort.LoggingLevelFatal), // errors are returned, not printed
		o.AddSessionConfigEntry("session.force_spinning_stop", "1"),
	)
	if err != nil {
		return nil, errors.Join(err, o.Destroy())
	}
	return o, nil
}

// A model is one session.
type model struct {
	session *ort.DynamicAdvancedSession
	inputs  []string // in the order of the values
}

// Close frees the session.
func (m *model) Close() error {
	defer giveBack()
	return m.session.Destroy()
}

// Infer runs the model on one piece of speech.
func (m *model) Infer(ctx context.Context, in voice.Input) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	values, err := m.values(in)
	defer destroy(values)
	if err != nil {
		return nil, err
	}
	outputs := []ort.Value{nil}
	defer func() { destroy(outputs) }()
	if err := m.run(ctx, values, outputs); err != nil {
		return nil, err
	}
	samples, ok := outputs[0].(*ort.Tensor[float32])
	if !ok {
		return nil, fmt.Errorf("the model's output is a %T, want float32", outputs[0])
	}
	if shape := samples.GetShape(); shape[len(shape)-1] != shape.FlattenedSize() {
		return nil, fmt.Errorf("the model's output has the shape %s, want one channel", shape)
	}
	return samples.GetData(), nil // Go's memory, which outlives the tensor
}

// run runs the session and stops it when ctx ends.
func (m *model) run(ctx context.Context, inputs, outputs []ort.Value) error {
	options, err := ort.NewRunOptions()
	if err != nil {
		return err
	}
	defer options.Destroy() //nolint:errcheck // it fails only when called twice
	terminated := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(terminated)
		_ = options.Terminate() // the run then ends with an error
	})
	err = m.session.RunWithOptions(inputs, outputs, options)
	if !stop() {
		<-terminated // Terminate uses options
		return ctx.Err()
	}
	return err
}

// values returns the tensors for in, in the order of the inputs. On error it returns those that were created.
func (m *model) values(in voice.Input) ([]ort.Value, error) {
	values := make([]ort.Value, 0, len(m.inputs))
	for _, name := range m.inputs {
		v, err := newInput(name, in)
		if err != nil {
			return values, fmt.Errorf("create the model's input %s: %w", name, err)
		}
		values = append(values, v)
	}
	return values, nil
}

func newInput(name string, in voice.Input) (ort.Value, error) {
	n := int64(len(in.IDs))
	switch name {
	case inputIDs:
		return ort.NewTensor(ort.NewShape(1, n), in.IDs)
	case inputLengths:
		return ort.NewTensor(ort.NewShape(1), []int64{n})
	case inputScales:
		return ort.NewTensor(ort.NewShape(3), []float32{in.NoiseScale, in.LengthScale, in.NoiseW})
	case inputSpeaker:
		return ort.NewTensor(ort.NewShape(1), []int64{in.Speaker})
	default:
		return nil, errors.New("not an input of Piper's voices")
	}
}

// destroy frees the tensors.
func destroy(values []ort.Value) {
	for _, v := range values {
		if v != nil {
			_ = v.Destroy() // it fails only when called twice
		}
	}
}

// checkMetadata compares the metadata that some exporters write into the model with config.
func (m *model) checkMetadata(config *voice.Config) error {
	meta, err := m.session.GetModelMetadata()
	if err != nil {
		return err
	}
	defer meta.Destroy() //nolint:errcheck // it fails only when called twice
	for _, fact := range []struct {
		key, name string
		want      int
	}{
		{"sample_rate", "audio.sample_rate", config.SampleRate},
		{"n_speakers", "num_speakers", config.Speakers},
	} {
		text, ok, err := meta.LookupCustomMetadataMap(fact.key)
		if err != nil {
			return err
		}
		if got, err := strconv.Atoi(text); ok && err == nil && got != fact.want {
			return fmt.Errorf("the model's %s is %d, but its config's %s is %d", fact.key, got, fact.name, fact.want)
		}
	}
	return nil
}
