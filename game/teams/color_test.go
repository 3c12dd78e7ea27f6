package teams

import (
	"testing"

	"pressbox/packaging/check"
)

func TestTextColor(t *testing.T) {
	t.Parallel()
	for color, want := range map[string]string{
		"#a6ce39": "#000000", "#00205b": "#ffffff", "#FFFFFF": "#000000", "#000000": "#ffffff", "#767676": "#000000",
		"#757575": "#ffffff",
		"red":     "", "+12345": "", "#+12345": "", "#a6ce3": "", "a6ce39": "", "": "",
	} {
		check.Equal(t, TextColor(color), want, "%q", color)
	}
}
