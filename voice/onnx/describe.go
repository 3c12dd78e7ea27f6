package onnx

import (
	"errors"
	"fmt"
	"slices"

	ort "github.com/yalue/onnxruntime_go"

	"pressbox/voice"
)

// Inputs of Piper's models.
const (
	inputIDs     = "input"
	inputLengths = "input_lengths"
	inputScales  = "scales"
	inputSpeaker = "sid"
)

// describe returns the names of the model's inputs and of its output of samples, and checks their types. It
// opens the file without optimizing it, which is cheap.
func describe(path string) (inputs []string, output string, err error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, "", err
	}
	defer options.Destroy() //nolint:errcheck // it fails only when called twice
	if err := errors.Join(
		options.SetGraphOptimizationLevel(ort.GraphOptimizationLevelDisableAll),
		options.SetIntraOpNumThreads(1),
		options.SetLogSeverityLevel(ort.LoggingLevelFatal),
	); err != nil {
		return nil, "", err
	}
	ins, outs, err := ort.GetInputOutputInfoWithOptions(path, options)
	if err != nil {
		return nil, "", err
	}
	for _, in := range ins {
		if err := checkInput(in); err != nil {
			return nil, "", err
		}
		inputs = append(inputs, in.Name)
	}
	output, err = sampleOutput(outs)
	return inputs, output, err
}

// checkInput checks that in is an input of Piper's voices with the right type.
func checkInput(in ort.InputOutputInfo) error {
	var want ort.TensorElementDataType
	switch in.Name {
	case inputIDs, inputLengths, inputSpeaker:
		want = ort.TensorElementDataTypeInt64
	case inputScales:
		want = ort.TensorElementDataTypeFloat
	default:
		return fmt.Errorf("the model has an input %q, which Piper's voices do not have", in.Name)
	}
	if in.OrtValueType != ort.ONNXTypeTensor || in.DataType != want {
		return fmt.Errorf("the model's input %q is of type %s, want %s", in.Name, in.DataType, want)
	}
	return nil
}

// sampleOutput returns the name of the output with the samples: "output", or else the first output.
func sampleOutput(outs []ort.InputOutputInfo) (string, error) {
	if len(outs) == 0 {
		return "", errors.New("the model has no output")
	}
	i := max(0, slices.IndexFunc(outs, func(o ort.InputOutputInfo) bool { return o.Name == "output" }))
	if o := outs[i]; o.OrtValueType != ort.ONNXTypeTensor || o.DataType != ort.TensorElementDataTypeFloat {
		return "", fmt.Errorf("the model's output %q is of type %s, want %s", o.Name, o.DataType,
			ort.TensorElementDataType(ort.TensorElementDataTypeFloat))
	}
	return outs[i].Name, nil
}

// checkInputs checks that the model has every input that the config requires.
func checkInputs(inputs []string, config *voice.Config) error {
	need := []string{inputIDs, inputLengths, inputScales}
	if config.Speakers > 1 {
		need = append(need, inputSpeaker)
	}
	for _, name := range need {
		if !slices.Contains(inputs, name) {
			return fmt.Errorf("the model has no input %q, which Piper's voices have", name)
		}
	}
	return nil
}
