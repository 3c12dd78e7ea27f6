package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

const (
	floodPosts   = 20_000
	floodClients = 32
	floodWatched = 1000 // event streams, and as many websockets
)

// BenchmarkFlood measures the resident memory of a server with the unit's GOMEMLIMIT that
// plays an announcement, after 20,000 announcements of the largest size were posted and
// cancelled behind it, and with 1,000 event streams and 1,000 websockets more. Limits:
// 200 MB, x-limit ≤ 1; 250 MB, x-watched ≤ 1.
func BenchmarkFlood(b *testing.B) {
	b.Setenv("GOMEMLIMIT", "256MiB")
	for b.Loop() {
		s := servertest.NewServer(b)
		// Its speech lasts nine minutes, longer than the flood on a quiet host.
		current := s.Post(client.Announcement{Message: strings.Repeat("This is spoken slowly. ", 130), Rate: 60})
		s.AwaitStatus(current.ID, "playing")
		flood(b, s.URL)
		flooded := residentMB(b, s)
		watch(b, s.URL)
		watched := residentMB(b, s)
		b.ReportMetric(flooded/200, "x-limit")
		b.ReportMetric(watched/250, "x-watched")
	}
	b.ReportMetric(0, "ns/op")
}

// residentMB returns the resident memory of a server.
func residentMB(b *testing.B, s *servertest.Server) float64 {
	b.Helper()
	return float64(status(b, fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid), "VmRSS")) * 1024 / 1e6
}

// flood posts and cancels announcements of 5,000 characters: with line separators, which have
// six bytes in JSON, and with characters of four bytes.
func flood(b *testing.B, url string) {
	b.Helper()
	bodies := [][]byte{largestBody(b, "\u2028"), largestBody(b, "😀")}
	c := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: floodClients}}
	defer c.CloseIdleConnections()
	var posted atomic.Int64
	var clients sync.WaitGroup
	for range floodClients {
		clients.Go(func() {
			for i := posted.Add(1); i <= floodPosts && !b.Failed(); i = posted.Add(1) {
				if err := postAndCancel(&c, url, bodies[i%2]); err != nil {
					b.Errorf("announcement %d: %v", i, err)
				}
			}
		})
	}
	if clients.Wait(); b.Failed() {
		b.FailNow()
	}
}

// largestBody returns the request of an announcement of 5,000 characters, nearly all the same.
func largestBody(b *testing.B, character string) []byte {
	b.Helper()
	return check.Must(json.Marshal(client.Announcement{Message: "Ball" + strings.Repeat(character, 4991) + "four."}))(b)
}

func postAndCancel(c *http.Client, url string, body []byte) error {
	r, err := exchange(c, http.MethodPost, url+"/notify", body, http.StatusAccepted)
	if err == nil {
		_, err = exchange(c, http.MethodDelete, url+"/notify/"+r.ID, nil, http.StatusOK)
	}
	return err
}

// exchange sends a request and returns the announcement of the response, which must have a
// status.
func exchange(c *http.Client, method, url string, body []byte, want int) (r client.Report, err error) {
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return r, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		return r, fmt.Errorf("%s %s: %s, want %d: %s (%w)", method, url, resp.Status, want, text, err)
	}
	return r, json.Unmarshal(text, &r)
}

// watch opens event streams and websockets, which are open until the benchmark ends.
func watch(b *testing.B, url string) {
	b.Helper()
	account := servertest.SignUp(b, url)
	for range floodWatched {
		watchEvents(b, strings.TrimPrefix(url, "http://"))
		conn, _, err := account.Dial(url)
		check.NoError(b, err)
		check.Close(b, conn)
	}
}

// watchEvents opens an event stream, and reads until its first event.
func watchEvents(b *testing.B, address string) {
	b.Helper()
	conn := check.Must(net.Dial("tcp", address))(b)
	check.Close(b, conn)
	fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: %s\r\n\r\n", address)
	for lines := bufio.NewReader(conn); ; {
		line := check.Must(lines.ReadString('\n'))(b)
		if strings.HasPrefix(line, "event: ") {
			return
		}
	}
}
