package esphome

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"pressbox/audio"
	"pressbox/voice/announce"
	"pressbox/voice/announce/draft"
	"pressbox/voice/announce/webhook"
	"pressbox/voice/sounds"
)

// heardWithin is how long Home Assistant waits for the end of an announcement, with some reserve.
const heardWithin = 4 * time.Minute

var errTooMany = errors.New("too many requests from this address")

// An awaited is an announcement whose end the client waits for.
type awaited struct {
	id    string
	until time.Time
}

// announceText announces what a client wants the voice assistant to say, and tells it the end: a text in the voice of
// this server, or else a recording.
func (c *client) announceText(a announcement) {
	id := c.await()
	begun := c.enqueue("an announcement", func(ctx context.Context) {
		var err error
		if a.text == "" {
			err = c.announceRecording(ctx, id, a.url, a.preamble != "")
		} else {
			err = c.announce(ctx, id, a.text, a.preamble != "")
		}
		if err != nil {
			c.refuse("an announcement", err)
			c.finish(id, false)
		}
	})
	if !begun {
		c.finish(id, false)
	}
}

// announceURL announces a recording for the media player.
func (c *client) announceURL(ctx context.Context, url string, chime bool) {
	if err := c.announceRecording(ctx, newID(), url, chime); err != nil {
		c.refuse("a recording", err)
		_ = c.tellState(true) // the connection ends by itself
	}
}

func newID() string { return strings.ToLower(rand.Text()) }

// announce accepts an announcement, with the usual chime or none.
func (c *client) announce(ctx context.Context, id, text string, chime bool) error {
	if err := c.count(1); err != nil {
		return err
	}
	d := draft.Draft{}
	d.Request.Message = webhook.Shorten(text)
	if d.Request.Message != text {
		c.Log.Warn("esphome text too long, its beginning is spoken", "client", c.addr.String())
	}
	return c.accept(ctx, &d, announce.Request{ID: id}, chime)
}

// announceRecording fetches a recording, saves it, and accepts its announcement.
func (c *client) announceRecording(ctx context.Context, id, url string, chime bool) error {
	if err := c.count(recordingCost); err != nil {
		return err
	}
	l := sounds.Fetched()
	ctx, cancel := context.WithTimeout(ctx, l.Queue+l.Time+time.Minute) // and to decode it
	defer cancel()
	file, err := c.fetch(ctx, url)
	if err != nil {
		return err
	}
	defer file.Close()
	length, err := c.Recordings.Record(ctx, id, c.shareOf(), l, file)
	if err == nil {
		err = c.accept(ctx, &draft.Draft{}, announce.Request{ID: id, Recording: length}, chime)
	}
	if err != nil {
		c.Recordings.Forget(id)
	}
	return err
}

// accept accepts the announcement of a draft.
func (c *client) accept(ctx context.Context, d *draft.Draft, by announce.Request, chime bool) error {
	if !chime {
		d.Request.Chime = string(audio.NoChime)
	}
	by.Limited = c.limited()
	by.Sender = announce.Sender{
		Kind: announce.FromHomeAssistant, Client: c.Blocks.Client(c.addr),
	}
	_, err := d.Announce(ctx, c.Announcer, by)
	return err
}

// shareOf returns the client that has a share of the recordings; "" has no limit of its own.
func (c *client) shareOf() string {
	if c.limited() {
		return c.Blocks.Client(c.addr)
	}
	return ""
}

// count counts so many announcements of the client.
func (c *client) count(n int) error {
	if c.limited() && c.Posts.ReserveN(c.addr, n, time.Now()) > 0 {
		return errTooMany
	}
	return nil
}

// await returns the id of an announcement whose end the client waits for.
func (c *client) await() (id string) {
	id = newID()
	c.writing.Lock()
	c.awaiting = append(c.awaiting, awaited{id, time.Now().Add(heardWithin)})
	c.writing.Unlock()
	select {
	case c.changed <- struct{}{}: // the watcher has a time to keep
	default:
	}
	return id
}

// finish tells the client the end of an announcement that it waits for, once.
func (c *client) finish(id string, success bool) {
	c.writing.Lock()
	before := len(c.awaiting)
	c.awaiting = slices.DeleteFunc(c.awaiting, func(a awaited) bool { return a.id == id })
	ends := len(c.awaiting) < before
	c.writing.Unlock()
	if ends {
		c.finished(success)
	}
}

func (c *client) finished(success bool) {
	_ = c.send(announceFinished, body{}.truth(1, success)) // a connection that fails ends by itself
}

// watch sends states and the ends of announcements until ctx ends. It sleeps while nothing changes.
func (c *client) watch(ctx context.Context) {
	events, endEvents := c.Announcer.Watch()
	defer func() { endEvents() }()
	changes, endChanges := c.Changes()
	defer func() { endChanges() }()
	for {
		late := time.NewTimer(c.wait(time.Now()))
		if err := c.tellState(false); err != nil {
			_ = c.conn.Close() // the client does not read
			return
		}
		select {
		case e, ok := <-events:
			if !ok { // it fell behind, or the announcer ends
				endEvents()
				events, endEvents = c.Announcer.Watch()
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
				}
				c.review(time.Now())
			} else {
				c.look(e.View, time.Now())
			}
		case _, ok := <-changes:
			if !ok {
				endChanges()
				changes, endChanges = nil, func() {}
			}
		case <-c.changed: // there is one more to wait for
		case <-late.C:
			c.review(time.Now())
		case <-ctx.Done():
			return
		}
		late.Stop()
	}
}

// wait returns the time until the first announcement that the client waits for is late; long if there is none.
func (c *client) wait(now time.Time) time.Duration {
	c.writing.Lock()
	defer c.writing.Unlock()
	if len(c.awaiting) == 0 {
		return 24 * time.Hour
	}
	return c.awaiting[0].until.Sub(now)
}

// look tells the client the end of an announcement if it has ended, or will not be heard in time.
func (c *client) look(v *announce.View, now time.Time) {
	c.writing.Lock()
	i := slices.IndexFunc(c.awaiting, func(a awaited) bool { return v != nil && a.id == v.ID })
	late := i >= 0 && (!now.Before(c.awaiting[i].until) ||
		v.Status == announce.Scheduled && (v.SpeaksAt.IsZero() || v.SpeaksAt.After(c.awaiting[i].until)))
	c.writing.Unlock()
	if i < 0 || !late && !v.Status.Ended() {
		return
	}
	success := v.Status == announce.Done
	if !success {
		c.Log.Warn("esphome announcement not heard", "announcement", v.ID, "status", v.Status, "reason", v.Reason)
	}
	c.finish(v.ID, success)
}

// review looks at all announcements that the client waits for.
func (c *client) review(now time.Time) {
	c.writing.Lock()
	all := slices.Clone(c.awaiting)
	c.writing.Unlock()
	for _, a := range all {
		switch v, err := c.Announcer.Find(a.id); {
		case err == nil:
			c.look(&v, now)
		case !now.Before(a.until):
			c.finish(a.id, false)
		}
	}
}
