// Package retro reads and writes Retrosheet's notation: single plays and whole event files.
//
// Its one law: every play it reads is applied through package game, and what it writes reads back as the same plays.
// A play's text is a basic event, modifiers, and advances:
//
//	64(1)3/GDP/G6.3-H    short to second to first, the runner from third scores
//
// The notation is described at https://www.retrosheet.org/eventfile.htm. The package opens no files.
package retro
