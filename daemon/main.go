// Package main is Pressbox, the program: its settings, its commands, and the
// one place where its parts are put together.
//
// One law: it knows every other package and none knows it. Only here is the
// environment read, a signal caught, or a process ended.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

//go:generate go test -run TestGenerated . -update

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(execute(ctx, os.Args[1:]))
}
