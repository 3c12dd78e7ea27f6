// The words of the server's own sign-in page, in German: see signin-en.js.

/** @type {import("./signin-en.js").Signin} */
export default {
  again: "Erneut anmelden",
  cancel: "Abbrechen",
  common: "Diese Passphrase gehört zu den häufigsten.",
  create: "Konto anlegen",
  hint: "Mindestens {n} Zeichen. Am besten ein kurzer Satz.",
  insecure: "Die Anmeldung braucht hier https. Bitte öffne die https-Adresse des Servers.",
  invalid: "Ein Name hat 1 bis {n} druckbare Zeichen.",
  invite: "Einladung",
  long: "Eine Passphrase hat höchstens {n} Zeichen.",
  lost: "Diese Anmeldung ist unbekannt oder schon beendet. Bitte beginne von vorn.",
  name: "Name",
  new: "Neu hier?",
  passphrase: "Passphrase",
  short: "Eine Passphrase hat mindestens {n} Zeichen.",
  signin: "Anmelden",
  taken: "Der Name ist vergeben.",
  title: "Nicht angemeldet",
  uninvited: "Für ein Konto brauchst du eine gültige Einladung.",
  wait: "Zu viele Versuche: Warte {n} s.",
  welcome: "Willkommen zurück",
  wrong: "Name oder Passphrase ist falsch.",
};
