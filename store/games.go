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
	summariesBucket = []byte("game_heads")
	movesBucket     = []byte("game_moves")
	packsBucket     = []byte("game_packs")
	boxesBucket     = []byte("game_boxes")
)

// errOrder is a programming error: two owners of one journal.
var errOrder = errors.New("the move does not follow the last one")

// Games returns the store as the journal of games.
func (s *Store) Games() live.Journal { return journal{s} }

type journal struct{ store *Store }

// Append saves a change; see [live.Journal]. The transaction that ends a game also
// packs its moves.
func (j journal) Append(ctx context.Context, c live.Change) (space live.Space, err error) {
	space.All = j.store.limit(gamesShare)
	if c.Summary == nil {
		err = j.store.update(ctx, func(tx *bolt.Tx) error { return deleteGame(tx, []byte(c.Game)) })
	} else {
		err = j.store.grow(ctx, gamesShare, func(tx *bolt.Tx) error {
			if err := appendMoves(tx, c); err != nil {
				return err
			}
			space.Game = gameSize(tx, []byte(c.Game))
			if c.First > 1 {
				return nil
			}
			return j.store.checkNewGame(tx)
		})
	}
	if errors.Is(err, ErrFull) {
		err = fmt.Errorf("%w: %w", live.ErrFull, err)
	}
	if err != nil {
		return live.Space{}, fmt.Errorf("append to game %s from move %d: %w", c.Game, c.First, err)
	}
	st, err := j.store.Stats()
	space.Crowded = err == nil && st.Shares[gamesShare].nearlyFull()
	return space, nil
}

// gameSize returns the bytes of the file that a game takes at most.
func gameSize(tx *bolt.Tx, id []byte) (size int64) {
	for _, name := range [...][]byte{summariesBucket, packsBucket, boxesBucket} {
		if v := tx.Bucket(name).Get(id); v != nil {
			size += entryCost(len(id), len(v))
		}
	}
	if moves := tx.Bucket(movesBucket).Bucket(id); moves != nil {
		size += subBucketCost(id, moves)
	}
	return size
}

// checkNewGame returns [ErrFull] if a new game or league is in the last sixteenth
// of the games' share, which is for the moves of the others.
func (s *Store) checkNewGame(tx *bolt.Tx) error {
	limit := s.limit(gamesShare) / 16 * 15
	if size, _ := used(tx, gamesShare); size > limit {
		return fmt.Errorf("%w: games would use %d of %d bytes", ErrFull, size, limit)
	}
	return nil
}

func deleteGame(tx *bolt.Tx, id []byte) error {
	for _, name := range [...][]byte{summariesBucket, packsBucket, boxesBucket} {
		if err := tableOf(tx, name).Delete(id); err != nil {
			return err
		}
	}
	moves := tableOf(tx, movesBucket)
	game := moves.Bucket.Bucket(id)
	if game == nil {
		return nil
	}
	return errors.Join(moves.count(-subBucketCost(id, game)), moves.DeleteBucket(id))
}

// appendMoves appends moves, or replaces one that is not packed. The sequence of a game's
// bucket is its last revision, also after its moves were packed.
func appendMoves(tx *bolt.Tx, c live.Change) error {
	id := []byte(c.Game)
	all := tableOf(tx, movesBucket)
	before := int64(0)
	if game := all.Bucket.Bucket(id); game != nil {
		before = subBucketCost(id, game)
	}
	moves, err := all.CreateBucketIfNotExists(id)
	if err != nil {
		return err
	}
	last := moves.Sequence()
	if follows := last+1 == c.First; follows == c.Replace || c.Replace && moves.Get(number(c.First)) == nil {
		return fmt.Errorf("%w: %d after %d", errOrder, c.First, last)
	}
	next := c.First
	for _, m := range c.Moves {
		if err := moves.Put(number(next), m); err != nil {
			return err
		}
		next++
	}
	if err := moves.SetSequence(max(last, next-1)); err != nil {
		return err
	}
	if err := all.count(subBucketCost(id, moves) - before); err != nil {
		return err
	}
	if err := tableOf(tx, summariesBucket).Put(id, c.Summary); err != nil {
		return err
	}
	if c.Box == nil {
		return nil
	}
	if err := packGame(tx, id); err != nil {
		return err
	}
	box, err := compress(c.Box)
	if err != nil {
		return err
	}
	return tableOf(tx, boxesBucket).Put(id, box)
}

