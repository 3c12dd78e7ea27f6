// Package imagetest starts the images of "make image" on emulated computers: the first start from
// a blank disk to the spoken sentence, pressbox.txt, power cuts, the wall display and upgrades. It
// needs the build tag "image"; "make test-image" runs it.
//
// One law: an image is started as it is published. A root shell, which reads what has no other
// way out, is a credential of the emulated hardware (systemd.system-credentials(7)).
package imagetest
