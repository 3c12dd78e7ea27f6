package frame_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"pressbox/daemon/wyoming/frame"
)

// What the clients of the reference implementation write, and other ways to write it.
func TestReader_next(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, bytes, kind, data, payload string }{
		{"no data", `{"type": "describe", "version": "1.9.0"}` + "\n", "describe", `null`, ""},
		{
			"data after the header",
			`{"type": "synthesize", "version": "1.9.0", "data_length": 68}` + "\n" +
				`{"text": "Grüß Gott.", "voice": {"name": "en_US-pressbox-medium"}}`,
			"synthesize", `{"text":"Grüß Gott.","voice":{"name":"en_US-pressbox-medium"}}`, "",
		},
		{"data in the header", `{"type":"ping","data":{"text":"a"}}` + "\n", "ping", `{"text":"a"}`, ""},
		{
			"data in both",
			`{"type": "synthesize", "data": {"text": "a", "voice": {"name": "v"}}, "data_length": 29}` + "\n" +
				`{"voice": {"language": "en"}}`,
			"synthesize", `{"text":"a","voice":{"language":"en"}}`, "",
		},
		{
			"payload", `{"type": "audio-chunk", "data_length": 2, "payload_length": 4}` + "\n{}\n\x00\xff\n",
			"audio-chunk", `{}`, "\n\x00\xff\n",
		},
		{
			"null",
			`{"type": "describe", "version": null, "data": null, "data_length": null, "payload_length": null}` + "\r\n",
			"describe", `null`, "",
		},
		{
			"data is null", `{"type": "synthesize-stop", "data": {"a": 1}, "data_length": 4}` + "\nnull",
			"synthesize-stop", `{"a":1}`, "",
		},
	} {
		r := frame.NewReader(iotest.OneByteReader(strings.NewReader(tt.bytes + `{"type":"next"}` + "\n")))
		f, err := r.Next()
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		data, err := json.Marshal(f.Data)
		if err != nil || f.Type != tt.kind || string(data) != tt.data || string(f.Payload) != tt.payload {
			t.Errorf(
				"%s: %s %s %q %v, want %s %s %q", tt.name, f.Type, data, f.Payload, err, tt.kind, tt.data, tt.payload,
			)
		}
		if f, err := r.Next(); f.Type != "next" || err != nil {
			t.Errorf("%s: the next frame is %q, %v", tt.name, f.Type, err)
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v at the end, want io.EOF", tt.name, err)
		}
	}
}

