package library

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Run loads and calibrates voices and watches the directories until ctx ends. It then closes the models; a
// model that is in use is closed by its last user. Run returns nil and may be called once.
func (l *Library) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { l.runLoads(ctx) })
	wg.Go(func() { l.runCalibrations(ctx) })
	l.runWatch(ctx)
	wg.Wait()
	close(l.ended)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.voices {
		l.drop(e)
	}
	return nil
}

// settleTime is the delay between the last change and a scan, because files are copied in many steps.
const settleTime = 300 * time.Millisecond

// runWatch scans the directories after each change.
func (l *Library) runWatch(ctx context.Context) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		l.cfg.Log.Warn("cannot watch for new voices, reload finds them", "err", err)
		watcher = &fsnotify.Watcher{} // its channels are nil and block
	} else {
		defer func() { _ = watcher.Close() }()
	}
	l.watch(watcher)
	l.scan() // for changes since New
	settle := time.NewTimer(settleTime)
	settle.Stop()
	for {
		select {
		case event := <-watcher.Events:
			if l.concerns(event.Name) {
				settle.Reset(settleTime)
			}
		case err := <-watcher.Errors:
			l.cfg.Log.Warn("voice directory watcher failed", "err", err)
			settle.Reset(settleTime) // events may have been lost
		case <-l.rescan:
			settle.Reset(0)
		case <-settle.C:
			l.watch(watcher)
			l.scan()
		case <-ctx.Done():
			return
		}
	}
}

// concerns reports whether a path is a file of a voice or one of the directories.
func (l *Library) concerns(path string) bool {
	for _, suffix := range []string{modelSuffix, configSuffix, card} {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return slices.ContainsFunc(l.cfg.Dirs, func(dir string) bool { return filepath.Clean(dir) == filepath.Clean(path) })
}

// watch adds every directory to the watcher, or its parent if it does not exist.
func (l *Library) watch(watcher *fsnotify.Watcher) {
	if watcher.Events == nil {
		return
	}
	for _, dir := range l.cfg.Dirs {
		err := watcher.Add(dir) // repeating it is harmless
		if errors.Is(err, fs.ErrNotExist) {
			err = watcher.Add(filepath.Dir(dir))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.cfg.Log.Warn("cannot watch voice directory", "dir", dir, "err", err)
		}
	}
}
