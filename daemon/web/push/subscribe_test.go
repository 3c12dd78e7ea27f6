package push_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
)

// A subscriber reads what is published in topics, in one of the forms.
type subscriber struct {
	t    *testing.T
	next func() (string, error) // the next message or event
	end  func()
}

// events are those of one subscriber as text: the kind, the topic and the message.
func (s subscriber) want(kind, topic, message string) {
	s.t.Helper()
	text, err := s.next()
	check.NoError(s.t, err)
	var e struct{ Event, Topic, Message string }
	check.NoError(s.t, json.Unmarshal([]byte(text), &e))
	check.Equal(s.t, e.Event+" "+e.Topic+" "+e.Message, kind+" "+topic+" "+message, "the next event")
}

// subscribe opens a subscription.
func subscribe(t *testing.T, server, path string) subscriber {
	t.Helper()
	if strings.Contains(path, "/ws") {
		address := "ws" + strings.TrimPrefix(server, "http") + path
		conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), address, nil)
		check.NoError(t, err)
		_ = resp.Body.Close()
		t.Cleanup(func() { _ = conn.Close() }) // it may be closed
		next := func() (string, error) {
			_, text, err := conn.ReadMessage()
			return string(text), err
		}
		return subscriber{t, next, func() { check.NoError(t, conn.Close()) }}
	}
	resp, err := http.Get(server + path)
	check.NoError(t, err)
	check.Equal(t, resp.StatusCode, http.StatusOK, "%s: status", path)
	lines := bufio.NewReader(resp.Body)
	t.Cleanup(func() { _ = resp.Body.Close() }) // it may be closed
	return subscriber{t, func() (string, error) {
		for {
			line, err := lines.ReadString('\n')
			line = strings.TrimPrefix(strings.TrimSpace(line), "data: ")
			if err != nil || strings.HasPrefix(line, "{") {
				return line, err
			}
		}
	}, func() { check.NoError(t, resp.Body.Close()) }}
}

// A subscriber receives what is published by ntfy in its topics, once, and nothing else.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"json", "sse", "ws"} {
		for _, prefix := range []string{"", "/ntfy"} {
			t.Run(form+prefix, func(t *testing.T) {
				t.Parallel()
				r := webtest.NewRig(t)
				server := httptest.NewServer(r.Handler())
				t.Cleanup(server.Close)
				post := func(path, body string) { r.Do(t, "POST", path, body, "Client", "127.0.0.1:1").Want(200) }
				post("/house", "Before.")
				all := subscribe(t, server.URL, prefix+"/house,garden/"+form+"?since=all")
				all.want("open", "house,garden", "")
				all.want("message", "house", "Before.")
				later := subscribe(t, server.URL, prefix+"/garden/"+form)
				later.want("open", "garden", "")
				loud := subscribe(t, server.URL, prefix+"/house/"+form+"?priority=4,5&title=Alarm")
				loud.want("open", "house", "")
				r.Do(t, "POST", "/notify", `{"message": "Not by ntfy."}`).Want(202)
				post("/attic", "Elsewhere.")
				post("/house?priority=5", "Without a title.")
				post("/house?priority=5&title=Alarm", "Loud.")
				post("/garden?priority=1", "Only listed.")
				all.want("message", "house", "Without a title.")
				all.want("message", "house", "Loud.")
				all.want("message", "garden", "Only listed.")
				later.want("message", "garden", "Only listed.")
				loud.want("message", "house", "Loud.")
				for _, s := range []subscriber{all, later, loud} {
					s.end()
				}
			})
		}
	}
}

// With poll, what is there is sent, from the oldest on, as far back as the client asks, and the response ends.
func TestSubscribe_poll(t *testing.T) {
	t.Parallel()
	history := true
	r := webtest.NewRig(t, func(c *site.Config) { c.Push.History = func() bool { return history } })
	local := []string{"Client", "127.0.0.1:1"}
	var ids []string
	for _, message := range []string{"One.", "Two.", "Three."} {
		ids = append(ids, r.Do(t, "POST", "/house", message, local...).Want(200).Field("id"))
	}
	r.Do(t, "POST", "/house?in=1h", "Later.", local...).Want(200)
	r.Do(t, "DELETE", "/notify/"+ids[0], "", local...).Want(200)
	for query, want := range map[string]string{
		"":                          "One. Two. Three.",
		"&since=all":                "One. Two. Three.",
		"&since=all&scheduled=1":    "One. Two. Three. Later.",
		"&since=10m":                "One. Two. Three.",
		"&since=4000000000":         "",
		"&since=" + ids[0]:          "Two. Three.",
		"&since=" + ids[2]:          "",
		"&since=latest":             "Three.",
		"&since=none":               "",
		"&id=" + ids[1]:             "Two.",
		"&message=Two.":             "Two.",
		"&tags=warning":             "",
		"&since=all&priority=3":     "One. Two. Three.",
		"&since=all&priority=1,2,4": "",
	} {
		w := r.Do(t, "GET", "/house/raw?poll=1"+query, "").Want(200)
		check.Equal(t, strings.Join(strings.Fields(w.Text), " "), want, "poll%s", query)
	}
	history = false
	check.Equal(t, r.Do(t, "GET", "/house/raw?poll=1", "").Want(200).Text, "", "with HISTORY=off")
	for _, path := range []string{
		"/house/json?since=a+b", "/house/json?poll=maybe", "/a.b/json", "/a,,b/json",
		"/" + strings.Repeat("a,", 10) + "a/json",
	} {
		r.Do(t, "GET", path, "").Want(422)
	}
	check.Equal(t, r.Do(t, "GET", "/"+strings.Repeat("a,", 9)+"a/json?poll=1", "").Want(200).Text, "", "ten topics")
}

// Who may not watch announcements may not subscribe, nor may pages of other sites by a websocket.
func TestSubscribe_refused(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.Access, c.Tokens = web.Token, tokens{} })
	for _, form := range []string{"json", "sse", "raw", "ws", "auth"} {
		r.Do(t, "GET", "/house/"+form, "").Want(401)
	}
	r.Do(t, "GET", "/house/ws", "", "Authorization", "Bearer good").Want(400)
	r.Do(t, "GET", "/house/json?poll=1&auth=QmVhcmVyIGdvb2Q", "").Want(200)
	server := httptest.NewServer(r.Handler())
	t.Cleanup(server.Close)
	for origin, want := range map[string]int{"": 101, server.URL: 101, "http://evil.example": 403, "null": 403} {
		header := http.Header{"Authorization": {"Bearer good"}}
		if origin != "" {
			header.Set("Origin", origin)
		}
		conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(),
			"ws"+strings.TrimPrefix(server.URL, "http")+"/house/ws", header)
		check.Require(t, resp != nil, "%q: %v", origin, err)
		check.Equal(t, resp.StatusCode, want, "a page of %q: status", origin)
		_ = resp.Body.Close()
		if conn != nil {
			check.NoError(t, conn.Close())
		}
	}
}
