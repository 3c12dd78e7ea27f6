package settings

import (
	"net/url"
	"strings"
)

// MQTT holds the settings of the MQTT client.
type MQTT struct {
	URL          string `mapstructure:"MQTT_URL"`           // "" means no MQTT
	Username     string `mapstructure:"MQTT_USERNAME"`      // "" means none
	PasswordFile string `mapstructure:"MQTT_PASSWORD_FILE"` // "" means none
	CAFile       string `mapstructure:"MQTT_CA_FILE"`       // "" means the host's authorities
	Topic        string `mapstructure:"MQTT_TOPIC"`
	Discovery    string `mapstructure:"MQTT_DISCOVERY"` // "off" means none
	Text         bool   `mapstructure:"MQTT_TEXT"`
}

// Password returns the password of the broker: the content of MQTT_PASSWORD_FILE, else
// systemd's credential; "" if there is none.
func (m MQTT) Password() (string, error) {
	return Secret("MQTT_PASSWORD_FILE", m.PasswordFile, "mqtt_password")
}

func mqttSettings() []Setting {
	return []Setting{
		{
			Name: "MQTT_URL", valueType: brokerURL(),
			Description: "MQTT 5 broker, such as mqtt://homeassistant.local or mqtts://broker.example:8883",
			More: "Clients that the broker permits to publish may announce and change the volume. " +
				"If unset, MQTT is off.",
		},
		{Name: "MQTT_USERNAME", valueType: text(), Description: "user name for the MQTT broker"},
		{
			Name: "MQTT_PASSWORD_FILE", valueType: path(),
			Description: "file of the password for the MQTT broker",
			More:        "If unset, the systemd credential mqtt_password. It is read again for each connection.",
		},
		{
			Name: "MQTT_CA_FILE", valueType: path(),
			Description: "PEM file of the certificate authorities that may sign the certificate of an mqtts broker",
			More:        "If unset, those of the host.",
		},
		{
			Name: "MQTT_TOPIC", valueType: topic(), Default: "pressbox",
			Description: "MQTT topic below which all topics of the server are",
		},
		{
			Name: "MQTT_DISCOVERY", valueType: orOff(topic(), "off"), Default: "homeassistant",
			Description: "discovery prefix of Home Assistant",
			More:        "off: Home Assistant does not find the server by itself.",
		},
		{
			Name: "MQTT_TEXT", valueType: boolType(), Default: "off",
			Description: "publish the texts of announcements in MQTT events",
		},
	}
}

// brokerURL returns the type of the address of an MQTT broker, or "".
func brokerURL() valueType {
	return valueType{
		name: "URL", expects: "mqtt://HOST or mqtts://HOST, with an optional :PORT",
		parse: func(value string) (any, bool) {
			if value == "" {
				return "", true
			}
			u, err := url.Parse(value)
			ok := err == nil && (u.Scheme == "mqtt" || u.Scheme == "mqtts") && u.Hostname() != "" && u.User == nil &&
				strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
			return value, ok
		},
	}
}

// topic returns the type of an MQTT topic without wildcards.
func topic() valueType {
	const longest = 100
	return valueType{
		name: "topic", expects: "an MQTT topic such as home/pressbox, without + and #",
		parse: func(value string) (any, bool) {
			ok := value != "" && len(value) <= longest && !strings.ContainsAny(value, "+#$\x00")
			return value, ok && strings.Trim(value, "/") == value
		},
	}
}
