package webhook

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A heartbeat is the body of Uptime Kuma's webhook. Tests and warnings about certificates have neither a
// heartbeat nor a monitor.
type heartbeat struct {
	Heartbeat *struct {
		Status  int    `json:"status"`
		Message string `json:"msg"`
	} `json:"heartbeat"`
	Monitor *struct {
		Name string `json:"name"`
	} `json:"monitor"`
	Message string                    `json:"msg"`
	Others  map[string]jsontext.Value `json:",embed"`
}

// The statuses of a heartbeat, as Uptime Kuma numbers them.
const (
	monitorDown = iota
	monitorUp
	monitorPending
	monitorMaintenance
)

// readUptimeKuma reads what Uptime Kuma sends.
func readUptimeKuma(body []byte) (Result, error) {
	var beat heartbeat
	if err := decode(body, &beat); err != nil {
		return Result{}, err
	}
	message, priority := beat.text()
	if message == "" {
		return Result{}, &BodyError{Path: "/msg", Detail: "must not be empty without a heartbeat and a monitor"}
	}
	fields := map[string]string{"message": message, "priority": priority}
	return Result{Fields: fields, Unknown: unknownNames(beat.Others)}, nil
}

// text returns what is announced, and its priority.
func (b heartbeat) text() (message, priority string) {
	if b.Heartbeat == nil || b.Monitor == nil || strings.TrimSpace(b.Monitor.Name) == "" {
		return cut(b.Message, maxAlertText), usual
	}
	name := cut(b.Monitor.Name, maxAlertText)
	switch b.Heartbeat.Status {
	case monitorUp:
		return name + " is up.", usual
	case monitorPending:
		return name + " does not respond at the moment.", usual
	case monitorMaintenance:
		return name + " is under maintenance.", usual
	case monitorDown:
		if reason := cut(b.Heartbeat.Message, maxAlertText); reason != "" {
			return name + " is down: " + sentence(reason), important
		}
		return name + " is down.", important
	default:
		return cut(b.Message, maxAlertText), usual
	}
}
