package esphome

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/netip"
	"sync"

	"pressbox/daemon/esphome/frame"
	"pressbox/daemon/limits"
	"pressbox/voice/announce"
)

// A client is one connection.
type client struct {
	*Server
	*frame.Transport
	conn *timedConn
	addr netip.Addr
	work chan func(context.Context) // in order; its context outlives the connection

	writing  sync.Mutex // guards writes and the fields below
	states   bool       // the client wants states
	state    playerState
	awaiting []awaited // announcements
	changed  chan struct{}
}

// serve handles messages until the client disconnects, does something wrong, or ctx ends. What it has asked for before
// is done in any case.
func (c *client) serve(ctx context.Context) error {
	c.changed = make(chan struct{}, 1)
	working, cancel := limits.Linger(ctx, stopTimeout)
	defer cancel()
	watching, stop := context.WithCancel(ctx)
	var parts sync.WaitGroup
	parts.Go(func() {
		for do := range c.work {
			do(working)
		}
	})
	var watch sync.WaitGroup
	watch.Go(func() { c.watch(watching) })
	err := c.read(ctx)
	stop()
	watch.Wait()
	close(c.work)
	parts.Wait()
	return err
}

// errGone ends a connection as the client wants.
var errGone = errors.New("the client disconnects")

// read handles messages until an error.
func (c *client) read(ctx context.Context) error {
	for {
		c.conn.begin(idleTimeout)
		if err := c.Wait(); err != nil {
			return err
		}
		c.conn.begin(frameTimeout)
		m, err := c.Next()
		if err == nil {
			err = c.pace(ctx)
		}
		if err == nil {
			err = c.handle(ctx, m)
		}
		if err != nil {
			return err
		}
	}
}

// limited reports whether the client's requests are counted.
func (c *client) limited() bool { return c.LimitLoopback || !c.addr.IsLoopback() }

// pace waits until the client may send a message.
func (c *client) pace(ctx context.Context) error {
	if !c.limited() {
		return nil
	}
	return c.messages.Wait(ctx, c.addr)
}

// handle handles a message. Unknown types are ignored.
func (c *client) handle(ctx context.Context, m frame.Message) error {
	switch m.Type {
	case helloRequest:
		return c.send(helloResponse, body{}.number(1, apiMajor).number(2, apiMinor).
			text(3, "Pressbox "+c.Version).text(4, Name(c.Room)))
	case authenticationRequest:
		return c.send(authenticationResponse, nil)
	case disconnectRequest:
		return errors.Join(c.send(disconnectResponse, nil), errGone)
	case pingRequest:
		return c.send(pingResponse, nil)
	case deviceInfoRequest:
		return c.send(deviceInfoResponse, c.deviceInfo())
	case listEntitiesRequest:
		return errors.Join(c.send(listMediaPlayer, c.mediaPlayer()), c.send(listEntitiesDone, nil))
	case subscribeStates:
		return c.subscribe()
	case configurationRequest:
		return c.send(configurationResponse, nil) // no words wake it
	case mediaPlayerCommand:
		command, err := decodePlayerCommand(m.Body)
		if err != nil {
			return err
		}
		return c.obey(ctx, command)
	case announceRequest:
		a, err := decodeAnnouncement(m.Body)
		if err != nil {
			return err
		}
		c.announceText(a)
	}
	return nil
}

// deviceInfo describes the device. Its MAC address has colons here.
func (c *client) deviceInfo() body {
	mac := MAC(c.ID)
	for i := len(mac) - 2; i > 0; i -= 2 {
		mac = mac[:i] + ":" + mac[i:]
	}
	return body{}.text(2, Name(c.Room)).text(3, mac).text(4, esphomeVersion).text(6, "Pressbox").
		text(8, "pressbox.pressbox").text(9, c.Version).text(12, "Pressbox").text(13, FriendlyName(c.Room)).
		text(16, c.Area).number(17, voiceAssistant|apiAudio|announces)
}

// mediaPlayer describes the media player. Home Assistant sends it WAV of the format that it states.
func (c *client) mediaPlayer() body {
	features := uint64(playMedia | stop | play | browseMedia | mediaAnnounce)
	if c.MayControl() {
		features |= volumeSet | volumeMute | volumeStep
	}
	b := body{}.text(1, "speaker").fixed(2, playerKey).text(3, "Speaker").number(11, features)
	for purpose := range uint64(2) { // any, announcements
		const channels, width = 1, 2
		b = b.message(9, body{}.text(1, "wav").number(2, c.SampleRate).number(3, channels).
			number(4, purpose).number(5, width))
	}
	return b
}

