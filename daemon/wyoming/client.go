package wyoming

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"pressbox/daemon/limits"
	"pressbox/daemon/wyoming/frame"
	"pressbox/voice"
	"pressbox/voice/announce"
)

// A client is one connection.
type client struct {
	*Server
	conn   net.Conn
	addr   netip.Addr
	in     *frame.Reader
	idle   time.Time // by which the next frame must begin
	stream *stream   // that the client has started; nil if there is none
}

func newClient(s *Server, conn net.Conn, addr netip.Addr) *client {
	return &client{Server: s, conn: conn, addr: addr, in: frame.NewReader(conn), idle: time.Now().Add(idleTimeout)}
}

// serve handles frames until the client disconnects, does something wrong, or ctx ends. Speech ends with
// speaking, which ends later.
func (c *client) serve(ctx, speaking context.Context) {
	for {
		f, err := c.next(ctx)
		if err == nil {
			err = c.pace(ctx)
		}
		if err == nil {
			err = c.handle(speaking, f)
		}
		if err != nil {
			c.fail(err)
			return
		}
	}
}

// next returns the next frame.
func (c *client) next(ctx context.Context) (frame.Frame, error) {
	if err := c.readUntil(ctx, c.idle); err != nil {
		return frame.Frame{}, err
	}
	if err := c.in.Wait(); err != nil {
		return frame.Frame{}, disconnected(err)
	}
	if err := c.readUntil(ctx, time.Now().Add(frameTimeout)); err != nil {
		return frame.Frame{}, err
	}
	f, err := c.in.Next()
	if err != nil && !errors.Is(err, frame.ErrMalformed) && !errors.Is(err, frame.ErrTooLarge) {
		err = disconnected(err)
	}
	return f, err
}

// pace waits until the client may send a frame.
func (c *client) pace(ctx context.Context) error {
	if !c.limited() {
		return nil
	}
	return c.frames.Wait(ctx, c.addr)
}

// readUntil sets the deadline for reading, or returns an error if ctx has ended.
func (c *client) readUntil(ctx context.Context, deadline time.Time) error {
	if err := c.conn.SetReadDeadline(deadline); err != nil {
		return disconnected(err)
	}
	return ctx.Err()
}

// handle handles a frame. Unknown types are ignored, and do not keep the connection open.
func (c *client) handle(ctx context.Context, f frame.Frame) error {
	handlers := map[string]func(context.Context, frame.Frame) error{
		"describe":         c.describe,
		"ping":             c.pong,
		"synthesize":       c.synthesize,
		"synthesize-start": c.startStream,
		"synthesize-chunk": c.extendStream,
		"synthesize-stop":  c.endStream,
	}
	handler, known := handlers[f.Type]
	if !known {
		return nil
	}
	err := handler(ctx, f)
	c.idle = time.Now().Add(idleTimeout)
	return err
}

func (c *client) describe(context.Context, frame.Frame) error { return c.send("info", c.info()) }

// A textData is the data of ping, pong and synthesize-chunk.
type textData struct {
	Text string `json:"text"`
}

func (c *client) pong(_ context.Context, f frame.Frame) error {
	var ping textData
	if err := f.Decode(&ping); err != nil {
		return err
	}
	return c.send("pong", ping)
}

// A synthesizeData is the data of synthesize and synthesize-start.
type synthesizeData struct {
	Text  string `json:"text"`
	Voice struct {
		Name     string `json:"name"`
		Speaker  string `json:"speaker"`
		Language string `json:"language"`
	} `json:"voice"`
}

// voice returns the name of the voice that the client asks for; "" is the default voice.
func (d synthesizeData) voice(installed []Voice) string {
	wanted := d.Voice
	if wanted.Name == "" {
		for _, v := range installed {
			if wanted.Language != "" && speaks(v, wanted.Language) {
				return v.Name
			}
		}
		return ""
	}
	if wanted.Speaker != "" {
		return wanted.Name + "#" + wanted.Speaker
	}
	return wanted.Name
}

// speaks reports whether a voice speaks a language such as "en", "en-US" or "en_US".
func speaks(v Voice, language string) bool {
	language = strings.ReplaceAll(language, "-", "_")
	base, _, _ := strings.Cut(v.Language, "_")
	return strings.EqualFold(v.Language, language) || strings.EqualFold(base, language)
}

// synthesize speaks a text. In a stream, its text is that of the stream again, for servers without streams.
func (c *client) synthesize(ctx context.Context, f frame.Frame) error {
	if c.stream != nil {
		return nil
	}
	s, text, err := c.open(f)
	if err == nil {
		err = s.speak(ctx, s.shorten(text))
	}
	if err == nil {
		err = s.close()
	}
	c.logSpeech(s, err)
	return err
}

