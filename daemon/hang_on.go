//go:build pressbox_hang

package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// This build is for the tests of the watchdog and never shipped: after a SIGUSR2,
// what is to be spoken next hangs, as if the runtime of the voices did.

const unmoved = 5 * time.Second

var asked = sync.OnceValue(func() chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	return c
})

var _ = asked() // from the start: the signal ends a process that does not listen

func hang() {
	select {
	case <-asked():
		select {}
	default:
	}
}
