package pulse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/jfreymuth/pulse/proto"
)

// A Report is what a look at the sound server found.
type Report struct {
	Attempts []Attempt    `json:"attempts"` // on the addresses where it may be, in order; the last one is good when Server is
	Server   string       `json:"server"`   // its name and version; "" when none answers
	Default  string       `json:"default"`  // name of its default sink
	Sinks    []SinkReport `json:"sinks"`
	Cards    int          `json:"cards"` // that it knows of
}

// An Attempt to reach a server.
type Attempt struct {
	Address string  `json:"address"`
	Trouble Trouble `json:"trouble"` // "" when it answered
	Detail  string  `json:"detail"`
}

// A Trouble is why a server cannot be spoken to.
type Trouble string

// The troubles.
const (
	Absent    Trouble = "absent"    // nothing is at the address
	Dead      Trouble = "dead"      // a socket that nobody serves any more
	Forbidden Trouble = "forbidden" // the file's or folder's permissions
	Rejected  Trouble = "rejected"  // the server's own: another user's, or its cookie is another
	Silent    Trouble = "silent"    // it does not answer
	Strange   Trouble = "strange"   // anything else
)

// A SinkReport is one sink.
type SinkReport struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	State       string `json:"state"`
	Muted       bool   `json:"muted"`
	Volume      int    `json:"volume"`    // percent
	Port        string `json:"port"`      // that is in use, such as "HDMI / DisplayPort"; may be ""
	Unplugged   bool   `json:"unplugged"` // nothing is plugged into it
	Null        bool   `json:"null"`      // what is played there is heard by nobody
}

// Inspect looks at the sound server as a daemon with this configuration would
// find it. The error is that of a configuration that names no server.
func Inspect(ctx context.Context, cfg Config) (Report, error) {
	var r Report
	servers, err := cfg.servers()
	if err != nil {
		return r, err
	}
	for _, server := range servers {
		conn, err := dialOne(ctx, server, cfg.cookie())
		if err == nil {
			err = r.look(conn)
			conn.close(errors.New("it was only a look"))
		}
		attempt := Attempt{Address: server.String()}
		if err != nil {
			attempt.Trouble, attempt.Detail = trouble(err), err.Error()
		}
		r.Attempts = append(r.Attempts, attempt)
		if err == nil {
			break
		}
		r.Server = ""
	}
	return r, nil
}

// look asks a server what it has.
func (r *Report) look(conn *connection) error {
	var about proto.GetServerInfoReply
	var sinks proto.GetSinkInfoListReply
	var cards proto.GetCardInfoListReply
	for _, ask := range []struct {
		what  proto.RequestArgs
		reply proto.Reply
	}{{new(proto.GetServerInfo), &about}, {new(proto.GetSinkInfoList), &sinks}, {new(proto.GetCardInfoList), &cards}} {
		if err := conn.request(ask.what, ask.reply); err != nil {
			return fmt.Errorf("ask the sound server what it has: %w", err)
		}
	}
	r.Server = about.PackageName + " " + about.PackageVersion
	r.Default, r.Cards = about.DefaultSinkName, len(cards)
	for _, sink := range sinks {
		r.Sinks = append(r.Sinks, reportOf(sink))
	}
	return nil
}

// unavailable is a port's state when the hardware says that nothing is plugged in.
const unavailable = 1

func reportOf(sink *proto.GetSinkInfoReply) SinkReport {
	d := newDevice(sink)
	report := SinkReport{Name: d.name, Description: d.description, State: d.state, Muted: d.muted, Volume: d.volume}
	for _, port := range sink.Ports {
		if port.Name == sink.ActivePortName {
			report.Port, report.Unplugged = port.Description, port.Available == unavailable
		}
	}
	report.Null = sink.SinkName == "auto_null" || strings.Contains(sink.Driver, "null-sink") ||
		sink.Properties["device.class"].String() == "abstract" || sink.Properties["factory.name"].String() == "support.null-audio-sink"
	return report
}

// trouble says what kind of error it is.
func trouble(err error) Trouble {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Absent
	case errors.Is(err, syscall.ECONNREFUSED):
		return Dead
	case errors.Is(err, fs.ErrPermission):
		return Forbidden
	case errors.Is(err, errRejected):
		return Rejected
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errUnanswered):
		return Silent
	default:
		return Strange
	}
}
