package main

import (
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"pressbox/check"
	"pressbox/daemon/servertest"
)

func TestMetrics_promlint(t *testing.T) {
	t.Parallel()
	p := servertest.Run(t, servertest.Silent, "METRICS=on")
	resp := check.Must(http.Get(p.URL + "/metrics"))(t)
	defer resp.Body.Close()
	problems, err := promlint.New(resp.Body).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}
