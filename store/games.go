package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	bolt "go.etcd.io/bbolt"

	"pressbox/game/live"
)

var (
	gameHeadsBucket = []byte("game_heads")
	gameMovesBucket = []byte("game_moves")
	gamePacksBucket = []byte("game_packs")
	gameBoxesBucket = []byte("game_boxes")
)

// errOrder says that a move does not follow the last one; two halls on one store would be a mistake of ours.
var errOrder = errors.New("the move does not follow the last one")

// Games is the store as the hall of games sees it.
func (s *Store) Games() live.Journal { return games{s} }

type games struct{ store *Store }

// Append makes a change; see [live.Journal]. A game that has ended is packed in the same transaction.
func (g games) Append(ctx context.Context, c live.Change) (crowded bool, err error) {
	if c.First == 1 {
		if err := g.store.room(); err != nil {
			return true, fmt.Errorf("begin game %s: %w: %w", c.Game, live.ErrFull, err)
		}
	}
	err = g.store.update(ctx, func(tx *bolt.Tx) error {
		if c.Summary == nil {
			return forgetGame(tx, []byte(c.Game))
		}
		return keepGame(tx, c)
	})
	if err != nil {
		return false, fmt.Errorf("keep game %s from move %d: %w", c.Game, c.First, err)
	}
	st, err := g.store.Stats()
	return err == nil && st.NearlyFull(), nil
}

// forgetGame removes all there is of a game.
func forgetGame(tx *bolt.Tx, id []byte) error {
	for _, name := range [...][]byte{gameHeadsBucket, gamePacksBucket, gameBoxesBucket} {
		if err := tx.Bucket(name).Delete(id); err != nil {
			return err
		}
	}
	if moves := tx.Bucket(gameMovesBucket); moves.Bucket(id) != nil {
		return moves.DeleteBucket(id)
	}
	return nil
}

// keepGame appends moves. The sequence of a game's bucket is its last revision, also when its moves were packed.
func keepGame(tx *bolt.Tx, c live.Change) error {
	id := []byte(c.Game)
	moves, err := tx.Bucket(gameMovesBucket).CreateBucketIfNotExists(id)
	if err != nil {
		return err
	}
	if moves.Sequence()+1 != c.First {
		return fmt.Errorf("%w: %d after %d", errOrder, c.First, moves.Sequence())
	}
	last := moves.Sequence()
	for _, m := range c.Moves {
		last++
		if err := moves.Put(number(last), m); err != nil {
			return err
		}
	}
	if err := moves.SetSequence(last); err != nil {
		return err
	}
	if err := tx.Bucket(gameHeadsBucket).Put(id, c.Summary); err != nil {
		return err
	}
	if c.Box == nil {
		return nil
	}
	if err := packGame(tx, id); err != nil {
		return err
	}
	box, err := squeeze(c.Box)
	if err != nil {
		return err
	}
	return tx.Bucket(gameBoxesBucket).Put(id, box)
}

// packGame replaces the moves of a game by one value that holds all of them.
func packGame(tx *bolt.Tx, id []byte) error {
	all, err := gameMoves(tx, id)
	if err != nil {
		return err
	}
	var plain []byte
	for _, m := range all {
		plain = append(binary.AppendUvarint(plain, uint64(len(m))), m...)
	}
	pack, err := squeeze(plain)
	if err != nil {
		return err
	}
	if err := tx.Bucket(gamePacksBucket).Put(id, pack); err != nil {
		return err
	}
	moves := tx.Bucket(gameMovesBucket)
	last := moves.Bucket(id).Sequence()
	if err := moves.DeleteBucket(id); err != nil {
		return err
	}
	empty, err := moves.CreateBucket(id)
	if err != nil {
		return err
	}
	return empty.SetSequence(last)
}

// gameMoves returns all moves of a game: those in its pack, then those that came later.
func gameMoves(tx *bolt.Tx, id []byte) ([][]byte, error) {
	var all [][]byte
	if pack := tx.Bucket(gamePacksBucket).Get(id); pack != nil {
		var err error
		if all, err = movesIn(pack); err != nil {
			return nil, err
		}
	}
	if moves := tx.Bucket(gameMovesBucket).Bucket(id); moves != nil {
		for _, m := range pairs(moves) {
			all = append(all, bytes.Clone(m))
		}
	}
	return all, nil
}

// movesIn returns the moves of a pack.
func movesIn(pack []byte) (moves [][]byte, err error) {
	plain, err := expand(pack)
	if err != nil {
		return nil, err
	}
	for len(plain) > 0 {
		n, size := binary.Uvarint(plain)
		if size <= 0 || n > uint64(len(plain)-size) { //nolint:gosec // size is at most len(plain)
			return nil, fmt.Errorf("%w: a pack of moves ends in one", ErrCorrupt)
		}
		end := size + int(n) //nolint:gosec // not more than there is
		moves, plain = append(moves, plain[size:end]), plain[end:]
	}
	return moves, nil
}

// Summaries returns the heads of all games; see [live.Journal].
func (g games) Summaries(context.Context) (map[string][]byte, error) {
	heads := map[string][]byte{}
	err := g.store.view(func(tx *bolt.Tx) error {
		for id, head := range pairs(tx.Bucket(gameHeadsBucket)) {
			heads[string(id)] = bytes.Clone(head)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the games: %w", err)
	}
	return heads, nil
}

// Moves returns all moves of a game; see [live.Journal].
func (g games) Moves(_ context.Context, id string) (moves [][]byte, err error) {
	err = g.store.view(func(tx *bolt.Tx) error {
		moves, err = gameMoves(tx, []byte(id))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read game %s: %w", id, err)
	}
	return moves, nil
}

// Boxes returns the box scores of games that have ended; see [live.Journal].
func (g games) Boxes(_ context.Context, ids []string) (map[string][]byte, error) {
	boxes := map[string][]byte{}
	err := g.store.view(func(tx *bolt.Tx) error {
		for _, id := range ids {
			packed := tx.Bucket(gameBoxesBucket).Get([]byte(id))
			if packed == nil {
				continue
			}
			box, err := expand(packed)
			if err != nil {
				return fmt.Errorf("game %s: %w", id, err)
			}
			boxes[id] = box
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read box scores: %w", err)
	}
	return boxes, nil
}

func squeeze(plain []byte) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(plain); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// mostExpanded is far more than any game: 64 MiB.
const mostExpanded = 64 << 20

func expand(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	plain, err := io.ReadAll(io.LimitReader(z, mostExpanded+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if len(plain) > mostExpanded {
		return nil, fmt.Errorf("%w: more than %d bytes of a game", ErrCorrupt, mostExpanded)
	}
	return plain, nil
}
