package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"pressbox/auth"
	"pressbox/auth/netblock"
)

// flowSize is the size of a pending flow in the store, at most.
const flowSize = 4 << 10

// flowOrder bounds the flows that are stored, also by the room. Its tags are those of flowTag.
func flowOrder(tx auth.Tx) ageOrder {
	return ageOrder{
		index: tableFlowOrder, table: tableFlow, keySize: len(auth.Hash{}), victim: mostPending,
		limit: int(max(2, min(auth.MaxPendingFlows, tx.Room()/16/flowSize))),
	}
}

// flowTag returns the network and the client that start a flow, such as
// "192.168.1.0/24 192.168.1.7/32". It is " " for an unknown address.
func flowTag(blocks *netblock.Table, from netip.Addr) []byte {
	text := func(p netip.Prefix) string {
		if !p.IsValid() {
			return ""
		}
		return p.String()
	}
	return []byte(text(netblock.WideOf(from)) + " " + text(blocks.Of(from).Host))
}

// mostPending returns the index of the oldest tag of the client with most, in the
// network with most; so a client that starts many flows deletes its own.
func mostPending(tags [][]byte) int {
	networks, clients := make(map[string]int), make(map[string]int)
	network := func(tag []byte) string {
		name, _, _ := strings.Cut(string(tag), " ")
		return name
	}
	for _, tag := range tags {
		networks[network(tag)]++
		clients[string(tag)]++
	}
	oldest := 0
	for i, tag := range tags {
		if cmp.Or(
			cmp.Compare(networks[network(tag)], networks[network(tags[oldest])]),
			cmp.Compare(clients[string(tag)], clients[string(tags[oldest])]),
		) > 0 {
			oldest = i
		}
	}
	return oldest
}

// savePending stores a flow that a client starts, and deletes one of too many.
func (s *Sessions) savePending(ctx context.Context, key auth.Hash, tag []byte, flow auth.PendingFlow) error {
	return s.repo.Update(ctx, func(tx auth.Tx) (err error) {
		tx.Leave(tx.Room() / 16)
		if flow.Sequence, err = flowOrder(tx).add(tx, key[:], tag); err != nil {
			return err
		}
		return put(tx, tableFlow, key[:], flow)
	})
}

// takePending returns a flow and deletes it, so that only one of several
// callbacks with the same state gets it. An unknown state causes no write.
func (s *Sessions) takePending(ctx context.Context, key auth.Hash) (auth.PendingFlow, error) {
	read := func(tx auth.Tx) (auth.PendingFlow, error) { return get[auth.PendingFlow](tx, tableFlow, key[:]) }
	flow, err := view(ctx, s, read)
	if err == nil {
		err = s.repo.Update(ctx, func(tx auth.Tx) error {
			if _, err := read(tx); err != nil {
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
	return errors.Join(tx.Delete(tableFlowOrder, sequenceKey(flow.Sequence)), tx.Delete(tableFlow, key))
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
