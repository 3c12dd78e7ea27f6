// Package retro reads and writes Retrosheet's notation: single plays, and whole event files.
//
// Its one law: what it reads it plays through package game, and what it writes it can read back to the same plays.
// A play's text is a basic event, modifiers, and advances:
//
//	64(1)3/GDP/G6.3-H    short to second to first, the runner from third scores
//
// The notation is described at https://www.retrosheet.org/eventfile.htm. The package reads and writes streams that it
// is handed; it opens nothing itself.
package retro
