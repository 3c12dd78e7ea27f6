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

// LibraryName is what the library's file is called beside the program and in
// the package's private directory.
const LibraryName = "libonnxruntime.so"

// PrivateDir is where the package keeps its own library.
const PrivateDir = "/usr/lib/pressbox"

// oldest is the oldest version that has the interface that we are built for.
const oldest = "1.24"

// ErrNoLibrary says that no ONNX Runtime could be loaded.
var ErrNoLibrary = fmt.Errorf("%w without ONNX Runtime %s or newer: put its %s into %s "+
	"(make build puts one beside the program), or set ONNXRUNTIME_LIB to one", voice.ErrUnavailable, oldest, LibraryName, PrivateDir)

// environment is the process's one ONNX Runtime. The C library is a global of
// the process and cannot be unloaded safely, so it is opened at most once,
// when the first model is loaded, and stays.
var environment struct { //nolint:gochecknoglobals // it mirrors a global of the C library
	sync.Mutex
	path string // where it was loaded from; "" while it is not
}

// open opens the library if no call before has. An explicit path is the only
// place where it is looked for.
func open(explicit string) error {
	environment.Lock()
	defer environment.Unlock()
	if at := environment.path; at != "" {
		if explicit != "" && explicit != at {
			return fmt.Errorf("load ONNX Runtime from %s: this process has loaded it from %s", explicit, at)
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

// candidates returns where to look for the library, in order: the explicit
// path alone, or beside the program, in the package's private directory, and
// in the system's library directories, newest version first.
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
