package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressbox/daemon/web"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	report := func(h web.Health, detail string) func() web.Condition {
		return func() web.Condition {
			return web.Condition{Health: h, Detail: detail, Facts: map[string]any{"waiting": 3}}
		}
	}
	for _, tt := range []struct {
		checks []web.Check
		status int
		want   web.Health
	}{
		{nil, 200, web.OK},
		{[]web.Check{{"a", report("", "")}, {"b", report(web.OK, "")}}, 200, web.OK},
		{[]web.Check{{"a", report(web.OK, "")}, {"b", report(web.Degraded, "no sound server")}}, 200, web.Degraded},
		{[]web.Check{{"a", report(web.Degraded, "x")}, {"b", report(web.OK, "")}}, 200, web.Degraded},
		{[]web.Check{{"a", report(web.Failing, "disk full")}, {"b", report(web.Degraded, "x")}}, 503, web.Failing},
		{[]web.Check{{"a", report(web.Degraded, "x")}, {"b", report(web.Failing, "x")}}, 503, web.Failing},
	} {
		began := time.Now()
		r := newRig(t, func(c *web.Config) { c.Checks = tt.checks })
		w := r.do(t, "GET", "/health", "").want(tt.status, "")
		if got := w.field("status"); got != string(tt.want) {
			t.Errorf("%v: status %s, want %s", tt.checks, got, tt.want)
		}
		uptime, err := strconv.Atoi(w.field("uptime_seconds"))
		if w.field("version") != "1.2.3" || err != nil || uptime < 0 || float64(uptime) > time.Since(began).Seconds() {
			t.Errorf("%s, %v", w.Body, err)
		}
		for _, check := range tt.checks {
			if !strings.Contains(w.field("checks"), `"`+check.Name+`":{`) || !strings.Contains(w.field("checks"), `"waiting":3`) {
				t.Errorf("checks %s", w.field("checks"))
			}
		}
	}
}

func TestVoices(t *testing.T) {
	t.Parallel()
	pace := 168.5
	list := web.VoiceList{Default: ballpark}
	r := newRig(t, func(c *web.Config) { c.Voices = func() web.VoiceList { return list } })
	if w := r.do(t, "GET", "/voices", "").want(200, ""); w.field("voices") != "[]" || w.field("default") != ballpark {
		t.Errorf("without voices: %s", w.Body)
	}
	list.Voices = []web.Voice{
		{
			Name: ballpark, Language: "en", Country: "US", Speaker: "ballpark", Quality: "medium", SampleRate: 22050,
			Speakers: []string{"alice", "bob"}, SizeBytes: 7 << 20, Default: true, Loaded: true, WordsPerMinute: &pace, License: "MIT",
		},
		{Name: "broken", Error: "the model file is truncated"},
	}
	w := r.do(t, "GET", "/voices", "").want(200, "")
	for _, want := range []string{`"words_per_minute":168.5`, `"words_per_minute":null`, `"speakers":[]`, `"speakers":["alice","bob"]`, `"error":"the model file is truncated"`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in %s", want, w.Body)
		}
	}
}

func TestAdministratorsStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.say(t, "hello")
	w := r.send(t, r.AdminHandler(), newRequest("GET", "/admin/status", "", "Host", "anything", "Client", "@")).want(200, "")
	if w.field("versions") != `{"go":"go1.26","pressbox":"1.2.3"}` || !strings.Contains(w.field("queue"), "hello") || !strings.Contains(w.field("health"), `"ok"`) {
		t.Errorf("%s", w.Body)
	}
}

func TestPanicIsAProblemWithARequestID(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *web.Config) { c.Voices = func() web.VoiceList { panic("the roof is on fire") } })
	w := r.do(t, "GET", "/voices", "").want(500, "internal")
	id := w.field("request_id")
	if id == "" || id != w.Header().Get("X-Request-Id") || strings.Contains(w.Body.String(), "roof") || strings.Contains(w.Body.String(), "goroutine") {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	log := r.log.String()
	for _, want := range []string{"level=ERROR", "the roof is on fire", "request_id=" + id, "appliance_test.go"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in the log: %s", want, log)
		}
	}
	r.do(t, "GET", "/health", "").want(200, "") // and life goes on
}

func TestLogHasOneLineWithoutWhatWasSaid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do(t, "POST", "/notify?token=topsecret", `{"message": "The spare key is under the mat."}`, "Authorization", "Basic topsecret", "Cookie", "a=topsecret").want(202, "")
	log := r.log.String()
	if strings.Contains(log, "mat") || strings.Contains(log, "topsecret") {
		t.Errorf("the log tells too much: %s", log)
	}
	if strings.Count(log, "\n") != 1 {
		t.Errorf("the log of one request is %s", log)
	}
	for _, want := range []string{"level=INFO", "msg=request", "method=POST", "path=/notify", "status=202", "client=192.168.1.20"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in the log: %s", want, log)
		}
	}
	r.do(t, "GET", "/health", "")
	if !strings.Contains(r.log.String(), "level=DEBUG msg=request method=GET path=/health") {
		t.Errorf("the log of a question is %s", r.log.String())
	}
}

func TestDocsAssets(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, path := range []string{"/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"} {
		plain := r.do(t, "GET", path, "").want(200, "").Body.Bytes()
		packed := r.do(t, "GET", path, "", "Accept-Encoding", "br, gzip").want(200, "")
		if packed.Header().Get("Content-Encoding") != "gzip" || packed.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("GET %s: %v", path, packed.Header())
		}
		z, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(plain, unpacked) || len(plain) < 50_000 {
			t.Errorf("GET %s: %d bytes plain, %d unpacked, %v", path, len(plain), len(unpacked), err)
		}
		tag := packed.Header().Get("ETag")
		for known, want := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, `"x"`: 200} {
			w := r.do(t, "GET", path, "", "Accept-Encoding", "gzip", "If-None-Match", known)
			if w.Code != want || (w.Body.Len() == 0) != (want == 304) {
				t.Errorf("GET %s again, knowing %s: status %d and %d bytes, want %d", path, known, w.Code, w.Body.Len(), want)
			}
		}
		for _, accepted := range []string{"gzip;q=0", "br", "gzip; q=0.000, br", "x-gzip"} {
			w := r.do(t, "GET", path, "", "Accept-Encoding", accepted).want(200, "")
			if w.Header().Get("Content-Encoding") != "" || w.Body.Len() != len(plain) {
				t.Errorf("GET %s with Accept-Encoding %s: %v", path, accepted, w.Header())
			}
		}
		r.do(t, "GET", path, "", "Accept-Encoding", "gzip", "Range", "bytes=999999999-").want(200, "")
	}
}
