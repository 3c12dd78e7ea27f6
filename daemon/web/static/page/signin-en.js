// The words of the server's own sign-in page, in English. The server reads them: it fills that page without a script.

const texts = {
  again: "Sign in again",
  cancel: "Cancel",
  common: "This passphrase is among the most common ones.",
  create: "Create account",
  hint: "At least {n} characters. A short sentence works best.",
  insecure: "Signing in needs https here. Please open the server’s https address.",
  invalid: "A name has 1 to {n} printable characters.",
  invite: "Invite",
  long: "A passphrase has at most {n} characters.",
  lost: "This sign-in is unknown or has ended. Please start again.",
  name: "Name",
  new: "New here?",
  passphrase: "Passphrase",
  short: "A passphrase has at least {n} characters.",
  signin: "Sign in",
  taken: "The name is taken.",
  title: "Not signed in",
  uninvited: "An account needs a valid invite.",
  wait: "Too many attempts: wait {n} s.",
  welcome: "Welcome back",
  wrong: "The name or the passphrase is wrong.",
};

export default texts;

/** @typedef {Record<keyof typeof texts, string>} Signin */
