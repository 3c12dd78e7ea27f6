package boolean_test

import (
	"testing"

	"pressbox/packaging/check"
	"pressbox/voice/control/boolean"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"true": "true", "yes": "true", "on": "true", "1": "true", "ON": "true", " True\n": "true",
		"false": "false", "no": "false", "off": "false", "0": "false", "oFf": "false",
		"": "none", "2": "none", "y": "none", "t": "none", "truee": "none", "o n": "none", "-1": "none", "00": "none",
	} {
		got := "none"
		switch value, ok := boolean.Parse(text); {
		case ok && value:
			got = "true"
		case ok:
			got = "false"
		}
		check.That(t, got == want && boolean.Off(text) == (want == "false"),
			"%q is %s, off: %t; want %s", text, got, boolean.Off(text), want)
	}
}
