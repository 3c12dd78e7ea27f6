package store_test

import (
	"fmt"
	"os"
	"path/filepath"

	"pressbox/store"
)

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "pressbox")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(filepath.Join(dir, "pressbox.db"), store.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	if err := s.SaveCalibration("5e1f", []byte(`{"gain":1.2}`)); err != nil {
		panic(err)
	}
	json, ok, err := s.Calibration("5e1f")
	fmt.Println(string(json), ok, err)
	// Output: {"gain":1.2} true <nil>
}
