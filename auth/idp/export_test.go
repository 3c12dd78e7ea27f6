package idp

// Challenge is the S256 challenge of a verifier.
func Challenge(verifier string) string { return challenge(verifier) }
