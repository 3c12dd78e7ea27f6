package pagetest_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"pressbox/packaging/check"
)

// stereo writes a WAV file of two channels at 44.1 kHz with a second of a tone, and returns its path.
func stereo(t *testing.T) string {
	t.Helper()
	const rate, size = 44100, 4 * 44100
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, 36+size)
	b = append(b, "WAVEfmt "...)
	for _, word := range []uint32{16, 1 | 2<<16, rate, 4 * rate, 4 | 16<<16} {
		b = binary.LittleEndian.AppendUint32(b, word)
	}
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, size)
	for i := range rate {
		sample := uint16(int16(8000 * math.Sin(2*math.Pi*440*float64(i)/rate)))
		b = binary.LittleEndian.AppendUint16(b, sample)
		b = binary.LittleEndian.AppendUint16(b, sample)
	}
	path := filepath.Join(t.TempDir(), "tone.wav")
	check.NoError(t, os.WriteFile(path, b, 0o600))
	return path
}

// microphone is a microphone of a browser that has none.
const microphone = `navigator.mediaDevices.getUserMedia = async () => {
	const audio = new AudioContext(), to = audio.createMediaStreamDestination(), tone = audio.createOscillator();
	tone.connect(to);
	tone.start();
	return to.stream;
};`

// A recording of the microphone, and a file in any format that the browser reads, are announced with the other fields
// of the form; they can be heard and removed before. What a recording cannot have is neither shown nor sent.
func TestAnnouncements_recording(t *testing.T) {
	b := begin(t)
	b.preload(microphone)
	b.openAnnouncements()
	b.press("#record")
	b.says("#record", "Stop recording")
	b.await(`new Promise((done) => setTimeout(() => done(true), 500))`)
	b.press("#record")
	b.shows("#recording")
	b.pressNamed("Remove")
	b.shows("#record")

	b.press("#more summary")
	b.shows("#more[open] [name=room]")
	b.set("#repeat", "own")
	b.press("[name=room]")
	const withoutRecording = `["#sound", "#repeat", "#field-every", "#more [name=room]", "[name=when][value=weekly]"]`
	b.await(withoutRecording + `.every((field) => $(field))`)
	b.do(chromedp.SetUploadFiles("#recorded", []string{stereo(t)}))
	b.says("#recording", "Recording, 1 s")
	b.says("#more", "in this room only")
	b.await(withoutRecording + `.every((field) => !$(field))`)
	b.press("#urgent")
	b.press("main form .primary")
	b.await(`!$("#recording") && !$("#urgent").checked`)
	b.await(`json("/api/notify").then(({ queue, recent }) => [...queue, ...recent].some((a) =>
		a.sound === "recording" && a.urgent && a.seconds > 0.9 && a.seconds < 1.1))`)

	text := filepath.Join(t.TempDir(), "not.wav")
	check.NoError(t, os.WriteFile(text, []byte("No sound."), 0o600))
	b.do(chromedp.SetUploadFiles("#recorded", []string{text}))
	b.says("main .alert", "cannot read")
}

// Sounds are added, played and removed; one that is named stays, and the page says why.
func TestAdmin_sounds(t *testing.T) {
	b := newAdministration(t)
	b.openPart("sounds", "#sounds li")
	b.do(chromedp.SendKeys("#sound-name", "gong"),
		chromedp.SetUploadFiles("#sound-file", []string{stereo(t)}))
	b.pressNamed("Add a sound")
	b.says("main [role=status]", "gong was added")
	b.says("#sounds", "gong · 1 s")
	b.looks("admin-sounds")
	check.Contains(t, b.confirm(`[aria-label="Remove: gong"]`, true), "gong", "the question")
	b.await(`!$("#sounds").innerText.includes("gong ·")`)
}
