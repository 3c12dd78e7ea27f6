package pulse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/jfreymuth/pulse/proto"
)

// An Inspection is the result of [Inspect].
type Inspection struct {
	// at the configured addresses, in order; the last one succeeded if Server is set
	Attempts []Attempt  `json:"attempts"`
	Server   string     `json:"server"`  // name and version; "" if none answers
	Default  string     `json:"default"` // name of the default sink
	Sinks    []SinkInfo `json:"sinks"`
	Cards    int        `json:"cards"` // number of sound cards
}

// An Attempt is one attempt to connect.
type Attempt struct {
	Address string  `json:"address"`
	Failure Failure `json:"failure"` // "" on success
	Detail  string  `json:"detail"`
}

// A Failure is the kind of a failed attempt.
type Failure string

// The kinds of failure.
const (
	NotFound         Failure = "not_found"         // nothing exists at the address
	Refused          Failure = "refused"           // a socket without a server
	PermissionDenied Failure = "permission_denied" // by the permissions of the socket or its directory
	AccessDenied     Failure = "access_denied"     // by the server: it serves another user or has another cookie
	Timeout          Failure = "timeout"           // the server does not answer
	Other            Failure = "other"
)

// A SinkInfo describes one sink.
type SinkInfo struct {
	Name        string `json:"name"`        // such as "alsa_output.pci-0000_00_1f.3.analog-stereo"
	Description string `json:"description"` // human-readable name
	State       string `json:"state"`       // "running", "idle" or "suspended"
	Muted       bool   `json:"muted"`
	Volume      int    `json:"volume"`    // percent
	Port        string `json:"port"`      // the active port, such as "HDMI / DisplayPort"; may be ""
	Unplugged   bool   `json:"unplugged"` // nothing is plugged into the port
	Null        bool   `json:"null"`      // it discards the sound
}

// Address returns the address of the server that answered; "" if none did.
func (r Inspection) Address() string {
	if r.Server == "" {
		return ""
	}
	return r.Attempts[len(r.Attempts)-1].Address
}

// LowVolume is the volume of a sink in percent below which announcements are missed in the next room.
// WirePlumber's for a new sound card, 40, is below it.
const LowVolume = 50

// Silence returns why a sink of the server at an address is silent, and the command that changes it; "" if it
// is not silent.
func (s SinkInfo) Silence(address string) (why, remedy string) {
	switch {
	case s.Name == "":
		return "", ""
	case s.Muted:
		return "the sink " + s.Name + " is muted", fmt.Sprintf("pactl --server=%s set-sink-mute %s 0", address, s.Name)
	case s.Volume == 0:
		return "the volume of the sink " + s.Name + " is 0 %",
			fmt.Sprintf("pactl --server=%s set-sink-volume %s 100%%", address, s.Name)
	default:
		return "", ""
	}
}

// Sink returns the sink that would play, by [Config.Sinks]; ok is false if there is none.
func (r Inspection) Sink(want []string) (s SinkInfo, ok bool) {
	i := choose(r.names(), want, r.Default)
	if i < 0 {
		return SinkInfo{}, false
	}
	return r.Sinks[i], true
}

// names returns the names of the sinks.
func (r Inspection) names() []string {
	names := make([]string, len(r.Sinks))
	for i, s := range r.Sinks {
		names[i] = s.Name
	}
	return names
}

// DummyName is the name of the sink that PulseAudio and PipeWire provide where there is no other.
const DummyName = "auto_null"

// Inspect connects to the sound server as a Sink with this configuration would. It returns an error only if
// the configuration names no server.
func Inspect(ctx context.Context, cfg Config) (Inspection, error) {
	var r Inspection
	servers, err := cfg.servers()
	if err != nil {
		return r, err
	}
	for _, server := range servers {
		conn, err := dialOne(ctx, server, cfg.cookie())
		if err == nil {
			err = r.query(conn)
			conn.close(errors.New("inspection finished"))
		}
		attempt := Attempt{Address: server.String()}
		if err != nil {
			attempt.Failure, attempt.Detail = failureOf(err), err.Error()
		}
		r.Attempts = append(r.Attempts, attempt)
		if err == nil {
			break
		}
		r.Server = ""
	}
	return r, nil
}

// query fills in the properties of a server.
func (r *Inspection) query(conn *connection) error {
	l, err := conn.list()
	if err != nil {
		return err
	}
	var cards proto.GetCardInfoListReply
	if err := conn.request(new(proto.GetCardInfoList), &cards); err != nil {
		return fmt.Errorf("query the sound server: %w", err)
	}
	r.Server, r.Default, r.Cards = l.server, l.standard, len(cards)
	for _, sink := range l.sinks {
		r.Sinks = append(r.Sinks, sink.SinkInfo)
	}
	return nil
}

func failureOf(err error) Failure {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return NotFound
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, fs.ErrPermission):
		return PermissionDenied
	case errors.Is(err, errAccessDenied):
		return AccessDenied
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errTimeout):
		return Timeout
	default:
		return Other
	}
}
