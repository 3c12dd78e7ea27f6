package display

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// loaded is a script that is true in a page that was loaded, and not in the browser's page about
// an error.
const loaded = `location.protocol.startsWith("http") && document.readyState !== "loading"`

// devtools are the Chrome DevTools of a browser, by two pipes that no other process has: a port
// would let every user of the host control the browser.
type devtools struct {
	to       *os.File
	from     *os.File
	messages chan message // from the browser; closed at its end
	lastID   int
}

// A message is a response of the browser.
type message struct {
	ID     int             `json:"id"` // of the command; 0 for an event
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// A command asks the browser, or a page in a session.
type command struct {
	ID      int            `json:"id"`
	Session string         `json:"sessionId,omitempty"`
	Method  string         `json:"method"`
	Params  map[string]any `json:"params,omitempty"`
}

// start starts a browser, which reads commands from its file descriptor 3, and writes messages
// to 4.
func start(cmd *exec.Cmd) (*devtools, error) {
	commands, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer commands.Close() //nolint:errcheck // the browser's end
	from, messages, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, to.Close())
	}
	defer messages.Close() //nolint:errcheck // the browser's end
	cmd.ExtraFiles = []*os.File{commands, messages}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, to.Close(), from.Close())
	}
	d := &devtools{to: to, from: from, messages: make(chan message)}
	go d.read()
	return d, nil
}

// maxMessage limits a message of the browser, in bytes with its end.
const maxMessage = 1 << 20

// read passes responses on until the pipe ends, or a message is too long; each ends with a zero byte.
func (d *devtools) read() {
	defer close(d.messages)
	texts := bufio.NewScanner(d.from)
	texts.Buffer(nil, maxMessage)
	texts.Split(func(data []byte, _ bool) (advance int, text []byte, err error) {
		if end := bytes.IndexByte(data, 0); end >= 0 {
			return end + 1, data[:end], nil
		}
		return 0, nil, nil
	})
	for texts.Scan() {
		var m message
		if err := json.Unmarshal(texts.Bytes(), &m); err == nil && m.ID != 0 {
			d.messages <- m
		}
	}
}

// close closes the pipes, and waits for the end of read.
func (d *devtools) close() {
	_, _ = d.to.Close(), d.from.Close()
	for range d.messages { // responses that came too late
	}
}

// answers reports whether the page runs scripts and is loaded, within a time.
func (d *devtools) answers(ctx context.Context, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var list struct {
		Targets []struct {
			ID   string `json:"targetId"`
			Type string `json:"type"`
		} `json:"targetInfos"`
	}
	if d.call(ctx, command{Method: "Target.getTargets"}, &list) != nil {
		return false
	}
	for _, target := range slices.Backward(list.Targets) {
		if target.Type == "page" {
			return d.isLoaded(ctx, target.ID)
		}
	}
	return false
}

// isLoaded reports whether a page runs scripts and is loaded.
func (d *devtools) isLoaded(ctx context.Context, target string) bool {
	var attached struct {
		Session string `json:"sessionId"`
	}
	if d.call(ctx, command{
		Method: "Target.attachToTarget", Params: map[string]any{"targetId": target, "flatten": true},
	}, &attached) != nil {
		return false
	}
	var evaluated struct {
		Result struct {
			Value bool `json:"value"`
		} `json:"result"`
	}
	err := d.call(ctx, command{
		Session: attached.Session, Method: "Runtime.evaluate",
		Params: map[string]any{"expression": loaded, "returnByValue": true},
	}, &evaluated)
	// its response is dropped
	_ = d.send(ctx, command{Method: "Target.detachFromTarget", Params: map[string]any{"sessionId": attached.Session}})
	return err == nil && evaluated.Result.Value
}

// call sends a command, and decodes its result.
func (d *devtools) call(ctx context.Context, c command, result any) error {
	if err := d.send(ctx, c); err != nil {
		return err
	}
	id := d.lastID
	for {
		select {
		case m, ok := <-d.messages:
			switch {
			case !ok:
				return errors.New("the browser has ended")
			case m.ID != id: // of an earlier command, which has timed out
			case m.Error != nil:
				return fmt.Errorf("%s: %s", c.Method, m.Error.Message)
			default:
				return json.Unmarshal(m.Result, result)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// send sends a command, with the next id.
func (d *devtools) send(ctx context.Context, c command) error {
	d.lastID++
	c.ID = d.lastID
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	deadline, _ := ctx.Deadline() // a browser that hangs may not read
	if err := d.to.SetWriteDeadline(deadline); err != nil {
		return err
	}
	_, err = d.to.Write(append(text, 0))
	return err
}
