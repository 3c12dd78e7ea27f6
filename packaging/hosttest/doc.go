// Package hosttest has what the tests of the package on a booted Debian and those of the images share: requests to the
// server of a host, a game there, and a signed repository from which its apt upgrades. It needs the build tag
// "installed" or "image".
package hosttest
