package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxIndex limits the index of an MP4 file, in bytes.
const maxIndex = 1 << 20

// errMP4 reports that a file has not the boxes of an MP4 file.
var errMP4 = errors.New("its boxes are not those of an MP4 file")

// A box is a part of an MP4 file (ISO 14496-12 §4.2).
type box struct {
	kind       string
	start, end int64 // within the file
	body       int64 // after the header
}

// indexFirst returns an MP4 file with its index before its data, so that it can be read as a stream. Telephones write
// the index at the end.
func indexFirst(file *os.File) (io.Reader, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	var index, data box
	for at := int64(0); at < info.Size(); {
		b, err := boxAt(file, at, info.Size())
		if err != nil {
			return nil, err
		}
		switch {
		case b.kind == "moov" && index.kind == "":
			index = b
		case b.kind == "mdat" && data.kind == "":
			data = b
		}
		at = b.end
	}
	whole := io.NewSectionReader(file, 0, info.Size())
	if index.kind == "" || data.kind == "" || index.start < data.start {
		return whole, nil // in fragments, or in order
	}
	if index.end-index.start > maxIndex {
		return nil, fmt.Errorf("%w: an index of %d bytes", errMP4, index.end-index.start)
	}
	moved := make([]byte, index.end-index.start)
	if _, err := file.ReadAt(moved, index.start); err != nil {
		return nil, err
	}
	if err := shift(moved[index.body-index.start:], int64(len(moved)), 0); err != nil {
		return nil, err
	}
	return io.MultiReader(
		io.NewSectionReader(file, 0, data.start),
		bytes.NewReader(moved),
		io.NewSectionReader(file, data.start, index.start-data.start),
		io.NewSectionReader(file, index.end, info.Size()-index.end),
	), nil
}

// boxAt returns the box at an offset of what ends at end.
func boxAt(r io.ReaderAt, at, end int64) (box, error) {
	var head [16]byte
	n, err := r.ReadAt(head[:], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return box{}, err
	}
	if n < 8 {
		return box{}, errMP4
	}
	b := box{kind: string(head[4:8]), start: at, body: at + 8}
	switch size := int64(binary.BigEndian.Uint32(head[:])); {
	case size == 0:
		b.end = end
	case size == 1 && n == len(head):
		b.body, b.end = at+16, at+int64(binary.BigEndian.Uint64(head[8:])&(1<<62-1))
	default:
		b.end = at + size
	}
	if b.end < b.body || b.end > end {
		return box{}, errMP4
	}
	return b, nil
}

// shift adds a distance to the offsets of the data in the boxes of an index (§8.7.5), which is changed.
func shift(boxes []byte, distance int64, depth int) error {
	const deepest = 8
	if depth > deepest {
		return errMP4
	}
	for at := int64(0); at < int64(len(boxes)); {
		b, err := boxAt(bytes.NewReader(boxes), at, int64(len(boxes)))
		if err != nil {
			return err
		}
		body := boxes[b.body:b.end]
		switch b.kind {
		case "trak", "mdia", "minf", "stbl":
			err = shift(body, distance, depth+1)
		case "stco":
			err = shiftOffsets(body, 4, distance)
		case "co64":
			err = shiftOffsets(body, 8, distance)
		}
		if err != nil {
			return err
		}
		at = b.end
	}
	return nil
}

// shiftOffsets adds a distance to a table of offsets of so many bytes.
func shiftOffsets(table []byte, width int, distance int64) error {
	if len(table) < 8 {
		return errMP4
	}
	count := int64(binary.BigEndian.Uint32(table[4:]))
	if int64(len(table)-8)/int64(width) < count {
		return errMP4
	}
	for entry := range count {
		offset := table[8+entry*int64(width):]
		if width == 8 {
			//nolint:gosec // what overflows is an offset beyond the file anyway
			binary.BigEndian.PutUint64(offset, binary.BigEndian.Uint64(offset)+uint64(distance))
			continue
		}
		moved := int64(binary.BigEndian.Uint32(offset)) + distance
		binary.BigEndian.PutUint32(offset, uint32(moved)) //nolint:gosec // as above
	}
	return nil
}
