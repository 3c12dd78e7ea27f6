// Package homeassistant tries the server with a real Home Assistant, in its tests: "make test-homeassistant" makes a
// tree with one, and names it in PRESSBOX_HOMEASSISTANT.
package homeassistant
