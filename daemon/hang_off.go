//go:build !pressbox_hang

package main

import "time"

// unmoved is for how long work may make no progress before it counts as hanging:
// several times what a Raspberry Pi takes to load its largest voice.
const unmoved = 90 * time.Second

// hang does nothing: only a build for tests has work that hangs.
func hang() {}