func TestReader_refused(t *testing.T) {
	t.Parallel()
	spaces := func(n int) string { return strings.Repeat(" ", n) }
	const head = `{"type": "x"}`
	full := fmt.Sprintf(`{"type": "x", "payload_length": %d}`, frame.MaxFrame-40)
	for _, tt := range []struct {
		name, bytes string
		want        error
	}{
		{"the largest header", head + spaces(frame.MaxHeader-len(head)-1) + "\n", nil},
		{"a larger header", head + spaces(frame.MaxHeader-len(head)) + "\n", frame.ErrTooLarge},
		{"an endless header", spaces(2 * frame.MaxHeader), frame.ErrTooLarge},
		{"the largest frame", full + spaces(39-len(full)) + "\n" + spaces(frame.MaxFrame-40), nil},
		{"a larger frame", full + spaces(40-len(full)) + "\n" + spaces(frame.MaxFrame-40), frame.ErrTooLarge},
		{"endless data", `{"type": "x", "data_length": 1000000000000}` + "\n", frame.ErrTooLarge},
		{
			"lengths that overflow",
			`{"type": "x", "data_length": 9223372036854775807, "payload_length": 9223372036854775807}` + "\n",
			frame.ErrTooLarge,
		},
		{"larger than an integer", `{"type": "x", "data_length": 1e30}` + "\n", frame.ErrMalformed},
		{"negative data_length", `{"type": "x", "data_length": -1}` + "\n", frame.ErrMalformed},
		{"negative payload_length", `{"type": "x", "payload_length": -1}` + "\n", frame.ErrMalformed},
		{"HTTP", "POST / HTTP/1.1\r\n", frame.ErrMalformed},
		{"no type", "{}\n", frame.ErrMalformed},
		{"an empty line", "\n", frame.ErrMalformed},
		{"an array", "[]\n", frame.ErrMalformed},
		{"two values", `{"type": "x"} {}` + "\n", frame.ErrMalformed},
		{"data is no object", `{"type": "x", "data_length": 2}` + "\n[]", frame.ErrMalformed},
		{"data in the header is no object", `{"type": "x", "data": 1}` + "\n", frame.ErrMalformed},
		{"half a header", `{"type":`, io.ErrUnexpectedEOF},
		{"half the data", `{"type": "x", "data_length": 20}` + "\n{}", io.ErrUnexpectedEOF},
		{"half the payload", `{"type": "x", "payload_length": 2}` + "\n1", io.ErrUnexpectedEOF},
		{"nothing", "", io.EOF},
	} {
		if _, err := frame.NewReader(strings.NewReader(tt.bytes)).Next(); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

// A frame that was announced and not sent uses no memory.
func TestReader_memory(t *testing.T) { //nolint:paralleltest // it measures memory
	const clients = 100
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range clients {
		r := frame.NewReader(
			strings.NewReader(fmt.Sprintf(`{"type": "x", "payload_length": %d}`, frame.MaxFrame-1000) + "\n"),
		)
		if _, err := r.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) / clients; used > frame.MaxFrame/8 {
		t.Errorf("%d bytes allocated for a frame that was not sent", used)
	}
}

// Golden bytes.
func TestAppend_bytes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind    string
		data    any
		payload string
		want    string
	}{
		{"synthesize-stopped", nil, "", `{"type":"synthesize-stopped","version":"1.9.0"}` + "\n"},
		{
			"pong",
			map[string]any{"text": "ü"},
			"",
			`{"type":"pong","version":"1.9.0","data_length":13}` + "\n" + `{"text":"ü"}`,
		},
		{
			"audio-chunk",
			map[string]any{},
			"\x01\x00",
			`{"type":"audio-chunk","version":"1.9.0","data_length":2,"payload_length":2}` + "\n{}\x01\x00",
		},
	} {
		got, err := frame.Append([]byte("x"), tt.kind, tt.data, []byte(tt.payload))
		if err != nil || string(got) != "x"+tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.kind, got, err, tt.want)
		}
	}
	if _, err := frame.Append(nil, "x", make(chan int), nil); err == nil {
		t.Error("data that cannot be encoded has no error")
	}
}

func TestFrame_decode(t *testing.T) {
	t.Parallel()
	var v struct {
		Text string `json:"text"`
	}
	f := frame.Frame{Type: "x", Data: map[string]json.RawMessage{"text": []byte(`"a"`), "other": []byte(`null`)}}
	if err := f.Decode(&v); err != nil || v.Text != "a" {
		t.Errorf("%+v, %v", v, err)
	}
	f.Data["text"] = []byte(`1`)
	if err := f.Decode(&v); !errors.Is(err, frame.ErrMalformed) {
		t.Errorf("a number for a text: %v", err)
	}
	if err := (frame.Frame{}).Decode(&v); err != nil {
		t.Errorf("no data: %v", err)
	}
}

// Every frame that is read is within the limits, and is written and read again as it was.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"type": "describe", "version": "1.9.0"}` + "\n",
		`{"type": "synthesize", "data_length": 68}` + "\n" +
			`{"text": "Grüß Gott.", "voice": {"name": "en_US-pressbox-medium"}}`,
		`{"type": "x", "data": {"a": [1, null]}, "data_length": 2, "payload_length": 3}` + "\n{}abc",
		`{"type": "x"}` + "\n" + `{"type": "y", "data_length": -1}` + "\n", "POST / HTTP/1.1\r\n", "{", "\xff\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		r := frame.NewReader(bytes.NewReader(sent))
		for {
			read, err := r.Next()
			if err != nil {
				return
			}
			if read.Type == "" || len(read.Payload) > frame.MaxFrame {
				t.Fatalf("a frame of type %q with %d bytes", read.Type, len(read.Payload))
			}
			var data any
			if read.Data != nil {
				data = read.Data
			}
			written, err := frame.Append(nil, read.Type, data, read.Payload)
			if err != nil {
				t.Fatal(err)
			}
			again, err := frame.NewReader(bytes.NewReader(written)).Next()
			if errors.Is(err, frame.ErrTooLarge) { // escapes are longer
				continue
			}
			first, second := mustMarshal(t, read.Data), mustMarshal(t, again.Data)
			if err != nil || again.Type != read.Type || first != second || !bytes.Equal(again.Payload, read.Payload) {
				t.Fatalf("%q was written as %q: %v", sent, written, err)
			}
		}
	})
}

func mustMarshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
