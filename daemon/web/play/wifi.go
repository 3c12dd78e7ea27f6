package play

import (
	"net/http"
	"strings"
)

// A WiFi is the network that a wall display offers to guests: WALL_WIFI_SSID and the content of
// WALL_WIFI_PASSPHRASE_FILE.
type WiFi struct {
	SSID       string // "": none
	Passphrase string
}

// Code returns the text of a QR code with which a phone joins the network (WPA3 Specification, section 7,
// "URI format"; backslash escapes as ZXing defined them).
func (w WiFi) Code() string {
	escape := strings.NewReplacer(`\`, `\\`, `;`, `\;`, `,`, `\,`, `:`, `\:`, `"`, `\"`)
	return "WIFI:T:WPA;S:" + escape.Replace(w.SSID) + ";P:" + escape.Replace(w.Passphrase) + ";;"
}

// sendWiFi sends the network, only to a client on this host, such as a display beside the loudspeaker, and to
// an administrator; SECURITY.md lists what others may read.
func (s *displayStream) sendWiFi(r *http.Request) error {
	if s.WiFi.SSID == "" || s.WiFi.Passphrase == "" || !s.OnHost(r) && !s.Administrator(r) {
		return nil
	}
	return s.Send("", "wifi", struct {
		SSID string `json:"ssid"`
		Code string `json:"code"`
	}{s.WiFi.SSID, s.WiFi.Code()})
}
