//go:build image

package imagetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

// gib is the unit of disk sizes.
const gib = 1 << 30

// imageOf returns the path of the unpacked image for an architecture.
func imageOf(arch string) string {
	return "../../../.build/image/" + arch + ".img"
}

// newDisk returns a disk on which an image was written. It is larger by 2 GiB.
func newDisk(t *testing.T, image string) (disk string) {
	t.Helper()
	info, err := os.Stat(image)
	if err != nil {
		t.Fatalf("%v: make it with \"make image\"", err)
	}
	disk = copyDisk(t, image)
	check.NoError(t, os.Truncate(disk, info.Size()+2*gib))
	return disk
}

// copyDisk returns a copy of a disk.
func copyDisk(t *testing.T, from string) (disk string) {
	t.Helper()
	disk = filepath.Join(t.TempDir(), "disk.img")
	run(t, "cp", "--sparse=always", "--reflink=auto", from, disk)
	return disk
}

// saveDisk moves a disk to results, for other tests, and returns its path.
func saveDisk(t *testing.T, disk, name string) (saved string) {
	t.Helper()
	saved = check.Must(filepath.Abs(filepath.Join(results, name)))(t)
	run(t, "mv", disk, saved)
	return saved
}

// A partition is a part of a disk that is not in use.
type partition struct {
	t           *testing.T
	disk        string
	start, size int64 // bytes
}

// openPartition returns the partition with a label.
func openPartition(t *testing.T, disk, label string) partition {
	t.Helper()
	var table struct {
		PartitionTable struct {
			SectorSize int64
			Partitions []struct{ Start, Size int64 }
		}
	}
	check.NoError(t, json.Unmarshal([]byte(run(t, "sfdisk", "--json", disk)), &table))
	sector := max(table.PartitionTable.SectorSize, 512)
	for _, p := range table.PartitionTable.Partitions {
		found := partition{t, disk, p.Start * sector, p.Size * sector}
		if found.label() == label {
			return found
		}
	}
	t.Fatalf("%s has no partition with the label %s", disk, label)
	return partition{}
}

// label returns the label of the file system; "" if it has none.
func (p partition) label() string { return p.probe("LABEL") }

// probe returns a property of the file system that blkid knows; "" if it has none.
func (p partition) probe(tag string) string {
	const probe = "blkid --probe --offset %d --size %d --match-tag %s --output value %q || true"
	out := run(p.t, "sh", "-c", fmt.Sprintf(probe, p.start, p.size, tag, p.disk))
	return strings.TrimSpace(out)
}

// replace has write change an empty file of the size of the partition, and copies it there.
func (p partition) replace(write func(file string)) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "partition")
	run(p.t, "truncate", "--size", fmt.Sprint(p.size), file)
	write(file)
	run(p.t, "dd", "if="+file, "of="+p.disk, "bs=1M", fmt.Sprintf("seek=%dB", p.start), "conv=notrunc", "status=none")
}

// fat returns the argument by which mtools find the partition.
func (p partition) fat() string { return fmt.Sprintf("%s@@%d", p.disk, p.start) }

// list returns the names of the files in the root directory of a FAT partition.
func (p partition) list() []string {
	p.t.Helper()
	var names []string
	for name := range strings.Lines(run(p.t, "mdir", "-b", "-i", p.fat(), "::/")) {
		names = append(names, strings.TrimPrefix(strings.TrimSpace(name), "::/"))
	}
	return names
}

// read returns the content of a file of a FAT partition.
func (p partition) read(name string) []byte {
	p.t.Helper()
	return []byte(run(p.t, "mtype", "-i", p.fat(), "::/"+name))
}

// write writes a file to a FAT partition.
func (p partition) write(name string, content []byte) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "file")
	check.NoError(p.t, os.WriteFile(file, content, 0o600))
	run(p.t, "mcopy", "-o", "-i", p.fat(), file, "::/"+name)
}

// bytes returns the whole content of the partition, free clusters included.
func (p partition) bytes() []byte {
	p.t.Helper()
	f := check.Must(os.Open(p.disk))(p.t)
	defer f.Close()
	content := make([]byte, p.size)
	check.Must(f.ReadAt(content, p.start))(p.t)
	return content
}
