// Package metrics collects the server's metrics for Prometheus.
//
// One law: a metric never changes its name, its type or its labels.
package metrics

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"pressbox/voice/announce"
	"pressbox/voice/announce/announcer"
)

// Metrics are the metrics that the server updates while it works.
type Metrics struct {
	registry   *prometheus.Registry
	accepted   prometheus.Counter
	ended      *prometheus.CounterVec // by status
	firstSound prometheus.Histogram
	clip       prometheus.Histogram
	write      prometheus.Histogram
	requests   *prometheus.HistogramVec // by route, method and code
	watchdog   prometheus.Gauge
}

// New returns metrics that are all zero.
func New() *Metrics {
	registry := prometheus.NewRegistry()
	with := promauto.With(registry)
	m := &Metrics{
		registry: registry,
		accepted: with.NewCounter(prometheus.CounterOpts{
			Name: "pressbox_announcements_accepted_total", Help: "Accepted announcements.",
		}),
		ended: with.NewCounterVec(prometheus.CounterOpts{
			Name: "pressbox_announcements_ended_total", Help: "Ended announcements by status.",
		}, []string{"status"}),
		firstSound: with.NewHistogram(prometheus.HistogramOpts{
			Name:    "pressbox_first_sound_seconds",
			Help:    "Time from the acceptance of an announcement to its first sample.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60, 600},
		}),
		clip: with.NewHistogram(prometheus.HistogramOpts{
			Name: "pressbox_clip_seconds", Help: "Time to synthesize one clip of speech, such as a sentence.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		write: with.NewHistogram(prometheus.HistogramOpts{
			Name:    "pressbox_store_write_seconds",
			Help:    "Time to commit a change of an announcement or a game to the store.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .5, 2},
		}),
		requests: with.NewHistogramVec(prometheus.HistogramOpts{
			Name: "pressbox_http_request_seconds", Help: "Duration of requests, including streams and websockets.",
			Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10, 60},
		}, []string{"route", "method", "code"}),
		watchdog: with.NewGauge(prometheus.GaugeOpts{
			Name: "pressbox_watchdog_last_ok_timestamp_seconds",
			Help: "Time of the last watchdog round in which every component made progress; 0 without a watchdog.",
		}),
	}
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, status := range []announce.Status{
		announce.Done, announce.Failed, announce.Cancelled, announce.Expired, announce.Unheard, announce.Silenced,
	} {
		m.ended.WithLabelValues(string(status)) // exported as 0 from the start
	}
	return m
}

// ClipTime observes the time in which a clip was synthesized.
func (m *Metrics) ClipTime(took time.Duration) { m.clip.Observe(took.Seconds()) }

// WriteTime observes the time of a commit.
func (m *Metrics) WriteTime(took time.Duration) { m.write.Observe(took.Seconds()) }

// WatchdogOK sets the time of the last watchdog round to now.
func (m *Metrics) WatchdogOK() { m.watchdog.SetToCurrentTime() }

// Request observes a request.
func (m *Metrics) Request(route, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}

// An Outbox counts the announcements that it accepts and ends.
type Outbox struct {
	announcer.Outbox
	Metrics *Metrics
}

// Append implements [announcer.Outbox].
func (o Outbox) Append(ctx context.Context, n announce.Announcement,
	key announce.IdempotencyKey,
) (stored announce.Accepted, fresh bool, err error) {
	stored, fresh, err = o.Outbox.Append(ctx, n, key)
	if err == nil && fresh {
		o.Metrics.accepted.Inc()
	}
	return stored, fresh, err
}

// Done implements [announcer.Outbox].
func (o Outbox) Done(ctx context.Context, ended ...announce.Announcement) error {
	err := o.Outbox.Done(ctx, ended...)
	if err != nil {
		return err
	}
	for _, n := range ended {
		o.Metrics.ended.WithLabelValues(string(n.Status)).Inc()
		if !n.Started.IsZero() {
			o.Metrics.firstSound.Observe(n.Started.Sub(n.Created).Seconds())
		}
	}
	return nil
}

// A Reading is a metric that is read when it is collected.
type Reading struct {
	Name, Help string
	Total      bool // a counter; otherwise a gauge
	Read       func() float64
}

// Register adds the readings and the build's version.
func (m *Metrics) Register(version, goVersion string, readings []Reading) {
	with := promauto.With(m.registry)
	with.NewGauge(prometheus.GaugeOpts{
		Name: "pressbox_build_info", Help: "Always 1.",
		ConstLabels: prometheus.Labels{"version": version, "go": goVersion},
	}).Set(1)
	for _, r := range readings {
		opts := prometheus.Opts{Name: r.Name, Help: r.Help}
		if r.Total {
			with.NewCounterFunc(prometheus.CounterOpts(opts), r.Read)
		} else {
			with.NewGaugeFunc(prometheus.GaugeOpts(opts), r.Read)
		}
	}
}

// Handler returns the handler of GET /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
