package sounds_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"pressbox/audio"
	"pressbox/audio/decode"
	"pressbox/daemon/web"
	"pressbox/daemon/web/site"
	"pressbox/daemon/web/webtest"
	"pressbox/packaging/check"
	"pressbox/voice/sounds"
)

// wav returns a WAV file of so many samples.
func wav(tb testing.TB, samples int) string {
	tb.Helper()
	clip := audio.Clip{Rate: decode.Rate, Samples: make([]float32, samples)}
	clip.Samples[0] = 0.5
	var file bytes.Buffer
	check.NoError(tb, audio.WriteWAV(&file, clip))
	return file.String()
}

// form returns a multipart form with a file, and fields before and after it, and its media type.
func form(tb testing.TB, file string, fields ...string) (body, media string) {
	tb.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		if fields[i] == "file" {
			header := textproto.MIMEHeader{}
			header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="file"; filename=%q`, fields[i+1]))
			check.Must(io.WriteString(check.Must(w.CreatePart(header))(tb), file))(tb)
			continue
		}
		check.NoError(tb, w.WriteField(fields[i], fields[i+1]))
	}
	check.NoError(tb, w.Close())
	return b.String(), w.FormDataContentType()
}

func control(c *site.Config) { c.ControlAccess = web.ControlLAN }

func TestSounds(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, control)
	file := wav(t, 12000)
	for _, prefix := range []string{"", "/api"} {
		headers := []string{"Content-Type", "audio/x-wav"}
		if prefix != "" {
			headers = append(headers, "Sec-Fetch-Site", "same-origin")
		}
		w := r.Do(t, "PUT", prefix+"/sounds/bell", file, headers...).Want(201)
		check.That(t, w.Field("name") == "bell" && w.Field("seconds") == "0.5" && w.Field("bytes") == "24044" &&
			w.Field("built_in") == "false" && w.Field("created_at") != "", "%s", w.Text)
		body, media := form(t, file, "file", "bell.wav")
		r.Do(t, "PUT", prefix+"/sounds/bell", body, "Content-Type", media).Want(200)
		list := r.Do(t, "GET", prefix+"/sounds", "").Want(200).Field("sounds")
		check.That(t, strings.Contains(list, `"name":"alarm"`) && strings.Contains(list, `"name":"bell"`), "%s", list)
		got := r.Do(t, "GET", prefix+"/sounds/bell", "").Want(200)
		clip, err := audio.DecodeWAV(got.Body)
		check.That(t, err == nil && clip.Rate == decode.Rate && len(clip.Samples) == 12000 &&
			got.Header.Get("Content-Type") == "audio/wav", "%v: %d samples, %v", err, len(clip.Samples), got.Header)
		r.Do(t, "GET", prefix+"/sounds/ding", "").Want(200)
		r.SoundUsers = map[string][]string{"bell": {"CHIME", "the favorite x"}}
		used := r.Do(t, "DELETE", prefix+"/sounds/bell", "").Want(409, "in_use")
		check.Contains(t, used.Field("detail"), "CHIME, the favorite x", "detail")
		r.SoundUsers = nil
		r.Do(t, "DELETE", prefix+"/sounds/bell", "").Want(204)
		r.Do(t, "DELETE", prefix+"/sounds/bell", "").Want(404, "not_found")
		r.Do(t, "GET", prefix+"/sounds/bell", "").Want(404, "not_found")
	}
}

func TestSounds_refused(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, control)
	file := wav(t, 240)
	both, media := form(t, file, "title", "x", "message", strings.Repeat("x", 65<<10), "file", "a.wav")
	none, noMedia := form(t, file, "message", "x")
	for name, tt := range map[string]struct {
		path, media, body string
		status            int
		code              string
	}{
		"built in":        {"ding", "audio/wav", file, 409, "built_in"},
		"reserved":        {"recording", "audio/wav", file, 409, "built_in"},
		"a name":          {"Bell", "audio/wav", file, 422, "invalid_name"},
		"text":            {"a", "text/plain", "Dinner", 415, "unsupported_media_type"},
		"a form of text":  {"a", noMedia, none, 415, "unsupported_media_type"},
		"large fields":    {"a", media, both, 413, "body_too_large"},
		"a cut form":      {"a", media, both[:900], 400, "not_form"},
		"no sound":        {"a", "audio/wav", "Dinner", 422, "bad_sound"},
		"a playlist":      {"a", "audio/mpegurl", "#EXTM3U\nfile:///etc/passwd\n", 422, "bad_sound"},
		"an Ogg file":     {"a", "audio/ogg", "OggS", 422, "needs_ffmpeg"},
		"a large file":    {"a", "audio/wav", strings.Repeat("x", sounds.MaxBytes+1), 413, "body_too_large"},
		"the size of one": {"a", "audio/wav", strings.Repeat("x", sounds.MaxBytes), 422, "bad_sound"},
	} {
		r.Do(t, "PUT", "/sounds/"+tt.path, tt.body, "Content-Type", tt.media, "Client", "127.0.0.1:1").
			Want(tt.status, tt.code)
		check.That(t, len(r.Sounds.List()) == 4, "%s: a sound was installed", name)
	}
	closed := webtest.NewRig(t)
	closed.Do(t, "PUT", "/sounds/a", file, "Content-Type", "audio/wav").Want(401, "unauthenticated")
	closed.Do(t, "GET", "/sounds", "").Want(200)
}

// What is announced may be a sound, by its name or as it is sent; the latter is announced once, here only.
func TestRecordings(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t)
	file := wav(t, 24000)
	w := r.Do(t, "POST", "/notify?title=Door&volume=30", file, "Content-Type", "audio/wav").Want(202)
	check.That(t, w.Field("sound") == "recording" && w.Field("seconds") == "1" && w.Field("title") == "Door" &&
		w.Field("volume") == "30" && w.Field("message") == "", "%s", w.Text)
	body, media := form(t, file, "message", "Who is there?", "file", "a.wav", "urgent", "true")
	w = r.Do(t, "POST", "/api/notify", body, "Content-Type", media).Want(202)
	spoken := w.Field("message") == "Who is there?" && w.Field("urgent") == "true"
	check.That(t, w.Field("sound") == "recording" && spoken, "%s", w.Text)
	text, media := form(t, "", "message", "Dinner is ready.")
	w = r.Do(t, "POST", "/notify", text, "Content-Type", media).Want(202)
	check.That(t, w.Field("sound") == "" && w.Field("seconds") == "", "%s", w.Text)

	elsewhere := r.Do(t, "POST", "/notify?room=kitchen", file, "Content-Type", "audio/wav").Want(422)
	check.Equal(t, elsewhere.Violations(), "/room room_not_possible", "violations")
	r.Do(t, "POST", "/notify?room=hall&in=60", file, "Content-Type", "audio/wav").Want(202)
	r.Do(t, "POST", "/notify", "Dinner", "Content-Type", "audio/wav").Want(422, "bad_sound")
	r.Do(t, "POST", "/notify?sound=recording", "Dinner", "Content-Type", "text/plain").Want(422)
	r.Do(t, "POST", "/notify", `{"sound": "gong"}`).Want(422)
	r.Do(t, "POST", "/notify", `{"title": "Door"}`).Want(422)
	w = r.Do(t, "POST", "/notify?in=60", `{"sound": "ding"}`).Want(202)
	check.That(t, w.Field("sound") == "ding" && strings.Contains(w.Text, `"message":""`), "%s", w.Text)
	r.Do(t, "POST", "/notify", file, "Content-Type", "audio/wav", "Sec-Fetch-Site", "cross-site").
		Want(403, "cross_origin")
}

// A repeated request has one recording; each of those that are refused or cancelled has none, so that there is place.
func TestRecordings_places(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.NotifyRate = 100_000 })
	file := wav(t, 240)
	post := func(headers ...string) webtest.Page {
		return r.Do(t, "POST", "/notify?in=600", file, append(headers, "Content-Type", "audio/wav")...)
	}
	first := post("Idempotency-Key", "a").Want(202)
	for range 10 {
		check.Equal(t, post("Idempotency-Key", "a").Want(202).Field("id"), first.Field("id"), "id")
		r.Do(t, "POST", "/notify?volume=0", file, "Content-Type", "audio/wav").Want(422)
	}
	for range 4 {
		post().Want(202)
	}
	post().Want(503, "recordings_full")
	post("Client", "192.168.1.21:1").Want(202)
	r.Do(t, "DELETE", "/notify/"+first.Field("id"), "").Want(200)
	r.Do(t, "POST", "/notify/"+first.Field("id")+"/again", "").Want(410, "gone")
	post().Want(202)
}

// A recording counts as ten requests.
func TestRecordings_rate(t *testing.T) {
	t.Parallel()
	r := webtest.NewRig(t, func(c *site.Config) { c.NotifyRate = 40 }) // 20 at once
	file := wav(t, 240)
	for range 2 {
		r.Do(t, "POST", "/notify?in=60", file, "Content-Type", "audio/wav").Want(202)
	}
	r.Do(t, "POST", "/notify?in=60", `{"message": "x"}`).Want(http.StatusTooManyRequests, "too_many_requests")
}
