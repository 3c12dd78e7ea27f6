package main

import (
	"context"
	"log/slog"
)

func run(ctx context.Context, cfg Config, log *slog.Logger) error {
	<-ctx.Done()
	return nil
}
