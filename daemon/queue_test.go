package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pressbox/daemon/client"
	"pressbox/daemon/servertest"
	"pressbox/packaging/check"
)

// QUEUE_MAX_SIZE announcements fill the queue. The next one is refused, and the others are
// played, the urgent ones first.
func TestAnnouncement_fullQueue(t *testing.T) {
	t.Parallel()
	const size = 10
	s := servertest.NewServer(t, fmt.Sprint("QUEUE_MAX_SIZE=", size))
	// The first one is urgent, so that no other interrupts it, and lasts longer than it takes
	// to fill the queue; then it is cancelled.
	first := s.Post(client.Announcement{Message: strings.Repeat("This is the first, and everything else waits "+
		"behind it. ", 10), Urgent: true})
	s.AwaitStatus(first.ID, "playing")
	var plain, urgent []string
	for i := range size {
		r := client.Announcement{Message: "Go.", Rate: 400, Urgent: i%4 == 3}
		id := s.Post(r).ID
		if r.Urgent {
			urgent = append(urgent, id)
		} else {
			plain = append(plain, id)
		}
	}
	_, err := s.Announce(t.Context(), servertest.Request(client.Announcement{Message: "One too many."}))
	problem, ok := errors.AsType[*client.ProblemError](err)
	if !ok || problem.Status != http.StatusServiceUnavailable || problem.Code != "queue_full" ||
		problem.RetryAfter == "" {
		t.Errorf("one too many: %v, want 503 queue_full with Retry-After", err)
	}
	var cancelled client.Report
	if err := s.Call(t.Context(), http.MethodDelete, "/notify/"+first.ID, nil, &cancelled); err != nil ||
		cancelled.Status != "cancelled" {
		t.Fatalf("the first one, cancelled: %+v, %v", cancelled, err)
	}
	order := slices.Concat([]string{first.ID}, urgent, plain)
	s.AwaitPlayed(order[len(order)-1])
	var list struct {
		Recent []struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		} `json:"recent"`
	}
	check.NoError(t, s.Call(t.Context(), http.MethodGet, "/notify", nil, &list))
	var got []string
	for _, r := range slices.Backward(list.Recent) {
		if r.Status != "done" && r.ID != first.ID {
			t.Errorf("%s ended as %s", r.ID, r.Status)
		}
		got = append(got, r.ID)
	}
	if !slices.Equal(got, order) {
		t.Errorf("they were played in the order\n%v, want\n%v", got, order)
	}
}

// A server that is killed at the moment at which an announcement is due speaks it
// after its restart, once.
func TestAnnouncement_killedWhenDue(t *testing.T) {
	t.Parallel()
	s := servertest.NewServer(t)
	var r client.Report
	body := map[string]any{"title": "Time", "message": "It is time.", "in": 1}
	check.NoError(t, s.Call(t.Context(), http.MethodPost, "/notify", body, &r))
	if r.Status != "scheduled" {
		t.Fatalf("accepted as %+v", r)
	}
	for r.Status == "scheduled" {
		check.NoError(t, s.Call(t.Context(), http.MethodGet, "/notify/"+r.ID, nil, &r))
	}
	if err := s.End(syscall.SIGKILL); err == nil {
		t.Error("the server was not killed")
	}
	s.Restart()
	s.AwaitPlayed(r.ID)
	var list struct {
		Queue, Scheduled []any
		Recent           []client.Report
	}
	check.NoError(t, s.Call(t.Context(), http.MethodGet, "/notify", nil, &list))
	if len(list.Queue)+len(list.Scheduled) != 0 || len(list.Recent) != 1 {
		t.Errorf("afterwards: %+v", list)
	}
}
