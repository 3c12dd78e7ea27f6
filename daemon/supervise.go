package main

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"
)

// A runner runs until its context ends, and then returns nil.
type runner func(ctx context.Context) error

// supervise runs stages of runners, each of which leans on the stages before
// it. When ctx ends, or any runner does, it ends the last stage first, and
// each other one when the stage that leans on it has ended. It returns when
// all have ended, with their errors.
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
