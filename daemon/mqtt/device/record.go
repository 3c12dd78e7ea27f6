package device

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"pressbox/voice/control"
)

// A Record holds what the server remembers of MQTT: its id, the token of the broker's session, and the voice of
// announcements that name none.
type Record struct {
	repo control.Repository
	key  string

	mu    sync.Mutex // guards saved; held while it is saved
	saved stored
}

// stored is the stored form of a Record, as JSON.
type stored struct {
	ID    string `json:"id"` // 8 hex digits
	Token string `json:"session"`
	Voice string `json:"voice,omitempty"` // "" means the default one
}

// OpenRecord reads the record from a repository. If there is none, it saves one with a new random id.
func OpenRecord(ctx context.Context, repo control.Repository, key string) (*Record, error) {
	r := &Record{repo: repo, key: key}
	records, err := repo.Controls(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the MQTT record: %w", err)
	}
	if json.Unmarshal(records[key], &r.saved) == nil && r.saved.ID != "" {
		return r, nil
	}
	id := make([]byte, 4)
	_, _ = rand.Read(id) // never fails
	return r, r.save(ctx, func(s *stored) { *s = stored{ID: hex.EncodeToString(id)} })
}

// save changes the record.
func (r *Record) save(ctx context.Context, change func(*stored)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.saved
	change(&next)
	value, err := json.Marshal(next)
	if err == nil {
		err = r.repo.SaveControl(ctx, r.key, value)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", control.ErrUnavailable, err)
	}
	r.saved = next
	return nil
}

func (r *Record) load() stored {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.saved
}

// ID returns the id of the device.
func (r *Record) ID() string { return r.load().ID }

// Token returns the token of the broker's session; "" means none.
func (r *Record) Token() string { return r.load().Token }

// SaveToken saves the token of the broker's session.
func (r *Record) SaveToken(ctx context.Context, token string) error {
	return r.save(ctx, func(s *stored) { s.Token = token })
}

// Voice returns the voice that was selected; "" means none.
func (r *Record) Voice() string { return r.load().Voice }

// SaveVoice saves the selected voice.
func (r *Record) SaveVoice(ctx context.Context, voice string) error {
	return r.save(ctx, func(s *stored) { s.Voice = voice })
}
