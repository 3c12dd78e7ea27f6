package idp

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// A Cost is argon2id's parameters.
type Cost struct {
	Memory uint32 `json:"memory"` // KiB
	Time   uint32 `json:"time"`   // passes
}

// MinCost is the least that is ever used: OWASP's recommendation.
func MinCost() Cost { return Cost{Memory: 19 << 10, Time: 2} }

// Calibrate finds the cost that keeps this machine busy for about, and not
// more than, the given time; never less than [MinCost].
func Calibrate(about time.Duration) Cost {
	cost := MinCost()
	began := time.Now()
	argon2.IDKey([]byte("calibration"), make([]byte, 16), cost.Time, cost.Memory, 1, 32)
	pass := max(time.Since(began)/time.Duration(cost.Time), time.Microsecond)
	cost.Time = max(cost.Time, uint32(min(about/pass, 64))) //nolint:gosec // 0–64
	return cost
}

// A Hasher hashes passphrases, two at a time at most, so that many people at
// the door do not take all the memory.
type Hasher struct {
	cost  func() Cost
	slots chan struct{}
}

// NewHasher makes a hasher of a given cost, called once, when it is first
// needed.
func NewHasher(cost func() Cost) *Hasher {
	return &Hasher{sync.OnceValue(cost), make(chan struct{}, 2)}
}

// CalibratedCost is the cost found for this machine when it was first needed,
// kept in cache ever since, so that all hashes here cost the same.
func CalibratedCost(cache Cache) func() Cost {
	const key = "argon2id"
	return func() Cost {
		var cost Cost
		raw, err := cache.Cached(context.Background(), key)
		if least := MinCost(); err == nil && json.Unmarshal(raw, &cost) == nil &&
			cost.Memory >= least.Memory && cost.Time >= least.Time {
			return cost
		}
		cost = Calibrate(300 * time.Millisecond)
		if raw, err := json.Marshal(cost); err == nil {
			// Not keeping it means to calibrate again: no reason to keep anybody out.
			_ = cache.SaveCached(context.Background(), key, raw)
		}
		return cost
	}
}

// Hash is a passphrase in PHC's notation, with a salt of its own. The same
// characters composed differently are the same passphrase.
func (h *Hasher) Hash(ctx context.Context, passphrase string) (string, error) {
	salt := make([]byte, 16)
	rand.Read(salt) // never fails
	cost := h.cost()
	key, err := h.key(ctx, passphrase, salt, cost)
	if err != nil {
		return "", err
	}
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s",
		argon2.Version, cost.Memory, cost.Time, enc.EncodeToString(salt), enc.EncodeToString(key)), nil
}

// Verify says whether a passphrase is the hashed one, and whether the hash is
// of another cost than today's. An empty hash belongs to nobody and takes as
// long as any other.
func (h *Hasher) Verify(ctx context.Context, hash, passphrase string) (right, old bool, err error) {
	kept := hashed{h.cost(), make([]byte, 16), make([]byte, 32)}
	if hash != "" {
		if kept, err = parsePHC(hash); err != nil {
			return false, false, err
		}
	}
	got, err := h.key(ctx, passphrase, kept.salt, kept.cost)
	if err != nil {
		return false, false, err
	}
	right = subtle.ConstantTimeCompare(got, kept.key) == 1 && hash != ""
	return right, kept.cost != h.cost(), nil
}

func (h *Hasher) key(ctx context.Context, passphrase string, salt []byte, cost Cost) ([]byte, error) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-h.slots }()
	return argon2.IDKey([]byte(norm.NFC.String(passphrase)), salt, cost.Time, cost.Memory, 1, 32), nil
}

// hashed is a hash taken apart.
type hashed struct {
	cost      Cost
	salt, key []byte
}

// parsePHC reads what [Hasher.Hash] wrote.
func parsePHC(hash string) (h hashed, err error) {
	part := strings.Split(hash, "$")
	if len(part) != 6 || part[0] != "" || part[1] != "argon2id" || part[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return h, errors.New("a passphrase's hash is not argon2id")
	}
	if _, err = fmt.Sscanf(part[3], "m=%d,t=%d,p=1", &h.cost.Memory, &h.cost.Time); err != nil {
		return h, fmt.Errorf("read the cost of a hash: %w", err)
	}
	if h.cost.Memory > 1<<20 || h.cost.Time < 1 || h.cost.Time > 1000 {
		return h, fmt.Errorf("the cost of a hash is %+v", h.cost)
	}
	if h.salt, err = base64.RawStdEncoding.DecodeString(part[4]); err != nil {
		return h, fmt.Errorf("read the salt of a hash: %w", err)
	}
	if h.key, err = base64.RawStdEncoding.DecodeString(part[5]); err != nil {
		return h, fmt.Errorf("read a hash: %w", err)
	}
	if len(h.key) != 32 {
		return h, fmt.Errorf("a hash has %d bytes, want 32", len(h.key))
	}
	return h, nil
}
