package onnx_test

import (
	"encoding/binary"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pressbox/packaging/check"
)

var update = flag.Bool("update", false, "rewrite the models in testdata")

// The tiny models are encoded field by field as protocol buffers; the field numbers are those of onnx.proto.

type message []byte

func (m message) number(field int, v uint64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), v)
}

func (m message) bytes(field int, b []byte) message {
	m = binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3|2), uint64(len(b)))
	return append(m, b...)
}

func (m message) text(field int, s ...string) message {
	for _, s := range s {
		m = m.bytes(field, []byte(s))
	}
	return m
}

const (
	float32Type = 1
	int64Type   = 7
)

// value describes an input or output; a negative dimension is variable.
func value(name string, kind uint64, dims ...int) message {
	var shape message
	for _, d := range dims {
		if d < 0 {
			shape = shape.bytes(1, message(nil).text(2, "n"))
		} else {
			shape = shape.bytes(1, message(nil).number(1, uint64(d)))
		}
	}
	tensor := message(nil).number(1, kind).bytes(2, shape)
	return message(nil).text(1, name).bytes(2, message(nil).bytes(1, tensor))
}

func node(op, output string, inputs ...string) message {
	return message(nil).text(1, inputs...).text(2, output).text(4, op)
}

// cast is a node with the attribute "to".
func cast(output, input string, to uint64) message {
	attribute := message(nil).text(1, "to").number(3, to).number(20, 2)
	return node("Cast", output, input).bytes(5, attribute)
}

func scalar(name string, v float32) message {
	raw := binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))
	return message(nil).number(2, float32Type).text(8, name).bytes(9, raw)
}

func integers(name string, dims int, vs ...int64) message {
	var raw []byte
	for _, v := range vs {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	var m message
	if dims == 1 {
		m = m.number(1, uint64(len(vs)))
	}
	return m.number(2, int64Type).text(8, name).bytes(9, raw)
}

// A tiny is a model that produces a sine: 64 samples per id at length scale 1, at level 0.1 × (1 + speaker).
type tiny struct {
	inputs   []message
	speakers bool
	output   message
	aligned  bool              // another output precedes
	facts    map[string]string // metadata
	shape    []int64           // of the output; default [1,1,1,-1]
	level    float32           // default 0.1
}

func piperInputs() []message {
	return []message{
		value("input", int64Type, 1, -1), value("input_lengths", int64Type, 1), value("scales", float32Type, 3),
	}
}

func (t tiny) model() []byte {
	if t.inputs == nil {
		t.inputs = piperInputs()
	}
	if t.speakers {
		t.inputs = append(t.inputs, value("sid", int64Type, 1))
	}
	if t.output == nil {
		t.output = value("output", float32Type, 1, 1, 1, -1)
	}
	if t.shape == nil {
		t.shape = []int64{1, 1, 1, -1}
	}
	if t.level == 0 {
		t.level = 0.1
	}
	level := "level"
	nodes := []message{
		node("Shape", "shape", "input"),
		node("Gather", "n", "shape", "one"),
		cast("nf", "n", float32Type),
		node("Gather", "scale", "scales", "one"),
		node("Mul", "frames", "nf", "scale"),
		node("Mul", "length", "frames", "hop"),
		node("Ceil", "ceil", "length"),
		cast("t", "ceil", int64Type),
		node("Range", "time", "zero", "t", "one"),
		cast("timef", "time", float32Type),
		node("Mul", "phase", "timef", "step"),
		node("Sin", "sine", "phase"),
	}
	if t.speakers {
		level = "loud"
		nodes = append(nodes, node("Gather", "who", "sid", "zero"), cast("whof", "who", float32Type),
			node("Mul", "more", "whof", "level"), node("Add", "loud", "more", "level"))
	}
	nodes = append(nodes, node("Mul", "hum", "sine", level), node("Reshape", "output", "hum", "flat"))

	var graph message
	for _, n := range nodes {
		graph = graph.bytes(1, n)
	}
	graph = graph.text(2, "tiny")
	for _, i := range []message{
		integers("one", 0, 1), integers("zero", 0, 0), integers("flat", 1, t.shape...),
		scalar("hop", 64), scalar("step", 0.1), scalar("level", t.level),
	} {
		graph = graph.bytes(5, i)
	}
	for _, in := range t.inputs {
		graph = graph.bytes(11, in)
	}
	if t.aligned {
		graph = graph.bytes(12, value("timef", float32Type, -1))
	}
	graph = graph.bytes(12, t.output)
	m := message(nil).number(1, 8).bytes(7, graph).bytes(8, message(nil).number(2, 15))
	for k, v := range t.facts {
		m = m.bytes(14, message(nil).text(1, k).text(2, v))
	}
	return m
}

// tinies returns the models of testdata, which the tests of voice/library use too.
func tinies() map[string][]byte {
	hum := tiny{}.model()
	return map[string][]byte{
		"hum.onnx":      hum,
		"speakers.onnx": tiny{speakers: true}.model(),
		"flat.onnx":     tiny{output: value("output", float32Type, 1, 1, -1), shape: []int64{1, 1, -1}}.model(),
		"aligned.onnx":  tiny{aligned: true}.model(),
		"lacks.onnx":    tiny{inputs: piperInputs()[:2]}.model(),
		"extra.onnx":    tiny{inputs: append(piperInputs(), value("prosody", int64Type, 1))}.model(),
		"mistyped.onnx": tiny{
			inputs: []message{value("input", float32Type, 1, -1), piperInputs()[1], piperInputs()[2]},
		}.model(),
		"liar.onnx":      tiny{facts: map[string]string{"sample_rate": "16000"}}.model(),
		"stereo.onnx":    tiny{output: value("output", float32Type, 1, 2, -1), shape: []int64{1, 2, -1}}.model(),
		"nan.onnx":       tiny{level: float32(math.NaN())}.model(),
		"truncated.onnx": hum[:len(hum)*2/3],
		"empty.onnx":     {},
		"words.onnx":     []byte("<html>404 Not Found</html>\n"),
	}
}

func TestTestdata_upToDate(t *testing.T) {
	for name, want := range tinies() {
		path := filepath.Join("testdata", name)
		if *update {
			check.NoError(t, os.WriteFile(path, want, 0o644))
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
			t.Errorf("%s is out of date (go test -update rewrites it): %v", path, err)
		}
	}
}
