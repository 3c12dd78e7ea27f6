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

// Run loads and measures voices and watches the folders, until ctx ends; then
// it closes the models, except those being spoken with, which their last user
// closes. It returns nil, and may be called once.
func (l *Library) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { l.runLoads(ctx) })
	wg.Go(func() { l.runMeasures(ctx) })
	l.runWatch(ctx)
	wg.Wait()
	close(l.ended)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		l.drop(e)
	}
	return nil
}

// settleTime is how long the folders must be at rest before they are read:
// files are copied in many steps.
const settleTime = 300 * time.Millisecond

// runWatch looks at the folders whenever something changes in them.
func (l *Library) runWatch(ctx context.Context) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		l.cfg.Log.Warn("new voices will be found only when told to reload", "err", err)
		watcher = &fsnotify.Watcher{} // its channels are nil: it never says anything
	} else {
		defer func() { _ = watcher.Close() }()
	}
	l.watch(watcher)
	l.scan() // for what happened between New and now
	rest := time.NewTimer(settleTime)
	rest.Stop()
	for {
		select {
		case event := <-watcher.Events:
			if l.concerns(event.Name) {
				rest.Reset(settleTime)
			}
		case err := <-watcher.Errors:
			l.cfg.Log.Warn("watching the folders of voices", "err", err)
			rest.Reset(settleTime) // something may have been missed
		case <-l.rescan:
			rest.Reset(0)
		case <-rest.C:
			l.watch(watcher)
			l.scan()
		case <-ctx.Done():
			return
		}
	}
}

// concerns says whether a file that has changed may be part of a voice, or is
// one of the folders.
func (l *Library) concerns(path string) bool {
	for _, suffix := range []string{modelSuffix, configSuffix, card} {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return slices.ContainsFunc(l.cfg.Dirs, func(dir string) bool { return filepath.Clean(dir) == filepath.Clean(path) })
}

// watch makes sure that every folder is watched; of one that is not there, the
// folder that it would be in.
func (l *Library) watch(watcher *fsnotify.Watcher) {
	if watcher.Events == nil {
		return
	}
	for _, dir := range l.cfg.Dirs {
		err := watcher.Add(dir) // again does no harm
		if errors.Is(err, fs.ErrNotExist) {
			err = watcher.Add(filepath.Dir(dir))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.cfg.Log.Warn("cannot watch a folder of voices", "dir", dir, "err", err)
		}
	}
}
