package main

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"
)

// A runner runs until its context ends, then returns nil.
type runner func(ctx context.Context) error

// supervise runs stages of runners; each stage depends on the stages before it. When ctx
// or any runner ends, it ends the last stage and waits for it, then the stage before, and
// so on. It returns the errors of all runners.
func supervise(ctx context.Context, stages ...[]runner) error {
	ctx, endAll := context.WithCancel(ctx)
	defer endAll()
	ends := make([]func() error, len(stages))
	for i, stage := range stages {
		own, end := context.WithCancel(context.WithoutCancel(ctx))
		var group errgroup.Group
		for _, run := range stage {
			group.Go(func() error {
				defer endAll()
				return run(own)
			})
		}
		ends[i] = func() error {
			end()
			return group.Wait()
		}
	}
	<-ctx.Done()
	var errs []error
	for _, end := range slices.Backward(ends) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}
