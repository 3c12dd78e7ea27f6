package static_test

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pressbox/packaging/check"
)

var update = flag.Bool("update", false, "write the generated files")

// The icons are generated from [ball]; with -update they are written. PNG files are compared
// by their pixels, as encoders differ.
func TestGenerated_icons(t *testing.T) {
	t.Parallel()
	compare := func(name string, want []byte, same func(got []byte) bool) {
		name = filepath.Join("icons", name)
		if *update {
			check.NoError(t, os.WriteFile(name, want, 0o644))
		} else if got, err := os.ReadFile(name); err != nil || !same(got) {
			t.Errorf("%s is not current (%v): run \"make generate\"", name, err)
		}
	}
	vector := []byte(svg(ball()))
	compare("icon.svg", vector, func(got []byte) bool { return bytes.Equal(got, vector) })
	for _, size := range []int{192, 512} {
		for name, scene := range map[string]drawing{"icon": ball(), "maskable": maskable(ball())} {
			picture := scene.raster(size)
			var b bytes.Buffer
			check.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, picture))
			same := func(got []byte) bool { return samePixels(got, picture) }
			compare(fmt.Sprintf("%s-%d.png", name, size), b.Bytes(), same)
		}
	}
}

// samePixels reports whether a PNG file is a picture, up to rounding.
func samePixels(file []byte, want *image.NRGBA) bool {
	got, err := png.Decode(bytes.NewReader(file))
	if err != nil || got.Bounds() != want.Bounds() {
		return false
	}
	const most = 2 << 8 // of 16 bits
	for y := range want.Rect.Dy() {
		for x := range want.Rect.Dx() {
			r, g, b, a := got.At(x, y).RGBA()
			wr, wg, wb, wa := want.At(x, y).RGBA()
			for _, d := range []int{int(r) - int(wr), int(g) - int(wg), int(b) - int(wb), int(a) - int(wa)} {
				if d > most || d < -most {
					return false
				}
			}
		}
	}
	return true
}

// side is the width and height of a drawing.
const side = 32.0

type point struct{ x, y float64 }

// A shape is a filled disc or a stroked line, in units of a drawing.
type shape struct {
	line  []point // a polyline with round ends; nil: a disc
	curve string  // the line as an SVG path; "": its points
	disc  point
	size  float64 // the disc's radius or the line's width
	paint color.NRGBA
}

// A drawing is painted shape by shape.
type drawing []shape

// ball returns a baseball.
func ball() drawing {
	navy, cream, red := color.NRGBA{0x14, 0x27, 0x3a, 255}, color.NRGBA{0xff, 0xfa, 0xf0, 255},
		color.NRGBA{0xb3, 0x20, 0x2a, 255}
	d := drawing{{disc: point{16, 16}, size: 16, paint: navy}, {disc: point{16, 16}, size: 14, paint: cream}}
	for _, mirrored := range []bool{false, true} {
		at := func(x, y float64) point {
			if mirrored {
				x = side - x
			}
			return point{x, y}
		}
		seam := bezier(at(6.5, 5.5), at(12, 11), at(12, 21), at(6.5, 26.5))
		seam.paint, seam.size = red, 1.6
		d = append(d, seam)
		for _, stitch := range [][4]float64{
			{8, 9, 11.5, 7.8}, {9.8, 13.2, 13.2, 12.8}, {9.8, 18.8, 13.2, 19.2}, {8, 23, 11.5, 24.2},
		} {
			ends := []point{at(stitch[0], stitch[1]), at(stitch[2], stitch[3])}
			d = append(d, shape{line: ends, size: 1.6, paint: red})
		}
	}
	return d
}

// bezier returns a cubic Bézier curve.
func bezier(a, b, c, d point) shape {
	const steps = 64
	s := shape{curve: fmt.Sprintf("M%g %gC%g %g %g %g %g %g", a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y)}
	for i := range steps + 1 {
		t := float64(i) / steps
		u := 1 - t
		mix := func(a, b, c, d float64) float64 { return u*u*u*a + 3*u*u*t*b + 3*u*t*t*c + t*t*t*d }
		s.line = append(s.line, point{mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y)})
	}
	return s
}

// maskable returns a drawing on a ground without edges, within the circle of 80 % that
// every mask shows (W3C Web Application Manifest, "Icon masks and safe zone").
func maskable(d drawing) drawing {
	const scale = 0.76
	ground := shape{disc: point{side / 2, side / 2}, size: side, paint: color.NRGBA{0x1d, 0x3d, 0x2c, 255}}
	m := drawing{ground}
	move := func(p point) point { return point{side/2 + (p.x-side/2)*scale, side/2 + (p.y-side/2)*scale} }
	for _, s := range d {
		s.disc, s.size = move(s.disc), s.size*scale
		var line []point
		for _, p := range s.line {
			line = append(line, move(p))
		}
		s.line = line
		m = append(m, s)
	}
	return m
}

// svg returns a drawing as an SVG file.
func svg(d drawing) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %[1]g\">\n", side)
	for _, s := range d {
		paint := fmt.Sprintf("#%02x%02x%02x", s.paint.R, s.paint.G, s.paint.B)
		switch {
		case s.line == nil:
			fmt.Fprintf(&b, "<circle cx=\"%g\" cy=\"%g\" r=\"%g\" fill=\"%s\"/>\n", s.disc.x, s.disc.y, s.size, paint)
			continue
		case s.curve == "":
			s.curve = fmt.Sprintf("M%g %gL%g %g", s.line[0].x, s.line[0].y, s.line[1].x, s.line[1].y)
		}
		const path = "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linecap=\"round\"/>\n"
		fmt.Fprintf(&b, path, s.curve, paint, s.size)
	}
	return b.String() + "</svg>\n"
}

// raster returns a drawing as a picture of size × size pixels, with smooth edges.
func (d drawing) raster(size int) *image.NRGBA {
	picture := image.NewNRGBA(image.Rect(0, 0, size, size))
	unit := side / float64(size)
	for y := range size {
		for x := range size {
			p := point{(float64(x) + 0.5) * unit, (float64(y) + 0.5) * unit}
			picture.SetNRGBA(x, y, d.at(p, unit))
		}
	}
	return picture
}

// at returns the color of a pixel with its center at p.
func (d drawing) at(p point, pixel float64) color.NRGBA {
	var c color.NRGBA
	for _, s := range d {
		cover := min(max(0.5-s.distance(p)/pixel, 0), 1)
		alpha := cover + float64(c.A)/255*(1-cover)
		if alpha == 0 {
			continue
		}
		mix := func(over, under uint8) uint8 {
			return uint8(math.Round((float64(over)*cover + float64(under)*float64(c.A)/255*(1-cover)) / alpha))
		}
		c = color.NRGBA{mix(s.paint.R, c.R), mix(s.paint.G, c.G), mix(s.paint.B, c.B), uint8(math.Round(alpha * 255))}
	}
	return c
}

// distance returns how far p is outside of a shape; negative inside.
func (s shape) distance(p point) float64 {
	if s.line == nil {
		return math.Hypot(p.x-s.disc.x, p.y-s.disc.y) - s.size
	}
	nearest := math.Inf(1)
	for i, a := range s.line[:len(s.line)-1] {
		b := s.line[i+1]
		dx, dy := b.x-a.x, b.y-a.y
		t := min(max(((p.x-a.x)*dx+(p.y-a.y)*dy)/(dx*dx+dy*dy), 0), 1)
		nearest = min(nearest, math.Hypot(p.x-a.x-t*dx, p.y-a.y-t*dy))
	}
	return nearest - s.size/2
}
