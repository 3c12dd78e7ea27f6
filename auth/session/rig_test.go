package session_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pressbox/auth"
	"pressbox/auth/session"
	"pressbox/clock"
)

// memory is a Keeper for tests: one map, changed whole or not at all. What it
// was ever given is in writes.
type memory struct {
	mu     sync.RWMutex
	rows   map[string]string // table 0x00 key → value
	writes int
	full   bool // every write fails
}

func newMemory() *memory { return &memory{rows: make(map[string]string)} }

func (m *memory) View(_ context.Context, look func(auth.Tx) error) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return look(memoryTx{m.rows})
}

func (m *memory) Update(_ context.Context, change func(auth.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return errors.New("disk full")
	}
	m.writes++
	next := maps.Clone(m.rows)
	if err := change(memoryTx{next}); err != nil {
		return err
	}
	m.rows = next
	return nil
}

// count is how many records a table has.
func (m *memory) count(table auth.Table) (n int) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for key := range m.rows {
		if strings.HasPrefix(key, string(table)+"\x00") {
			n++
		}
	}
	return n
}

type memoryTx struct{ rows map[string]string }

func (t memoryTx) Get(table auth.Table, key []byte) []byte {
	if value, ok := t.rows[string(table)+"\x00"+string(key)]; ok {
		return []byte(value)
	}
	return nil
}

func (t memoryTx) Put(table auth.Table, key, value []byte) error {
	t.rows[string(table)+"\x00"+string(key)] = string(value)
	return nil
}

func (t memoryTx) Delete(table auth.Table, key []byte) error {
	delete(t.rows, string(table)+"\x00"+string(key))
	return nil
}

func (t memoryTx) Each(table auth.Table, prefix []byte, visit func(key, value []byte) error) error {
	lead := string(table) + "\x00"
	for _, row := range slices.Sorted(maps.Keys(t.rows)) {
		key, ok := strings.CutPrefix(row, lead)
		if !ok || !strings.HasPrefix(key, string(prefix)) {
			continue
		}
		if err := visit([]byte(key), []byte(t.rows[row])); err != nil {
			return err
		}
	}
	return nil
}

// machine is a computer whose clock can be set and which can be restarted.
type machine struct {
	mu    sync.Mutex
	wall  time.Time
	since time.Duration
	boot  string
}

func newMachine() *machine {
	return &machine{wall: time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC), since: time.Hour, boot: "first"}
}

func (m *machine) source() clock.Source {
	m.mu.Lock()
	defer m.mu.Unlock()
	return clock.Source{
		Wall:  func() time.Time { m.mu.Lock(); defer m.mu.Unlock(); return m.wall },
		Since: func() time.Duration { m.mu.Lock(); defer m.mu.Unlock(); return m.since },
		Boot:  m.boot,
	}
}

// pass lets time go by.
func (m *machine) pass(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall, m.since = m.wall.Add(d), m.since+d
}

// correct moves the wall clock alone.
func (m *machine) correct(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall = m.wall.Add(d)
}

// restart boots the machine with its wall clock off by d.
func (m *machine) restart(boot string, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boot, m.since, m.wall = boot, 10*time.Second, m.wall.Add(d)
}

// provider is an identity provider with switches.
type provider struct {
	mu     sync.Mutex
	flows  []auth.AuthorizationRequest // as asked with
	codes  []string                    // as exchanged
	who    auth.Identity
	err    error
	issuer string
	always bool
}

func (p *provider) Authorize(_ context.Context, flow auth.AuthorizationRequest) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flows = append(p.flows, flow)
	return "https://idp.example/authorize?state=" + flow.State, nil
}

func (p *provider) Issuer(context.Context) (string, bool, error) { return p.issuer, p.always, nil }

func (p *provider) Identify(_ context.Context, flow auth.AuthorizationRequest, code string) (auth.Identity, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flows, p.codes = append(p.flows, flow), append(p.codes, code)
	return p.who, p.err
}

// house is a door with all that stands behind it.
type house struct {
	*session.SignIn
	t       *testing.T
	keeper  *memory
	machine *machine
	clock   *clock.Clock
	idp     *provider
	log     *bytes.Buffer
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, keeper: newMemory(), machine: newMachine(), log: new(bytes.Buffer)}
	h.idp = &provider{who: auth.Identity{Provider: "test", Subject: "1", Name: "Anna"}}
	h.SignIn = &session.SignIn{Provider: h.idp, ProviderName: "test", SignUp: auth.SignUpOpen}
	h.start()
	return h
}

// start starts the program, or starts it again.
func (h *house) start() {
	h.t.Helper()
	clock, err := session.OpenClock(h.t.Context(), h.keeper, h.machine.source(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		h.t.Fatal(err)
	}
	h.Log = slog.New(slog.NewTextHandler(&locked{w: h.log}, nil))
	h.clock = clock
	h.Sessions = session.New(h.keeper, clock, 0, h.Log)
}

// locked makes a buffer fit for several goroutines.
type locked struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (h *house) begin() auth.StartedFlow {
	h.t.Helper()
	begun, err := h.Begin(h.t.Context(), auth.FlowOptions{Redirect: "https://box.example/cb"})
	if err != nil {
		h.t.Fatalf("begin: %v", err)
	}
	return begun
}

// back is the callback of the browser that began.
func back(b auth.StartedFlow) auth.Callback {
	return auth.Callback{State: b.State, Binding: b.Binding, Code: "code"}
}

// signIn goes in by the door.
func (h *house) signIn(replaces ...auth.Token) auth.Result {
	h.t.Helper()
	c := back(h.begin())
	c.Replaces = replaces
	granted, err := h.Finish(h.t.Context(), c)
	if err != nil {
		h.t.Fatalf("finish: %v", err)
	}
	return granted
}

// refused is the code with which a callback must be refused.
func (h *house) refused(c auth.Callback, want auth.Code) {
	h.t.Helper()
	granted, err := h.Finish(h.t.Context(), c)
	if err == nil || auth.CodeOf(err) != want {
		h.t.Fatalf("finish: %v, %v; want a refusal with %s", granted, err, want)
	}
	if granted != (auth.Result{}) {
		h.t.Fatalf("refused with %s, and granted %v", want, granted)
	}
}

// in says whether an access token opens.
func (h *house) in(t auth.Token) error {
	_, err := h.Sessions.Authenticate(h.t.Context(), auth.RequestCredentials{Cookies: []string{t.Reveal()}})
	return err
}

func (h *house) mustBeIn(t auth.Token) {
	h.t.Helper()
	if err := h.in(t); err != nil {
		h.t.Fatalf("access token: %v, want it to open", err)
	}
}

func (h *house) mustBeOut(t auth.Token) {
	h.t.Helper()
	if err := h.in(t); !errors.Is(err, auth.ErrInvalidToken) {
		h.t.Fatalf("access token: %v, want %v", err, auth.ErrInvalidToken)
	}
}

func (h *house) refresh(t auth.Token) auth.TokenPair {
	h.t.Helper()
	pair, err := h.Sessions.Refresh(h.t.Context(), t)
	if err != nil {
		h.t.Fatalf("refresh: %v", err)
	}
	return pair
}

func (h *house) notRefreshed(t auth.Token, want error) {
	h.t.Helper()
	if pair, err := h.Sessions.Refresh(h.t.Context(), t); !errors.Is(err, want) {
		h.t.Fatalf("refresh: %v, %v; want %v", pair, err, want)
	}
}
