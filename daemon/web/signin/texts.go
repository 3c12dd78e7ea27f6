package signin

import (
	"fmt"

	"pressbox/auth"
)

// texts are the texts of the sign-in pages in a language, by the English text.
// The zero value is English.
type texts map[string]string

// of returns a text in the language, in English if it has none.
func (t texts) of(english string) string {
	if text, ok := t[english]; ok {
		return text
	}
	return english
}

// tooManyAttempts is the text of an [auth.ThrottledError], with the seconds to wait.
const tooManyAttempts = "too many attempts: wait %d s"

// translations are the texts by language. Their keys are all visible texts of
// signin.html and the errors that it shows.
var translations = map[string]texts{ //nolint:gochecknoglobals // never changed
	"de": {
		"Sign in":        "Anmelden",
		"Sign in again":  "Erneut anmelden",
		"Not signed in":  "Nicht angemeldet",
		"Create account": "Konto anlegen",
		"Cancel":         "Abbrechen",
		"Welcome back":   "Willkommen zurück",
		"New here?":      "Neu hier?",
		"Name":           "Name",
		"Passphrase":     "Passphrase",
		"Invite":         "Einladung",
		"At least 8 characters. A short sentence works best.": "Mindestens 8 Zeichen. Am besten ein kurzer Satz.",

		auth.ErrWrongCredentials.Error(): "Name oder Passphrase ist falsch.",
		auth.ErrInvalidName.Error(): fmt.Sprintf("Ein Name hat 1 bis %d druckbare Zeichen.",
			auth.MaxNameLength),
		auth.ErrPassphraseTooShort.Error(): fmt.Sprintf("Eine Passphrase hat mindestens %d Zeichen.",
			auth.MinPassphraseLength),
		auth.ErrPassphraseTooLong.Error(): fmt.Sprintf("Eine Passphrase hat höchstens %d Zeichen.",
			auth.MaxPassphraseLength),
		auth.ErrPassphraseTooCommon.Error(): "Diese Passphrase gehört zu den häufigsten.",
		auth.ErrNameTaken.Error():           "Der Name ist vergeben.",
		auth.ErrNotInvited.Error():          "Für ein Konto brauchst du eine gültige Einladung.",
		tooManyAttempts:                     "Zu viele Versuche: Warte %d s.",
		auth.CodeInvalidState.Description(): "Diese Anmeldung ist unbekannt oder schon beendet. " +
			"Bitte beginne von vorn.",
		auth.CodeInsecureTransport.Description(): "Die Anmeldung braucht hier https. " +
			"Bitte öffne die https-Adresse des Servers.",
	},
}