// packGame replaces the moves of a game by one compressed value.
func packGame(tx *bolt.Tx, id []byte) error {
	all, err := gameMoves(tx, id)
	if err != nil {
		return err
	}
	var plain []byte
	for _, m := range all {
		plain = append(binary.AppendUvarint(plain, uint64(len(m))), m...)
	}
	pack, err := compress(plain)
	if err != nil {
		return err
	}
	if err := tableOf(tx, packsBucket).Put(id, pack); err != nil {
		return err
	}
	moves := tableOf(tx, movesBucket)
	game := moves.Bucket.Bucket(id)
	before, last := subBucketCost(id, game), game.Sequence()
	if err := moves.DeleteBucket(id); err != nil {
		return err
	}
	empty, err := moves.CreateBucket(id)
	if err != nil {
		return err
	}
	return errors.Join(moves.count(subBucketCost(id, empty)-before), empty.SetSequence(last))
}

// gameMoves returns all moves of a game: the packed ones and the later ones.
func gameMoves(tx *bolt.Tx, id []byte) ([][]byte, error) {
	var all [][]byte
	if pack := tx.Bucket(packsBucket).Get(id); pack != nil {
		var err error
		if all, err = unpackMoves(pack); err != nil {
			return nil, err
		}
	}
	if moves := tx.Bucket(movesBucket).Bucket(id); moves != nil {
		for _, m := range pairs(moves) {
			all = append(all, bytes.Clone(m))
		}
	}
	return all, nil
}

// unpackMoves returns the moves in a pack.
func unpackMoves(pack []byte) (moves [][]byte, err error) {
	plain, err := decompress(pack)
	if err != nil {
		return nil, err
	}
	for len(plain) > 0 {
		n, size := binary.Uvarint(plain)
		if size <= 0 || n > uint64(len(plain)-size) { //nolint:gosec // size is at most len(plain)
			return nil, fmt.Errorf("%w: packed moves end in the middle of one", ErrCorrupt)
		}
		end := size + int(n) //nolint:gosec // not more than there is
		moves, plain = append(moves, plain[size:end]), plain[end:]
	}
	return moves, nil
}

// Summaries returns the summaries of all games; see [live.Journal].
func (j journal) Summaries(context.Context) (all map[string]live.Stored, err error) {
	err = j.store.view(func(tx *bolt.Tx) error {
		all = map[string]live.Stored{}
		for id, summary := range pairs(tx.Bucket(summariesBucket)) {
			all[string(id)] = live.Stored{Summary: bytes.Clone(summary), Bytes: gameSize(tx, id)}
		}
		return nil
	})
	return all, wrapped(err, "read the games")
}

// Moves returns all moves of a game; see [live.Journal].
func (j journal) Moves(_ context.Context, id string) (moves [][]byte, err error) {
	err = j.store.view(func(tx *bolt.Tx) error {
		moves, err = gameMoves(tx, []byte(id))
		return err
	})
	return moves, wrapped(err, "read game %s", id)
}

// Boxes returns the box scores of finished games; see [live.Journal].
func (j journal) Boxes(_ context.Context, ids []string) (map[string][]byte, error) {
	boxes := map[string][]byte{}
	err := j.store.view(func(tx *bolt.Tx) error {
		for _, id := range ids {
			compressed := tx.Bucket(boxesBucket).Get([]byte(id))
			if compressed == nil {
				continue
			}
			box, err := decompress(compressed)
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

func compress(plain []byte) ([]byte, error) {
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

// maxDecompressed is far more than any game has: 64 MiB.
const maxDecompressed = 64 << 20

func decompress(compressed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxDecompressed+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if len(plain) > maxDecompressed {
		return nil, fmt.Errorf("%w: a game has more than %d bytes", ErrCorrupt, maxDecompressed)
	}
	return plain, nil
}
