package session

import (
	"context"
	"errors"
	"fmt"

	"pressbox/auth"
)

// flowOrder bounds the flows that are stored.
//
//nolint:gochecknoglobals // a constant
var flowOrder = ageOrder{index: tableFlowOrder, table: tableFlow, limit: auth.MaxPendingFlows}

// savePending stores a flow, and deletes the oldest of too many.
func (s *Sessions) savePending(ctx context.Context, key auth.Hash, flow auth.PendingFlow) error {
	return s.repo.Update(ctx, func(tx auth.Tx) (err error) {
		if flow.Sequence, err = flowOrder.add(tx, key[:]); err != nil {
			return err
		}
		return put(tx, tableFlow, key[:], flow)
	})
}

// takePending returns a flow and deletes it, so that only one of several
// callbacks with the same state gets it. An unknown state causes no write.
func (s *Sessions) takePending(ctx context.Context, key auth.Hash) (flow auth.PendingFlow, err error) {
	read := func(tx auth.Tx) (err error) {
		flow, err = get[auth.PendingFlow](tx, tableFlow, key[:])
		return err
	}
	err = s.repo.View(ctx, read)
	if err == nil {
		err = s.repo.Update(ctx, func(tx auth.Tx) error {
			if err := read(tx); err != nil {
				return err
			}
			return deleteFlow(tx, key[:], flow)
		})
	}
	if errors.Is(err, auth.ErrNotFound) {
		return auth.PendingFlow{}, &auth.RefusalError{Code: auth.CodeInvalidState}
	}
	if err != nil {
		return auth.PendingFlow{}, fmt.Errorf("read a pending sign-in: %w", err)
	}
	return flow, nil
}

func deleteFlow(tx auth.Tx, key []byte, flow auth.PendingFlow) error {
	if err := tx.Delete(tableFlowOrder, sequenceKey(flow.Sequence)); err != nil {
		return err
	}
	return tx.Delete(tableFlow, key)
}

// deleteExpiredFlows deletes the flows that expired a whole lifetime ago. Until
// then their callbacks are refused as expired, not as unknown.
func (s *Sessions) deleteExpiredFlows(tx auth.Tx) error {
	expired := make(map[string]auth.PendingFlow)
	err := each(tx, tableFlow, nil, func(key string, flow auth.PendingFlow) error {
		if s.clock.Age(flow.Started) > 2*auth.FlowTTL {
			expired[key] = flow
		}
		return nil
	})
	for key, flow := range expired {
		if err == nil {
			err = deleteFlow(tx, []byte(key), flow)
		}
	}
	return err
}
