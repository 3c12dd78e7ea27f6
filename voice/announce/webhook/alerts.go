package webhook

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// An alertGroup is the body of Alertmanager's webhook, version 4, and of Grafana's, version 1.
type alertGroup struct {
	Status            string                    `json:"status"`
	Alerts            []alert                   `json:"alerts"`
	Truncated         int                       `json:"truncatedAlerts"`
	CommonLabels      map[string]string         `json:"commonLabels"`
	CommonAnnotations map[string]string         `json:"commonAnnotations"`
	Others            map[string]jsontext.Value `json:",embed"`
}

type alert struct {
	Status      string            `json:"status"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    string            `json:"startsAt"`
	Fingerprint string            `json:"fingerprint"`
}

// Limits of what is spoken of alerts.
const (
	maxAlerts    = 5   // of one state; the others are counted
	maxAlertText = 300 // characters of one
)

// readAlerts reads what Alertmanager and Grafana send: an alert that fires or is resolved is an event.
func readAlerts(body []byte, known Known) (Result, error) {
	var group alertGroup
	if err := decode(body, &group); err != nil {
		return Result{}, err
	}
	if len(group.Alerts) == 0 && len(group.CommonAnnotations) == 0 && len(group.CommonLabels) == 0 {
		return Result{}, &BodyError{Path: "/alerts", Detail: "must list at least one alert"}
	}
	if len(group.Alerts) == 0 { // only what they have in common
		group.Alerts = []alert{{Labels: group.CommonLabels, Annotations: group.CommonAnnotations}}
	}
	unused := []string{"version", "receiver", "groupKey", "groupLabels", "externalURL", "notification_reason"}
	ofGrafana := []string{"orgId", "title", "state", "message", "appVersion"}
	result := Result{Unknown: unknownNames(group.Others, append(unused, ofGrafana...)...)}
	var firing, resolved []alert
	for _, a := range group.Alerts {
		a.Status = cmp.Or(a.Status, group.Status)
		switch {
		case known(a.event()):
			result.Repeated++
		case a.Status == "resolved":
			resolved = append(resolved, a)
		default:
			firing = append(firing, a)
		}
	}
	if len(firing)+len(resolved) == 0 {
		return result, nil
	}
	message := describe(firing, group.truncated("firing"), "Alert", "alerts") + " " +
		describe(resolved, group.truncated("resolved"), "Resolved", "alerts are resolved")
	result.Fields = map[string]string{"message": strings.TrimSpace(message), "priority": priorityOf(firing)}
	return result, nil
}

// truncated returns how many alerts of the status the sender has left out.
func (g alertGroup) truncated(status string) int {
	if (g.Status == "resolved") == (status == "resolved") {
		return max(g.Truncated, 0)
	}
	return 0
}

// event identifies one change of the alert's state: what Alertmanager repeats has the same start, an alert
// that fires again has a new one.
func (a alert) event() string {
	id := a.Fingerprint
	if id == "" {
		for _, name := range slices.Sorted(maps.Keys(a.Labels)) {
			id += fmt.Sprintf("%q=%q,", name, a.Labels[name])
		}
	}
	return fmt.Sprintf("%s %s %s", a.Status, a.StartsAt, id)
}

// describe returns the sentences about alerts of one state, "" if there are none. one precedes a single alert
// without a summary, many several ones.
func describe(alerts []alert, truncated int, one, many string) string {
	if len(alerts) == 0 {
		return ""
	}
	if len(alerts)+truncated == 1 {
		text := alerts[0].summary()
		if text != "" && alerts[0].Status != "resolved" {
			return sentence(text)
		}
		return one + ": " + sentence(cmp.Or(text, alerts[0].name()))
	}
	spoken := []string{fmt.Sprintf("%d %s:", len(alerts)+truncated, many)}
	left := truncated
	for _, a := range alerts {
		switch t := sentence(cmp.Or(a.summary(), a.name())); {
		case slices.Contains(spoken, t):
		case len(spoken) <= maxAlerts:
			spoken = append(spoken, t)
		default:
			left++
		}
	}
	if left > 0 {
		spoken = append(spoken, fmt.Sprintf("And %d more.", left))
	}
	return strings.Join(spoken, " ")
}

// summary returns what the alert's author has written for people; "" if there is nothing. Grafana copies it to alerts
// about the rule itself (DatasourceNoData, DatasourceError), of which it is not true.
func (a alert) summary() string {
	if a.Labels["rulename"] != "" {
		return ""
	}
	for _, name := range []string{"summary", "description", "message"} {
		if text := cut(a.Annotations[name], maxAlertText); text != "" {
			return text
		}
	}
	return ""
}

// name returns the alert's name in words, and the rule or the host that it is about.
func (a alert) name() string {
	name := cut(cmp.Or(splitWords(a.Labels["alertname"]), "an alert without a name"), maxAlertText)
	if rule := cut(a.Labels["rulename"], maxAlertText); rule != "" {
		return name + ": " + rule
	}
	host := a.Labels["instance"]
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host == "" {
		return name
	}
	return name + " on " + cut(host, maxAlertText)
}

// splitWords separates the words of a name such as HighCPULoad or disk_full.
func splitWords(name string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, strings.TrimSpace(name)))
	var b strings.Builder
	for i, r := range runes {
		next := i+1 < len(runes) && unicode.IsLower(runes[i+1]) // of "CPULoad", the L begins a word
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || unicode.IsUpper(runes[i-1]) && next) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// priorityOf returns the priority of alerts that fire: that of the most severe one.
func priorityOf(firing []alert) string {
	most := usual
	for _, a := range firing {
		switch strings.ToLower(strings.TrimSpace(a.Labels["severity"])) {
		case "critical", "page", "emergency", "fatal":
			return critical
		case "error", "high", "warning":
			most = important
		}
	}
	return most
}

// sentence returns a text with punctuation at its end.
func sentence(text string) string {
	if last, _ := utf8.DecodeLastRuneInString(text); strings.ContainsRune(".!?…", last) {
		return text
	}
	return text + "."
}

// cut trims a text and, if it has more than so many characters, shortens it after a word.
func cut(text string, most int) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	text = string([]rune(text)[:most-1])
	if i := strings.LastIndexFunc(text, unicode.IsSpace); i > 0 {
		text = text[:i]
	}
	return strings.TrimRightFunc(text, unicode.IsSpace) + "…"
}
