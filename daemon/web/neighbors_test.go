package web_test

import (
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// On the local network each IPv6 address has its own NOTIFY_RATE, and all of a /64
// have eight times as much.
func TestAllow_ipv6Neighbors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t, func(c *site.Config) { c.NotifyRate = 4 }) // in bursts of 2
		refused := func(from string) bool {
			return r.Do(t, "POST", "/notify", `{"message": "x"}`,
				"Client", "["+from+"]:40000").StatusCode == http.StatusTooManyRequests
		}
		for host := range 8 {
			for try, want := range []bool{false, false, true} {
				if got := refused(fmt.Sprintf("fd00::%d", host+1)); got != want {
					t.Fatalf("address %d, request %d: refused %t, want %t", host, try, got, want)
				}
			}
		}
		if !refused("fd00::9") {
			t.Error("the ninth address of a /64 was not refused")
		}
		if refused("fd00:0:0:1::1") {
			t.Error("an address of another /64 was refused")
		}
	})
}

// On the local network each IPv6 address may open 64 connections, and all of a /64
// 512.
func TestServe_maxConnsNeighbors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := webtest.NewRig(t)
		l, stop := r.ServeWire()
		var conns []net.Conn
		open := func(from string) bool {
			conn, ok := connect(t, l, from)
			if ok {
				conns = append(conns, conn)
			}
			return ok
		}
		for host := range 8 {
			for i := range 65 {
				if got, want := open(fmt.Sprintf("[fe80::%d]:1", host+1)), i < 64; got != want {
					t.Fatalf("connection %d of address %d accepted: %t, want %t", i, host, got, want)
				}
			}
		}
		if open("[fe80::9]:1") {
			t.Error("connection 513 of a /64 was accepted")
		}
		for _, conn := range conns[:2] {
			conn.Close()
		}
		synctest.Wait()
		if !open("[fe80::9]:1") {
			t.Error("refused although connections of the /64 were closed")
		}
		check.NoError(t, stop())
	})
}
