package store

import (
	"context"
	"time"
)

// sweepInterval is the interval at which [Store.Run] deletes expired data.
const sweepInterval = 10 * time.Minute

// Run deletes expired data every ten minutes until ctx ends.
func (s *Store) Run(ctx context.Context) error {
	sweep := time.NewTicker(sweepInterval)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sweep.C:
			if err := s.DeleteExpired(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("expired data not deleted", "err", err)
			}
		}
	}
}
