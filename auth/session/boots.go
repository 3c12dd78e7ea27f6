package session

import (
	"context"
	"fmt"
	"time"

	"pressbox/auth"
	"pressbox/store/clock"
)

// bootOrder bounds the boots that are stored. Records of older boots are older
// than any lifetime.
//
//nolint:gochecknoglobals // a constant
var bootOrder = ageOrder{index: tableBootOrder, table: tableBoot, limit: 1000}

// OpenClock returns a clock that knows the boots in a repository, and stores the
// present one. built is when the program was built: the time cannot be earlier.
func OpenClock(ctx context.Context, repo auth.Repository, src clock.Source, built time.Time) (*clock.Clock, error) {
	boots := make(map[string]clock.Boot)
	err := repo.View(ctx, func(tx auth.Tx) error {
		return each(tx, tableBoot, nil, func(key string, b clock.Boot) error {
			boots[key] = b
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the boots: %w", err)
	}
	c := clock.New(src, built, boots)
	return c, SaveClock(ctx, repo, c)
}

// SaveClock stores the present boot, and deletes the oldest of more than a
// thousand.
func SaveClock(ctx context.Context, repo auth.Repository, c *clock.Clock) error {
	id, boot := c.Boot()
	err := repo.Update(ctx, func(tx auth.Tx) error {
		if tx.Get(tableBoot, []byte(id)) == nil {
			if _, err := bootOrder.add(tx, []byte(id), nil); err != nil {
				return err
			}
		}
		return put(tx, tableBoot, []byte(id), boot)
	})
	if err != nil {
		return fmt.Errorf("save the clock: %w", err)
	}
	return nil
}
