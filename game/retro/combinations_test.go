package retro_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pressbox/game"
	"pressbox/game/retro"
	"pressbox/packaging/check"
)

// Every legal combination of basic event, modifier and advances has a notation that reads back the same.
func TestFormat_combinations(t *testing.T) {
	t.Parallel()
	start := notationState(t, "1t 0 --- 0-0")
	draw := combinations{rand.New(rand.NewPCG(17, 4))}
	legal := 0
	for range 40_000 {
		s := start
		s.Outs = draw.IntN(3)
		for i := range s.Bases {
			if draw.IntN(2) == 0 {
				s.Bases[i].Player = s.Teams[game.Away].Order[8-i].Player
			}
		}
		event := draw.event(&s)
		p, err := retro.Parse(&s, event)
		check.That(t, err == nil || strings.HasSuffix(err.Error(), "more than 4 errors"), "%s: %v", event, err)
		if err != nil {
			continue
		}
		if _, err := s.Apply(p); err != nil {
			continue
		}
		legal++
		text, err := retro.Format(&s, p)
		if err != nil {
			t.Errorf("%s: %v", event, err)
			continue
		}
		again, err := retro.Parse(&s, text)
		again.OtherModifiers, p.OtherModifiers = "", "" // their order may differ
		check.That(t, err == nil && again == p,
			"%s is written %s, which is %+v, %v; want %+v", event, text, again, err, p)
	}
	check.That(t, legal >= 8_000, "only %d of 40,000 are legal", legal)
}

// combinations draws events.
type combinations struct{ *rand.Rand }

func (c combinations) pick(of string) string {
	words := strings.Fields(of)
	return strings.ReplaceAll(words[c.IntN(len(words))], "_", "")
}

// event draws a basic event, a modifier, and advances of the runners whom the basic event does not name.
func (c combinations) event(s *game.State) string {
	steal := func() string {
		return c.pick(
			"SB2 SB3 SBH SB3;SB2 SBH;SB2 SBH(UR) CS2(24) CS2(2E4) CS2(E2) CS3(25) CSH(25E3) CSH(12) CS2(2H) " +
				"PO1(13) PO1(E3) PO2(E1/TH) PO3(25) POCS2(134) POCS2(13E6) POCSH(1E2)")
	}
	basic := c.pick("S7 D8 DGR T9 HR HR9 W IW HP C/E2 C/E1 E6 E6/TH 6E3 63 8 7/SF 64(1) 64(1)3/GDP 5(2)3/GDP " +
		"42(3)3/GDP 6(B)63(1)/LDP " +
		"8(B)84(2)/DP 54(1)3/GTP 3(B)36(1)/GDP 64(1)E3 3(1) FC6 FC3 K K23 K+WP K+PB K+E2 WP PB BK OA DI FLE5 " +
		"13/SH E1/SH K+ W+ steal steal")
	switch {
	case basic == "steal":
		basic = steal()
	case strings.HasSuffix(basic, "+"):
		basic += steal()
	}
	text := basic + c.pick("_ _ _ /G6 /F8 /L7+ /BG1 /AP /RINT /FL /R6/U3")
	var advances []string
	for from := game.Third; ; from-- {
		name := string("B123"[from])
		if text := c.advance(basic, name); c.IntN(2) == 0 && text != "" &&
			(from == game.AtBat || s.RunnerOn(from).Player != "") {
			advances = append(advances, text)
		}
		if from == game.AtBat {
			break
		}
	}
	if len(advances) == 0 {
		return text
	}
	return text + "." + strings.Join(advances, ";")
}

// advance draws an advance from a base, "" if the basic event already has one.
func (c combinations) advance(basic, from string) string {
	attempted := strings.Contains(basic, "SB") || strings.Contains(basic, "CS") || strings.Contains(basic, "PO")
	if strings.Contains(basic, "("+from+")") || from == "B" && strings.ContainsAny(basic, "HK3") ||
		attempted && c.IntN(2) == 0 {
		return ""
	}
	to := c.pick("1 2 3 H")
	switch {
	case to == from || attempted:
		return from + "-" + to
	case c.IntN(3) == 0:
		return from + "X" + to +
			c.pick("_ (62) (84) (7X) (E5)(52) (9E2) (TH)(82) (72)(TH) (52/AP) (E5/TH) (7E2)(25) (99) (WP)(26)")
	default:
		return from + "-" + to +
			c.pick(
				"_ _ _ (UR) (NR) (RBI) (E6) (E9/TH) (TH) (6E2) (WP) (PB) (TUR)(NR) (TH)(E2/TH) (E7)(UR)(NR) "+
					"(9E2/TH)(UR)")
	}
}
