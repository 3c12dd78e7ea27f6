package league

import (
	"pressbox/game/chance"
	"pressbox/game/teams"
)

// clubs returns the eight clubs by city. Their park factors average 1 and spread as those of real parks: home runs
// by 10 %, the others less (estimate).
func clubs() []teams.Team {
	club := func(id, city, nickname, color, textColor string, park teams.Park) teams.Team {
		return teams.Team{
			ID: id, Abbrev: id, Name: city + " " + nickname, ShortName: nickname, City: city, Color: color,
			TextColor: textColor, Park: park,
		}
	}
	park := func(name string, homeRuns, doubles, singles, strikeouts float64) teams.Park {
		return teams.Park{
			Name: name, Factors: chance.ParkFactors{HR: homeRuns, Double: doubles, Single: singles, K: strikeouts},
		}
	}
	return []teams.Team{
		club("BWH", "Brackwater Harbor", "Lanterns", "#0b3954", "#ffffff",
			park("Quayside Park", .93, 1.03, 1.00, 1.00)),
		club("CPR", "Copper Reach", "Smelters", "#8a3b12", "#ffffff", park("The Crucible", 1.16, 1.08, 1.03, .97)),
		club("DUN", "Dunmarrow", "Larks", "#f4c430", "#000000", park("Meadow Lane", 1.00, .97, 1.01, 1.00)),
		club("FEN", "Fennick Falls", "Otters", "#00695c", "#ffffff", park("Millrace Field", .90, 1.00, 1.00, 1.02)),
		club("HLX", "Halcyon Crossing", "Signals", "#6a1b9a", "#ffffff",
			park("Junction Grounds", 1.05, .98, .99, 1.00)),
		club("OKV", "Oakenvale", "Millers", "#2e7d32", "#ffffff", park("Granary Park", .97, 1.02, 1.01, .99)),
		club("STW", "Saltwick", "Gannets", "#90caf9", "#000000", park("Breakwater Oval", .88, .96, .98, 1.02)),
		club("VRG", "Verdigris City", "Comets", "#b71c1c", "#ffffff", park("Observatory Yard", 1.11, .96, .98, 1.00)),
	}
}

// surnameBeginnings returns the first parts of surnames. A test compares the surnames with the rosters of a real
// season.
func surnameBeginnings() []string {
	return []string{
		"Ashk", "Bram", "Cald", "Dren", "Elv", "Farn", "Grav", "Hask", "Ist", "Jorv", "Kest", "Lorm", "Marn", "Nost",
		"Ob", "Pell", "Quarr", "Rusk", "Selv", "Thorv", "Ulm", "Vask", "Wend", "Yarr", "Zent", "Brix", "Corv", "Fald",
	}
}

func surnameEnds() []string {
	return []string{
		"avic", "anto", "ebeck", "elund", "igast", "imore", "indale", "ometh", "orval", "oska", "uvall", "ardeau",
		"enko", "iquez",
	}
}

func givenNames() []string {
	return []string{
		"Abel", "Amos", "Andre", "Bo", "Caleb", "Carlos", "Cy", "Dario", "Davi", "Desmond", "Eli", "Emil", "Enzo",
		"Felix", "Gus", "Hank", "Hugo", "Ivan", "Jalen", "Jonas", "Jorge", "Kenji", "Lars", "Leo", "Luis", "Malik",
		"Marco", "Mateo", "Milo", "Nate", "Omar", "Otis", "Pablo", "Quinn", "Rafael", "Reid", "Roman", "Sam", "Silas",
		"Theo", "Tomas", "Victor", "Wade", "Walt", "Xavier", "Yuki", "Zeke",
	}
}
