package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"pressbox/voice"
)

// LibraryName is the file name of ONNX Runtime next to the program and in PrivateDir.
const LibraryName = "libonnxruntime.so"

// PrivateDir is the directory of the Debian package for its own ONNX Runtime.
const PrivateDir = "/usr/lib/pressbox"

// minVersion is the oldest version with the C interface that this program is built for.
const minVersion = "1.24"

// ErrNoLibrary reports that ONNX Runtime could not be loaded.
var ErrNoLibrary = fmt.Errorf("%w without ONNX Runtime %s or newer: put its %s into %s "+
	"(make build puts one next to the program), or set ONNXRUNTIME_LIB to one",
	voice.ErrUnavailable, minVersion, LibraryName, PrivateDir)

// environment is the state of ONNX Runtime in this process. The C library is global to the process and cannot
// be unloaded safely, so it is loaded at most once, with the first model, and stays.
var environment struct { //nolint:gochecknoglobals // it mirrors a global of the C library
	sync.Mutex
	path string // of the loaded library; "" means not loaded
}

// open loads the library once. An explicit path is the only candidate.
func open(explicit string) error {
	environment.Lock()
	defer environment.Unlock()
	if at := environment.path; at != "" {
		if explicit != "" && explicit != at {
			return fmt.Errorf("load ONNX Runtime from %s: already loaded from %s", explicit, at)
		}
		return nil
	}
	var errs []error
	for _, path := range candidates(explicit) {
		if _, err := os.Stat(path); err != nil {
			errs = append(errs, err)
			continue
		}
		ort.SetSharedLibraryPath(path)
		err := ort.InitializeEnvironment()
		if err == nil {
			environment.path = path
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", path, err))
	}
	return fmt.Errorf("%w: %w", ErrNoLibrary, errors.Join(errs...))
}

// candidates returns the paths to try, in order: the explicit path alone, or the program's directory,
// PrivateDir and the system's library directories, newest version first.
func candidates(explicit string) []string {
	if explicit != "" {
		return []string{explicit}
	}
	var paths []string
	if program, err := os.Executable(); err == nil {
		paths = append(paths, filepath.Join(filepath.Dir(program), LibraryName))
	}
	paths = append(paths, filepath.Join(PrivateDir, LibraryName))
	for _, dir := range []string{"/usr/local/lib", "/usr/lib/*-linux-gnu*", "/usr/lib64", "/usr/lib"} {
		found, _ := filepath.Glob(filepath.Join(dir, LibraryName+"*")) // the pattern is well formed
		slices.Sort(found)
		slices.Reverse(found)
		paths = append(paths, found...)
	}
	return paths
}
