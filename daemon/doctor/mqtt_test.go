package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/daemon/settings"
	"pressbox/packaging/check"
)

func TestMQTTFindings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "password")
	check.NoError(t, os.WriteFile(file, []byte("secret\n"), 0o600))
	for _, tt := range []struct {
		mqtt   settings.MQTT
		result string
		detail string
	}{
		{settings.MQTT{}, OK, "off"},
		{settings.MQTT{URL: "mqtt://broker"}, OK, "connects to mqtt://broker"},
		{settings.MQTT{URL: "mqtt://broker", PasswordFile: file, CAFile: file}, OK, "connects"},
		{settings.MQTT{URL: "mqtt://broker", PasswordFile: file + "s"}, Failure, "MQTT_PASSWORD_FILE"},
		{settings.MQTT{URL: "mqtts://broker", CAFile: file + "s"}, Failure, "no such file"},
	} {
		f := mqttFindings(settings.Config{MQTT: tt.mqtt})[0]
		if f.Result != tt.result || !strings.Contains(f.Detail, tt.detail) || strings.Contains(f.Detail, "secret") {
			t.Errorf("%+v: %+v, want %s with %q", tt.mqtt, f, tt.result, tt.detail)
		}
	}
}
