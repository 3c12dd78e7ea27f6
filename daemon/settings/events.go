package settings

import (
	"errors"
	"slices"
	"strings"
)

// Events holds the settings of the events that are posted to other servers.
type Events struct {
	URLs      []string `mapstructure:"EVENTS_URL"`        // empty means none
	TokenFile string   `mapstructure:"EVENTS_TOKEN_FILE"` // "" means none
	Text      bool     `mapstructure:"EVENTS_TEXT"`
}

// maxEventURLs is the largest number of URLs in EVENTS_URL.
const maxEventURLs = 5

func eventSettings() []Setting {
	return []Setting{
		{
			Name: "EVENTS_URL", valueType: webURLs(maxEventURLs), Reload: true, Masked: maskedURLs,
			Description: "where changes of announcements and of listed games are posted as JSON",
			More: "Up to 5 URLs. An event that is not accepted within 5 s is tried again after 1 and 5 s; what waits " +
				"is lost at a restart.",
		},
		{
			Name: "EVENTS_TOKEN_FILE", valueType: path(), Reload: true,
			Description: "file of the token that is sent to EVENTS_URL as a Bearer",
			More: "With several URLs, one line \"URL TOKEN\" for each. " +
				"If unset, the systemd credential events_token.",
		},
		{
			Name: "EVENTS_TEXT", valueType: boolType(), Default: "off", Reload: true,
			Description: "post the texts of announcements in events",
		},
	}
}

// webURLs returns the type of a []string of at most so many URLs.
func webURLs(most int) valueType {
	return valueType{
		name: "URLs", expects: "up to 5 URLs such as http://homeassistant.local:8123/api/webhook/pressbox",
		parse: func(value string) (any, bool) {
			all := splitList(value)
			for _, one := range all {
				if parseURL(one) == nil {
					return nil, false
				}
			}
			return all, len(all) <= most
		},
	}
}

// maskedURLs returns a list of URLs without their paths.
func maskedURLs(text string) string {
	all := splitList(text)
	for i, one := range all {
		all[i] = MaskedURL(one)
	}
	return strings.Join(all, ",")
}

// MaskedURL returns a URL without its path and its query, which may be secret.
func MaskedURL(address string) string {
	u := parseURL(address)
	switch {
	case u == nil:
		return "…"
	case u.Path == "" && u.RawQuery == "":
		return address
	}
	return u.Scheme + "://" + u.Host + "/…"
}

// Tokens returns the tokens of the URLs that have one: the content of EVENTS_TOKEN_FILE, else systemd's credential.
// Without URLs nothing is read.
func (e Events) Tokens() (map[string]string, error) {
	if len(e.URLs) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	text, err := Secret("EVENTS_TOKEN_FILE", e.TokenFile, "events_token")
	if err != nil {
		return nil, err
	}
	tokens := map[string]string{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && slices.Contains(e.URLs, words[0]):
			tokens[words[0]] = words[1]
		case len(words) == 1 && len(e.URLs) == 1:
			tokens[e.URLs[0]] = words[0]
		case len(words) > 0:
			return nil, errors.New("EVENTS_TOKEN_FILE: one token is expected, or lines \"URL TOKEN\" with " +
				"URLs of EVENTS_URL")
		}
	}
	return tokens, nil
}