// send sends a message.
func (c *client) send(kind int, b body) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.Write(frame.Message{Type: kind, Body: b})
}

// A playerState is the state of the media player.
type playerState struct {
	playing, muted bool
	volume         int // percent
}

// present returns the state now.
func (c *client) present() playerState {
	v := c.Controls.Volume()
	return playerState{playing: c.Announcer.Stats().Current != "", muted: v.Muted, volume: v.Volume}
}

// subscribe sends the state, and then each change of it.
func (c *client) subscribe() error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.states = true
	return c.sendState(c.present())
}

// sendState sends a state; c.writing must be held.
func (c *client) sendState(s playerState) error {
	c.state = s
	state := uint64(stateIdle)
	if s.playing {
		state = statePlaying
	}
	return c.Write(frame.Message{Type: mediaPlayerState, Body: body{}.fixed(1, playerKey).number(2, state).
		fraction(3, float32(s.volume)/100).truth(4, s.muted)})
}

// tellState sends the state if it has changed, or anyway: a client that has sent a command shows what it has asked for
// until it is told.
func (c *client) tellState(anyway bool) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if s := c.present(); c.states && (anyway || s != c.state) {
		return c.sendState(s)
	}
	return nil
}

// obey carries out a command for the media player: at once, but for what has to be fetched.
func (c *client) obey(ctx context.Context, command playerCommand) error {
	if command.hasURL {
		c.enqueue("a recording", func(ctx context.Context) { c.announceURL(ctx, command.url, command.announcement) })
	}
	changes, err := c.change(ctx, command)
	if err != nil {
		c.Log.Warn("esphome command failed", "client", c.addr.String(), "err", err)
	}
	if changes {
		return c.tellState(true)
	}
	return nil
}

// volumeStepSize is in percent.
const volumeStepSize = 10

// change carries out what a command changes.
func (c *client) change(ctx context.Context, command playerCommand) (changes bool, err error) {
	volume, muted := (*int)(nil), (*bool)(nil)
	set := func(percent float64) {
		volume = new(int(math.Round(max(0, min(100, percent)))))
		muted = new(bool) // who moves it wants to hear something
	}
	if x := float64(command.volume); command.hasVolume && !math.IsNaN(x) {
		set(100 * x)
	}
	if command.hasCommand {
		switch before := float64(c.Controls.Volume().Volume); command.command {
		case commandMute, commandUnmute:
			muted = new(command.command == commandMute)
		case commandVolumeUp:
			set(before + volumeStepSize)
		case commandVolumeDown:
			set(before - volumeStepSize)
		case commandStop:
			if c.limited() && !c.AllowStop(c.addr) {
				return true, errTooMany
			}
			return true, c.stop(ctx)
		case commandPlay:
			return true, nil
		}
	}
	if volume == nil && muted == nil {
		return false, nil
	}
	if !c.MayControl() {
		c.locked.Do(func() {
			c.Log.Warn("esphome may not change the volume: it needs a key, or CONTROL_ACCESS=lan",
				"client", c.addr.String())
		})
		return true, nil
	}
	if c.limited() && !c.AllowVolume(c.addr) {
		return true, errTooMany
	}
	c.Log.Info("control changed", "control", "volume", "sender", announce.FromHomeAssistant)
	_, err = c.Controls.SetVolume(ctx, volume, muted)
	return true, err
}

// stop cancels what is spoken and what waits, as DELETE /notify does.
func (c *client) stop(ctx context.Context) error {
	_, err := c.Announcer.CancelWaiting(ctx, nil)
	if id := c.Announcer.Stats().Current; id != "" {
		_, failed := c.Announcer.Cancel(ctx, id)
		if !errors.Is(failed, announce.ErrEnded) && !errors.Is(failed, announce.ErrNotFound) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// enqueue lets what be done after what the client has asked for before. It reports whether there is room.
func (c *client) enqueue(what string, do func(context.Context)) bool {
	select {
	case c.work <- do:
		return true
	default:
		c.refuse(what, errTooMany)
		return false
	}
}

// refuse tells why something is not announced, in the journal and by MQTT.
func (c *client) refuse(what string, err error) {
	c.Log.Warn("esphome request refused", "client", c.addr.String(), "request", what, "err", err)
	c.Refused(err.Error())
}

// logEnd logs why a connection has ended, unless that is usual.
func (c *client) logEnd(ctx context.Context, err error) {
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, errGone), errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed),
		isNet && !timeout.Timeout():
		return
	default:
		c.Log.Warn("esphome connection refused", "client", c.addr.String(), "err", err)
	}
}
