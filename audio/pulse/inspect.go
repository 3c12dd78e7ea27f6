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

// A Inspection is what a look at the sound server found.
type Inspection struct {
	Attempts []Attempt  `json:"attempts"` // on the addresses where it may be, in order; the last one is good when Server is
	Server   string     `json:"server"`   // its name and version; "" when none answers
	Default  string     `json:"default"`  // name of its default sink
	Sinks    []SinkInfo `json:"sinks"`
	Cards    int        `json:"cards"` // that it knows of
}

// An Attempt to reach a server.
type Attempt struct {
	Address string  `json:"address"`
	Failure Failure `json:"failure"` // "" when it answered
	Detail  string  `json:"detail"`
}

// A Failure is why a server cannot be spoken to.
type Failure string

// The troubles.
const (
	NotFound         Failure = "not_found"         // nothing is at the address
	Refused          Failure = "refused"           // a socket that nobody serves any more
	PermissionDenied Failure = "permission_denied" // the file's or folder's permissions
	AccessDenied     Failure = "access_denied"     // the server's own: another user's, or its cookie is another
	Timeout          Failure = "timeout"           // it does not answer
	Other            Failure = "other"             // anything else
)

// A SinkInfo is one sink.
type SinkInfo struct {
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
func Inspect(ctx context.Context, cfg Config) (Inspection, error) {
	var r Inspection
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
			attempt.Failure, attempt.Detail = trouble(err), err.Error()
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
func (r *Inspection) look(conn *connection) error {
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

func reportOf(sink *proto.GetSinkInfoReply) SinkInfo {
	d := newDevice(sink)
	report := SinkInfo{Name: d.name, Description: d.description, State: d.state, Muted: d.muted, Volume: d.volume}
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
func trouble(err error) Failure {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return NotFound
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, fs.ErrPermission):
		return PermissionDenied
	case errors.Is(err, errRejected):
		return AccessDenied
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errUnanswered):
		return Timeout
	default:
		return Other
	}
}
