package pagetest_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"pressbox/daemon/servertest"
	baseball "pressbox/game"
	"pressbox/game/bot/bottest"
	"pressbox/game/league"
	"pressbox/game/live"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
	"pressbox/store"
)

// manyGames are the games in the store of [newFullServer]. More than a page of each list, 30, are in
// progress and finished; the others are open.
const manyGames = 500

// newFullServer starts a server with [manyGames] listed games in its store.
func newFullServer(tb testing.TB, settings ...string) *server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("needs Chromium")
	}
	dir := servertest.CalibratedDir(tb)
	s := check.Must(store.Open(filepath.Join(dir, "state", "pressbox.db"), store.Options{}))(tb)
	games := check.Must(live.New(tb.Context(), live.Config{
		Journal: s.Games(), Rosters: league.New(league.LastSeason), Seeds: bottest.Seeds(),
		Log: slog.New(slog.DiscardHandler),
	}))(tb)
	var wait sync.WaitGroup
	for creator := range 10 { // at the same time, as they share writes to the disk
		wait.Go(func() {
			by := protocol.Person{ID: fmt.Sprintf("manager-%d", creator), Name: fmt.Sprintf("Manager %d", creator)}
			for i := range manyGames / 10 {
				if err := addGame(tb.Context(), games, by, max(0, i-manyGames/10+9)/3); err != nil {
					tb.Errorf("add a game: %v", err)
				}
			}
		})
	}
	wait.Wait()
	check.NoError(tb, s.Close())
	return runServer(tb, dir, settings...)
}

// addGame adds a game that is open with step 0, in progress with 1, and finished with 2.
func addGame(ctx context.Context, games *live.Games, by protocol.Person, step int) error {
	options := protocol.Defaults()
	if options.Opponent = protocol.Open; step > 0 {
		options.Opponent = protocol.Bot
	}
	g, err := games.Create(ctx, by, protocol.Request{HomeTeam: "BWH", AwayTeam: "CPR", Options: options})
	if err != nil || step == 0 {
		return err
	}
	l, err := games.Suggest(ctx, by, g.ID, baseball.Home)
	if err != nil {
		return err
	}
	if _, err = games.SetLineup(ctx, by, g.ID, baseball.Home, l); err == nil && step == 2 {
		_, err = games.Concede(ctx, by, g.ID)
	}
	return err
}
