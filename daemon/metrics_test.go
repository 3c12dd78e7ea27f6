package main

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"pressbox/daemon/servertest"
)

func TestMetrics_promlint(t *testing.T) {
	t.Parallel()
	p := servertest.Run(t, servertest.Silent, "METRICS=on")
	resp := servertest.NewBrowser(t, p.URL, nil).Request("GET", "/metrics", "")
	problems, err := promlint.New(resp.Body).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}
