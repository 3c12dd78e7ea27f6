package main

import (
	"context"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"pressbox/daemon/web"
	"pressbox/voice/announce"
)

// figures are what the daemon counts while it works, for Prometheus.
type figures struct {
	registry      *prometheus.Registry
	accepted      prometheus.Counter
	ended         *prometheus.CounterVec   // by status
	firstSound    prometheus.Histogram     // from accepted to heard
	clip, written prometheus.Histogram     // to make a clip; to write to the store
	requests      *prometheus.HistogramVec // by route, method and code
	alive         prometheus.Gauge         // when the watchdog was fed last
}

func newFigures() *figures {
	f := &figures{
		registry: prometheus.NewRegistry(),
		accepted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "pressbox_announcements_accepted_total", Help: "Announcements that were accepted.",
		}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "pressbox_announcements_ended_total", Help: "Announcements that ended, by how.",
		}, []string{"status"}),
		firstSound: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "pressbox_first_sound_seconds", Help: "From the acceptance of an announcement to its first sample.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60, 600},
		}),
		clip: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "pressbox_clip_seconds", Help: "How long it took to make a clip of speech, such as a sentence.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		written: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "pressbox_store_write_seconds", Help: "How long the store took to confirm a change of an announcement or a game.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .5, 2},
		}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "pressbox_http_request_seconds", Help: "How long requests took, streams and websockets included.",
			Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10, 60},
		}, []string{"route", "method", "code"}),
		alive: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "pressbox_watchdog_last_ok_timestamp_seconds", Help: "When every part last proved that it makes progress; 0 without a watchdog.",
		}),
	}
	f.registry.MustRegister(f.accepted, f.ended, f.firstSound, f.clip, f.written, f.requests, f.alive,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, status := range []announce.Status{announce.Done, announce.Failed, announce.Cancelled, announce.Expired} {
		f.ended.WithLabelValues(string(status)) // so that it is there at 0
	}
	return f
}

// note counts announcements that ended.
func (f *figures) note(ended []announce.Announcement) {
	for _, n := range ended {
		f.ended.WithLabelValues(string(n.Status)).Inc()
		if !n.Started.IsZero() {
			f.firstSound.Observe(n.Started.Sub(n.Created).Seconds())
		}
	}
}

// request counts a request that was answered.
func (f *figures) request(route, method string, status int, took time.Duration) {
	f.requests.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}

// A gauge is one figure of the house as it is.
type gauge struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(*house) float64
}

func newGauge(name, help string, read func(*house) float64) gauge {
	return gauge{prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, read}
}

func newCount(name, help string, read func(*house) float64) gauge {
	return gauge{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, read}
}

// A gauges collector reads the house when it is asked.
type gauges struct {
	house *house
	all   []gauge
}

// Describe tells Prometheus' registry what there will be.
func (g gauges) Describe(to chan<- *prometheus.Desc) {
	for _, one := range g.all {
		to <- one.desc
	}
}

// Collect reads all of them.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	for _, one := range g.all {
		to <- prometheus.MustNewConstMetric(one.desc, one.kind, one.read(g.house))
	}
}

// metrics is what GET /metrics answers.
func (h *house) metrics() http.Handler {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "pressbox_build_info", Help: "Always 1.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	})
	build.Set(1)
	h.figures.registry.MustRegister(build, gauges{h, []gauge{
		newGauge("pressbox_queue_waiting", "Announcements that wait behind the one being spoken.", func(h *house) float64 { return float64(h.announcer.Stats().Waiting) }),
		newGauge("pressbox_queue_max", "How many may wait.", func(h *house) float64 { return float64(h.announcer.Stats().Max) }),
		newGauge("pressbox_sound_connected", "1 while there is a sink to speak on.", func(h *house) float64 { return oneIf(h.sink.Status().Sink != "") }),
		newGauge("pressbox_sound_muted", "1 while the sink is muted.", func(h *house) float64 { return oneIf(h.sink.Status().Muted) }),
		newCount("pressbox_sound_samples_total", "Samples that the sound server took.", func(h *house) float64 { return float64(h.sink.Written()) }),
		newGauge("pressbox_voices", "Voices that are installed.", func(h *house) float64 { return float64(len(h.voices.Voices())) }),
		newGauge("pressbox_store_bytes", "Bytes of the store's file that hold data.", func(h *house) float64 { s, _ := h.store.Stats(); return float64(s.Size - s.Free) }),
		newGauge("pressbox_store_max_bytes", "What the store may grow to.", func(h *house) float64 { s, _ := h.store.Stats(); return float64(s.Max) }),
		newCount("pressbox_store_commits_total", "Transactions that the disk has confirmed.", func(h *house) float64 { s, _ := h.store.Stats(); return float64(s.Commits) }),
		newGauge("pressbox_games_active", "Games that are being played.", func(h *house) float64 { return float64(h.count("games_active")) }),
		newGauge("pressbox_sessions", "Sessions that are alive.", func(h *house) float64 { return float64(h.count("sessions")) }),
		newGauge("pressbox_accounts", "Accounts.", func(h *house) float64 { return float64(h.count("accounts")) }),
		newGauge("pressbox_degraded", "1 while something does not work; pressbox doctor says what.", func(h *house) float64 { return oneIf(h.worst() != web.OK) }),
	}})
	return promhttp.HandlerFor(h.figures.registry, promhttp.HandlerOpts{})
}

// oneIf is how Prometheus writes yes and no.
func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// counts says how many there are of what.
func (h *house) counts(ctx context.Context) (map[string]int, error) {
	accounts, sessions, err := h.doorway.web.Book.Count(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]int{"accounts": accounts, "sessions": sessions}
	for status, n := range h.hall.CountByStatus() {
		all["games_"+string(status)] = n
	}
	return all, nil
}

// count is one of them; 0 when they cannot be read.
func (h *house) count(name string) int {
	all, err := h.counts(context.Background())
	if err != nil {
		return 0
	}
	return all[name]
}

// worst is the health of the part that is worst.
func (h *house) worst() web.Health {
	worst := web.OK
	for _, check := range h.checks() {
		c := check.Report()
		if c.Health == web.Failing || c.Health == web.Degraded && worst == web.OK {
			worst = c.Health
		}
	}
	return worst
}
