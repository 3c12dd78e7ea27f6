package idp

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// A Cost holds the parameters of argon2id.
type Cost struct {
	Memory uint32 `json:"memory"` // KiB
	Time   uint32 `json:"time"`   // passes
}

// MinCost returns the lower limit: OWASP's recommendation.
func MinCost() Cost { return Cost{Memory: 19 << 10, Time: 2} }

// Calibrate returns the cost that takes about the given time on this host, and at
// least [MinCost].
func Calibrate(about time.Duration) Cost {
	cost := MinCost()
	start := time.Now()
	argon2.IDKey([]byte("calibration"), make([]byte, 16), cost.Time, cost.Memory, 1, 32)
	pass := max(time.Since(start)/time.Duration(cost.Time), time.Microsecond)
	cost.Time = max(cost.Time, uint32(min(about/pass, 64))) //nolint:gosec // 0–64
	return cost
}

// A Hasher hashes passphrases, at most two at a time, which bounds its memory.
type Hasher struct {
	cost  func() Cost
	slots chan struct{}
}

// NewHasher returns a hasher. It calls cost once, before the first hash.
func NewHasher(cost func() Cost) *Hasher {
	return &Hasher{sync.OnceValue(cost), make(chan struct{}, 2)}
}

// CalibratedCost returns the cost function that calibrates once per store: later
// calls, also of later processes, return the cached cost.
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
			// Without the cached value the next process calibrates again.
			_ = cache.SaveCached(context.Background(), key, raw)
		}
		return cost
	}
}

// Hash returns the hash of a passphrase in PHC string format, with a random salt.
// Unicode normalization makes equal characters equal passphrases.
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

// Verify reports whether a passphrase matches a hash, and whether the hash has
// another cost than new ones. An empty hash matches nothing and takes as long as
// any other.
func (h *Hasher) Verify(ctx context.Context, hash, passphrase string) (right, old bool, err error) {
	stored := phc{h.cost(), make([]byte, 16), make([]byte, 32)}
	if hash != "" {
		if stored, err = parsePHC(hash); err != nil {
			return false, false, err
		}
	}
	got, err := h.key(ctx, passphrase, stored.salt, stored.cost)
	if err != nil {
		return false, false, err
	}
	right = subtle.ConstantTimeCompare(got, stored.key) == 1 && hash != ""
	return right, stored.cost != h.cost(), nil
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

// A phc holds the fields of a hash in PHC string format.
type phc struct {
	cost      Cost
	salt, key []byte
}

// parsePHC parses the output of [Hasher.Hash].
func parsePHC(hash string) (h phc, err error) {
	format := fmt.Sprintf("$argon2id$v=%d$m=%%d,t=%%d,p=1$%%s", argon2.Version)
	var rest string
	if _, err = fmt.Sscanf(hash, format, &h.cost.Memory, &h.cost.Time, &rest); err != nil {
		return h, fmt.Errorf("parse a passphrase hash: %w", err)
	}
	if h.cost.Memory > 1<<20 || h.cost.Time < 1 || h.cost.Time > 1000 {
		return h, fmt.Errorf("hash has cost %+v, want at most 1 GiB and 1 to 1000 passes", h.cost)
	}
	salt, key, _ := strings.Cut(rest, "$")
	if h.salt, err = base64.RawStdEncoding.DecodeString(salt); err == nil {
		h.key, err = base64.RawStdEncoding.DecodeString(key)
	}
	if err == nil && len(h.key) != 32 {
		err = fmt.Errorf("want 32 bytes, not %d", len(h.key))
	}
	if err != nil {
		return h, fmt.Errorf("parse a hash: %w", err)
	}
	return h, nil
}
