package league

// identity is what a club keeps for ever.
type identity struct {
	id, city, nickname, color, text, park string
	factors                               [4]float64 // home runs, doubles and triples, singles, strikeouts
}

// identities are the eight clubs. The parks' factors average 1, and spread as real parks do: home runs ± 10 %, the rest less
// (estimate).
func identities() []identity {
	return []identity{
		{"BWH", "Brackwater Harbor", "Lanterns", "#0b3954", "#ffffff", "Quayside Park", [4]float64{.93, 1.03, 1.00, 1.00}},
		{"CPR", "Copper Reach", "Smelters", "#8a3b12", "#ffffff", "The Crucible", [4]float64{1.16, 1.08, 1.03, .97}},
		{"DUN", "Dunmarrow", "Larks", "#f4c430", "#000000", "Meadow Lane", [4]float64{1.00, .97, 1.01, 1.00}},
		{"FEN", "Fennick Falls", "Otters", "#00695c", "#ffffff", "Millrace Field", [4]float64{.90, 1.00, 1.00, 1.02}},
		{"HLX", "Halcyon Crossing", "Signals", "#6a1b9a", "#ffffff", "Junction Grounds", [4]float64{1.05, .98, .99, 1.00}},
		{"OKV", "Oakenvale", "Millers", "#2e7d32", "#ffffff", "Granary Park", [4]float64{.97, 1.02, 1.01, .99}},
		{"STW", "Saltwick", "Gannets", "#90caf9", "#000000", "Breakwater Oval", [4]float64{.88, .96, .98, 1.02}},
		{"VRG", "Verdigris City", "Comets", "#b71c1c", "#ffffff", "Observatory Yard", [4]float64{1.11, .96, .98, 1.00}},
	}
}

// Surnames are a beginning and an end of these, checked against the rosters of a real season in league_test.go.
func surnameBeginnings() []string {
	return []string{
		"Ashk", "Bram", "Cald", "Dren", "Elv", "Farn", "Grav", "Hask", "Ist", "Jorv", "Kest", "Lorm", "Marn", "Nost",
		"Ob", "Pell", "Quarr", "Rusk", "Selv", "Thorv", "Ulm", "Vask", "Wend", "Yarr", "Zent", "Brix", "Corv", "Fald",
	}
}

func surnameEnds() []string {
	return []string{
		"avic", "anto", "ebeck", "elund", "igast", "imore", "indale", "ometh", "orval", "oska", "uvall", "ardeau", "enko", "iquez",
	}
}

func givenNames() []string {
	return []string{
		"Abel", "Amos", "Andre", "Bo", "Caleb", "Carlos", "Cy", "Dario", "Davi", "Desmond", "Eli", "Emil", "Enzo", "Felix",
		"Gus", "Hank", "Hugo", "Ivan", "Jalen", "Jonas", "Jorge", "Kenji", "Lars", "Leo", "Luis", "Malik", "Marco", "Mateo",
		"Milo", "Nate", "Omar", "Otis", "Pablo", "Quinn", "Rafael", "Reid", "Roman", "Sam", "Silas", "Theo", "Tomas", "Victor",
		"Wade", "Walt", "Xavier", "Yuki", "Zeke",
	}
}
