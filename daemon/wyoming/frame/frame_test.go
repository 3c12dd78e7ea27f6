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
	"pressbox/packaging/check"
)

// What the clients of the reference implementation write, and other ways to write it.
func TestReader_next(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, bytes, kind, data, payload string }{
		{"no data", `{"type": "describe", "version": "1.9.0"}` + "\n", "describe", `null`, ""},
		{
			"data after the header",
			`{"type": "synthesize", "version": "1.9.0", "data_length": 65}` + "\n" +
				`{"text": "Grüß Gott.", "voice": {"name": "en_US-heart-medium"}}`,
			"synthesize", `{"text":"Grüß Gott.","voice":{"name":"en_US-heart-medium"}}`, "",
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
		f := check.Must(r.Next())(t)
		got := fmt.Sprintf("%s %s %q", f.Type, marshaled(t, f.Data), f.Payload)
		check.Equal(t, got, fmt.Sprintf("%s %s %q", tt.kind, tt.data, tt.payload), "%s", tt.name)
		check.Equal(t, check.Must(r.Next())(t).Type, "next", "%s: the next frame", tt.name)
		check.ErrorIs(t, check.Err(r.Next()), io.EOF, "%s: at the end", tt.name)
	}
}

func TestReader_refused(t *testing.T) {
	t.Parallel()
	spaces := func(n int) string { return strings.Repeat(" ", n) }
	const head = `{"type": "x"}`
	data := fmt.Sprintf(`{"type": "x", "data_length": %d}`, frame.MaxFrame-40)
	full := fmt.Sprintf(`{"type": "x", "payload_length": %d}`, frame.MaxFrame-40)
	for want, all := range map[error][]string{
		nil: { // the largest header, and the largest frames
			head + spaces(frame.MaxHeader-len(head)-1) + "\n",
			data + spaces(39-len(data)) + "\n" + "{}" + spaces(frame.MaxFrame-42),
			full + spaces(39-len(full)) + "\n" + spaces(frame.MaxFrame-40),
		},
		frame.ErrTooLarge: { // each with a byte more, an endless header, endless data, and lengths that overflow
			head + spaces(frame.MaxHeader-len(head)) + "\n",
			data + spaces(40-len(data)) + "\n" + "{}" + spaces(frame.MaxFrame-42),
			full + spaces(40-len(full)) + "\n" + spaces(frame.MaxFrame-40),
			spaces(2 * frame.MaxHeader), `{"type": "x", "data_length": 1000000000000}` + "\n",
			`{"type": "x", "data_length": 9223372036854775807, "payload_length": 9223372036854775807}` + "\n",
		},
		frame.ErrMalformed: {
			`{"type": "x", "data_length": 1e30}` + "\n", `{"type": "x", "data_length": -1}` + "\n",
			`{"type": "x", "payload_length": -1}` + "\n", "POST / HTTP/1.1\r\n", "{}\n", "\n", "[]\n",
			`{"type": "x"} {}` + "\n", `{"type": "x", "data_length": 2}` + "\n[]", `{"type": "x", "data": 1}` + "\n",
		},
		io.ErrUnexpectedEOF: {
			`{"type":`, `{"type": "x", "data_length": 20}` + "\n{}", `{"type": "x", "payload_length": 2}` + "\n1",
		},
		io.EOF: {""},
	} {
		for _, bytes := range all {
			check.ErrorIs(t, check.Err(frame.NewReader(strings.NewReader(bytes)).Next()), want, "%.60q", bytes)
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
		check.ErrorIs(t, check.Err(r.Next()), io.ErrUnexpectedEOF, "half a frame")
	}
	runtime.ReadMemStats(&after)
	used := (after.TotalAlloc - before.TotalAlloc) / clients
	check.That(t, used <= frame.MaxFrame/8, "%d bytes allocated for a frame that was not sent", used)
}

// Golden bytes.
func TestAppend_bytes(t *testing.T) {
	t.Parallel()
	type object map[string]any
	for _, tt := range []struct {
		kind          string
		data          any
		payload, want string
	}{
		{"synthesize-stopped", nil, "", `{"type":"synthesize-stopped","version":"1.9.0"}` + "\n"},
		{
			"pong",
			object{"text": "ü"},
			"",
			`{"type":"pong","version":"1.9.0","data_length":13}` + "\n" + `{"text":"ü"}`,
		},
		{
			"audio-chunk",
			object{},
			"\x01\x00",
			`{"type":"audio-chunk","version":"1.9.0","data_length":2,"payload_length":2}` + "\n{}\x01\x00",
		},
	} {
		got := check.Must(frame.Append([]byte("x"), tt.kind, tt.data, []byte(tt.payload)))(t)
		check.Equal(t, string(got), "x"+tt.want, "%s", tt.kind)
	}
	_, err := frame.Append(nil, "x", make(chan int), nil)
	check.That(t, err != nil, "data that cannot be encoded has no error")
}

func TestFrame_decode(t *testing.T) {
	t.Parallel()
	var v struct {
		Text string `json:"text"`
	}
	f := frame.Frame{Type: "x", Data: map[string]json.RawMessage{"text": []byte(`"a"`), "other": []byte(`null`)}}
	check.NoError(t, f.Decode(&v))
	check.Equal(t, v.Text, "a", "the text")
	f.Data["text"] = []byte(`1`)
	check.ErrorIs(t, f.Decode(&v), frame.ErrMalformed, "a number for a text")
	check.NoError(t, frame.Frame{}.Decode(&v))
}

// Every frame that is read is within the limits, and is written and read again as it was.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"type": "describe", "version": "1.9.0"}` + "\n",
		`{"type": "synthesize", "data_length": 65}` + "\n" +
			`{"text": "Grüß Gott.", "voice": {"name": "en_US-heart-medium"}}`,
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
			check.Require(t, read.Type != "" && len(read.Payload) <= frame.MaxFrame,
				"a frame of type %q with %d bytes", read.Type, len(read.Payload))
			var data any
			if read.Data != nil {
				data = read.Data
			}
			written := check.Must(frame.Append(nil, read.Type, data, read.Payload))(t)
			again, err := frame.NewReader(bytes.NewReader(written)).Next()
			if errors.Is(err, frame.ErrTooLarge) { // escapes are longer
				continue
			}
			same := marshaled(t, read.Data) == marshaled(t, again.Data) && bytes.Equal(again.Payload, read.Payload)
			check.Require(t, err == nil && again.Type == read.Type && same,
				"%q is written as %q: %v", sent, written, err)
		}
	})
}

func marshaled(t *testing.T, v any) string {
	t.Helper()
	return string(check.Must(json.Marshal(v))(t))
}
