package store

import (
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"pressbox/voice/control"
)

// KeyMQTT is the key of the record of the MQTT client, which is stored with the controls.
const KeyMQTT = "mqtt"

// KeySettings is the key of the record of the settings that administrators have set on the page.
const KeySettings = "settings"

// Controls returns all records of [control.Repository].
func (s *Store) Controls(ctx context.Context) (map[string][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	records, err := s.values(controlsBucket)
	return records, wrapped(err, "read the controls")
}

// SaveControl writes a record of [control.Repository], or deletes it if value is
// nil. All records take at most a quarter of the share of announcements. The
// volume, quiet, [KeyMQTT] and [KeySettings] are saved even if that is full: they have a few
// hundred bytes.
func (s *Store) SaveControl(ctx context.Context, key string, value []byte) error {
	change := func(tx *bolt.Tx) error {
		t := tableOf(tx, controlsBucket)
		if value == nil {
			return t.Delete([]byte(key))
		}
		before := t.bytes()
		if err := t.Put([]byte(key), value); err != nil {
			return err
		}
		limit := s.limit(announcementsShare) / 4
		if after := t.bytes(); after > before && after > limit && !essential(key) {
			return fmt.Errorf("%w: schedules and favorites would use %d of %d bytes", ErrFull, after, limit)
		}
		return nil
	}
	var err error
	if essential(key) {
		err = s.update(ctx, change)
	} else {
		err = s.grow(ctx, announcementsShare, change)
	}
	return wrapped(err, "save the control %s", key)
}

// essential reports whether a record is saved in the reserve of the file.
func essential(key string) bool {
	return key == control.KeyVolume || key == control.KeyQuiet || key == KeyMQTT || key == KeySettings
}
