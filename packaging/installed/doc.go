// Package installed tests the package on a booted Debian: installation with apt, socket
// activation, restarts under load, kills, upgrades and removal. It needs root, the packages
// that "make test-package" builds, and the build tag "installed".
package installed