// startStream begins a stream, whose voice is known then.
func (c *client) startStream(_ context.Context, f frame.Frame) error {
	s, _, err := c.open(f)
	if err == nil {
		_, err = s.check("")
	}
	c.stream = s
	return err
}

// extendStream speaks the sentences that are now complete.
func (c *client) extendStream(ctx context.Context, f frame.Frame) error {
	var chunk textData
	if err := f.Decode(&chunk); err != nil || c.stream == nil {
		return err
	}
	return c.stream.add(ctx, chunk.Text)
}

// endStream speaks what is left.
func (c *client) endStream(ctx context.Context, _ frame.Frame) error {
	s := c.stream
	if s == nil {
		return nil
	}
	c.stream = nil
	err := s.flush(ctx)
	if err == nil {
		err = c.send("synthesize-stopped", nil)
	}
	c.logSpeech(s, err)
	return err
}

// open counts a request for speech, and returns a stream for it and its text.
func (c *client) open(f frame.Frame) (s *stream, text string, err error) {
	s = &stream{client: c, began: time.Now(), time: limits.NewReadTime()}
	if c.limited() && c.Posts.Reserve(c.addr, s.began) > 0 {
		return s, "", errTooMany
	}
	var data synthesizeData
	if err := f.Decode(&data); err != nil {
		return s, "", err
	}
	s.voice = data.voice(c.Voices())
	return s, data.Text, nil
}

// limited reports whether the client's requests are counted.
func (c *client) limited() bool { return c.LimitLoopback || !c.addr.IsLoopback() }

func (c *client) logSpeech(s *stream, err error) {
	if err == nil {
		c.Log.Info("wyoming request", "client", c.addr.String(), "voice", s.voice, "characters", s.length,
			"took", time.Since(s.began))
	}
}

// send sends a response.
func (c *client) send(kind string, data any) error {
	message, err := frame.Append(nil, kind, data, nil)
	if err != nil {
		return err
	}
	return c.write(message, time.Now().Add(writeTimeout))
}

func (c *client) write(message []byte, deadline time.Time) error {
	if err := c.conn.SetWriteDeadline(deadline); err != nil {
		return disconnected(err)
	}
	if _, err := c.conn.Write(message); err != nil {
		return disconnected(err)
	}
	return nil
}

var (
	errTooMany      = errors.New("too many requests from this address")
	errDisconnected = errors.New("the client has disconnected, or is too slow")
)

// disconnected wraps the error of a connection.
func disconnected(err error) error { return fmt.Errorf("%w: %w", errDisconnected, err) }

// An errorData is the data of error.
type errorData struct {
	Text string `json:"text"`
	Code string `json:"code"`
}

// internal is the code of errors that are not explained to clients.
const internal = "internal"

// codeOf returns the code of the error event for err.
func codeOf(err error) string {
	request, isRequest := errors.AsType[*announce.RequestError](err)
	switch {
	case isRequest:
		return request.Violations[0].Code
	case errors.Is(err, frame.ErrMalformed):
		return "malformed"
	case errors.Is(err, frame.ErrTooLarge):
		return "too_large"
	case errors.Is(err, errTooMany), errors.Is(err, limits.ErrClientBusy):
		return "too_many_requests"
	case errors.Is(err, limits.ErrBusy):
		return "busy"
	case errors.Is(err, voice.ErrUnreadable):
		return announce.CodeNotSpeakable
	case errors.Is(err, voice.ErrUnavailable):
		return "speech_unavailable"
	default:
		return internal
	}
}

// fail sends an error event, unless the connection has failed, and ends the connection: older clients do not read
// errors, and wait for its end.
func (c *client) fail(err error) {
	if errors.Is(err, errDisconnected) || errors.Is(err, context.Canceled) { // canceled: the server stops
		return
	}
	data := errorData{err.Error(), codeOf(err)}
	if data.Code == internal {
		data.Text = "internal error; the server's log has the cause"
		c.Log.Error("wyoming request", "client", c.addr.String(), "err", err)
	} else {
		c.Log.Warn("wyoming request refused", "client", c.addr.String(), "code", data.Code, "err", err)
	}
	if c.send("error", data) == nil {
		c.drain()
	}
}

// drain reads what the client is still sending, so that the kernel does not answer it with a reset, which would discard
// the error event that the client has not read.
func (c *client) drain() {
	conn, ok := c.conn.(interface{ CloseWrite() error })
	if ok && conn.CloseWrite() == nil && c.conn.SetReadDeadline(time.Now().Add(drainTimeout)) == nil {
		_, _ = io.CopyN(io.Discard, c.conn, maxDrained)
	}
}
