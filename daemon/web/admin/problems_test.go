package admin_test

import (
	"errors"
	"fmt"
	"testing"

	"pressbox/daemon/downloads"
	"pressbox/daemon/web/admin"
)

// The client and the log read once that the catalog cannot be read, and why.
func TestProblem_causeOnce(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("%w: %w", downloads.ErrUnavailable, errors.New("connection refused"))
	const want = "the catalog of voices cannot be read: connection refused"
	if p, _ := admin.Problem(err); p.Code != "catalog_unavailable" || p.Detail != want || err.Error() != want {
		t.Errorf("logged %q, the problem is %+v", err, p)
	}
}
