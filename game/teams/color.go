package teams

import (
	"math"
	"strconv"
)

// TextColor returns the one of black and white with the higher contrast on a color #rrggbb, at least 4.58 by WCAG
// 2.2; "" if the color has another form.
func TextColor(color string) string {
	if len(color) != 7 || color[0] != '#' {
		return ""
	}
	rgb, err := strconv.ParseUint(color[1:], 16, 24)
	if err != nil {
		return ""
	}
	luminance := .2126*linear(rgb>>16) + .7152*linear(rgb>>8&255) + .0722*linear(rgb&255)
	if (luminance+.05)/.05 > 1.05/(luminance+.05) {
		return "#000000"
	}
	return "#ffffff"
}

// linear returns the linear value of a color channel, 0–255.
func linear(channel uint64) float64 {
	c := float64(channel) / 255
	if c <= .04045 {
		return c / 12.92
	}
	return math.Pow((c+.055)/1.055, 2.4)
}
