//go:build image

package imagetest

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"testing"

	"pressbox/packaging/check"
)

// A PC with a display, on which the image was just written, shows a game on it without a command; it
// would do so with one that is connected later.
func TestPC_wallDisplay(t *testing.T) {
	h := switchOn(t, "wall", computer{arch: "amd64", disk: newDisk(t, imageOf("amd64")), display: true})
	h.answers()
	h.beginGame()
	var last colors
	h.until("the display shows the scoreboard", func() bool {
		last = look(t, h.screen("scoreboard"))
		return last.scoreboard()
	})
	t.Logf("look at %s: %+v", h.file("scoreboard.png"), last)
	h.greeted()
	h.still("greeting")
	t.Logf("memory:\n%s", h.root.do("free --mega; ps -eo rss,args --sort=-rss --width 60 | head -n 8"))
	user := h.root.do("ps -o user= -C chromium | sort -u")
	check.That(t, user == "pressbox-kiosk" || user == "pressbo+", "Chromium runs as %q", user)
	h.until("the greeting is noted as spoken", func() bool { return h.root.do("ls /var/lib/pressbox-hello") == "said" })
	h.root.do("pressbox setup-kiosk --undo && systemctl enable pressbox-kiosk-setup && " +
		"udevadm trigger --action=change --subsystem-match=drm")
	h.until("the display is set up again",
		func() bool { return h.root.do("systemctl is-active pressbox-kiosk || true") == "active" })
	h.powerOff()
}

// still writes what the display shows to a PNG file, once two pictures in a row are the same: an
// emulated processor draws a frame in parts, which a picture may catch.
func (h *host) still(ending string) {
	h.Helper()
	var last []byte
	h.until("the display stands still", func() bool {
		before := last
		last = check.Must(os.ReadFile(h.screen(ending)))(h.T)
		return bytes.Equal(last, before)
	})
}

// beginGame signs up an account, which begins a game against itself.
func (h *host) beginGame() {
	h.Helper()
	client := &http.Client{Jar: check.Must(cookiejar.New(nil))(h.T)}
	page := check.Must(client.Get(h.url() + "/api/auth/idp/login"))(h.T)
	page.Body.Close()
	signedIn := check.Must(client.PostForm(page.Request.URL.String(),
		url.Values{"form": {"create"}, "name": {"Anna"}, "passphrase": {"a dog in a boat"}}))(h.T)
	signedIn.Body.Close()
	var teams struct{ Teams []struct{ ID string } }
	h.call(client, http.MethodGet, "/api/teams", nil, &teams)
	var game struct{ ID, Status string }
	h.call(client, http.MethodPost, "/api/games", map[string]any{
		"home_team": teams.Teams[0].ID, "away_team": teams.Teams[1].ID,
		"options": map[string]any{"opponent": "hotseat"},
	}, &game)
	for _, side := range []string{"home", "away"} {
		var lineup json.RawMessage
		h.call(client, http.MethodPost, "/api/games/"+game.ID+"/lineups/"+side+"/suggest", struct{}{}, &lineup)
		h.call(client, http.MethodPut, "/api/games/"+game.ID+"/lineups/"+side, lineup, &game)
	}
	if game.Status != "active" {
		h.Fatalf("with both line-ups the game is %s", game.Status)
	}
}

// colors holds what a screen has of the wall display's style (daemon/web/static/page/css).
type colors struct {
	board, side, header, text float64 // shares of all pixels
	line                      bool    // between the two clubs
}

// scoreboard reports whether they are those of the wall display with a game.
func (c colors) scoreboard() bool {
	return c.board > 0.25 && c.side > 0.05 && c.header > 0.02 && c.text > 0.002 && c.line
}

// look returns what a picture has. By day and by night the board has another green.
func look(t *testing.T, file string) (c colors) {
	t.Helper()
	f := check.Must(os.Open(file))(t)
	defer f.Close()
	picture := check.Must(png.Decode(f))(t)
	size := picture.Bounds().Size()
	all := float64(size.X * size.Y)
	for y := range size.Y {
		soft := 0
		for x := range size.X {
			switch at := picture.At(x, y); {
			case near(at, 0x1e, 0x4a, 0x37), near(at, 0x10, 0x36, 0x2a):
				c.board += 1 / all
			case near(at, 0xfb, 0xf6, 0xe9):
				c.side += 1 / all
			case near(at, 0x14, 0x27, 0x3a):
				c.header += 1 / all
			case near(at, 0xff, 0xd3, 0x5c):
				c.text += 1 / all
			case near(at, 0xc9, 0xd8, 0xc6):
				soft++
			}
		}
		c.line = c.line || soft > size.X/2 && y > size.Y/5 && y < size.Y*3/5
	}
	return c
}

// near reports whether a color is about as given.
func near(c color.Color, r, g, b uint8) bool {
	const most = 6
	got := color.RGBAModel.Convert(c).(color.RGBA)
	distance := func(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
	return distance(got.R, r) < most && distance(got.G, g) < most && distance(got.B, b) < most
}

// A screen of the wall display is recognized; a black one and one without a game are not.
func TestLook_sides(t *testing.T) {
	c := look(t, "../../doc/wall.png")
	check.That(t, c.scoreboard(), "the picture of the documents is not recognized: %+v", c)
	black := t.TempDir() + "/black.png"
	f := check.Must(os.Create(black))(t)
	check.NoError(t, png.Encode(f, image.NewRGBA(image.Rect(0, 0, 1280, 720))))
	check.NoError(t, f.Close())
	c = look(t, black)
	check.That(t, !c.scoreboard(), "black is recognized: %+v", c)
}
