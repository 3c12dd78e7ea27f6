package play_test

import (
	"testing"

	"pressbox/daemon/web/play"
	"pressbox/game/protocol"
	"pressbox/packaging/check"
)

func TestProblem_status(t *testing.T) {
	t.Parallel()
	for status, codes := range map[int][]protocol.Code{
		403: {protocol.Forbidden, protocol.NotYourSide},
		404: {protocol.UnknownGame, protocol.UnknownPlayer},
		409: {
			protocol.NotActive, protocol.NotPending, protocol.NotReady, protocol.NotFinished, protocol.SeatTaken,
			protocol.TooManyGames,
		},
		422: {protocol.Invalid, protocol.UnknownTeam, protocol.Malformed},
		500: {protocol.UnreadableGame},
		503: {protocol.Unavailable, protocol.StoreFull},
	} {
		for _, code := range codes {
			p, _ := play.Problem(protocol.Refuse(code, "refused"))
			check.That(t, p.Status == status && p.Code == string(code), "%s: %+v, want %d", code, p, status)
		}
	}
}
