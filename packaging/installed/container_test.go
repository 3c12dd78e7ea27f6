//go:build installed

package installed

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressbox/audio/pulse/pulsetest"
	"pressbox/packaging/check"
)

// podman returns a command of podman's, with images and containers of the test's own, that works without a systemd.
func podman(dir string, args ...string) *exec.Cmd {
	own := []string{
		"--root", filepath.Join(dir, "storage"), "--runroot", filepath.Join(dir, "run"), "--storage-driver", "vfs",
		"--cgroup-manager", "cgroupfs", "--runtime", "/usr/sbin/runc", "--events-backend", "file",
	}
	return exec.Command("podman", append(own, args...)...)
}

// A container is a service of the image, on the host's network.
type container struct {
	t         *testing.T
	dir, name string
	port      int
}

// loadImage returns a container of the image of the local architecture that does not run yet.
func loadImage(t *testing.T) *container {
	t.Helper()
	c := &container{t, t.TempDir(), "pressbox-test-" + strconv.Itoa(os.Getpid()), pulsetest.FreePort(t)}
	c.podman("load", "-q", "-i", "../../dist/pressbox-"+version(t)+"-"+nativeArch(t)+".oci.tar")
	t.Cleanup(func() { _ = podman(c.dir, "rm", "-f", "-v", c.name).Run() })
	return c
}

// podman runs a command and returns what it prints.
func (c *container) podman(args ...string) string {
	c.t.Helper()
	out, err := podman(c.dir, args...).CombinedOutput()
	check.Require(c.t, err == nil, "podman %s: %v\n%s", args, err, out)
	return strings.TrimSpace(string(out))
}

// run runs the image with options and the arguments of Pressbox.
func (c *container) run(options []string, args ...string) string {
	c.t.Helper()
	all := []string{"run", "--network", "host", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"}
	return c.podman(append(append(append(all, options...), "localhost/pressbox:"+version(c.t)), args...)...)
}

// request sends a request, with a token unless it is empty, and returns the status and the body.
func (c *container) request(method, path, token, body string) (status int, text string) {
	c.t.Helper()
	url := "http://127.0.0.1:" + strconv.Itoa(c.port) + path
	args := []string{"-s", "--retry", "50", "--retry-connrefused", "--retry-delay", "1", "-X", method, "-d", body}
	if token != "" {
		args = append(args, "-H", "Authorization: Bearer "+token)
	}
	out, err := exec.Command("curl", append(args, "-w", "\n%{http_code}", url)...).Output()
	check.NoError(c.t, err)
	i := strings.LastIndexByte(string(out), '\n')
	return check.Must(strconv.Atoi(string(out[i+1:])))(c.t), string(out[:i])
}

// The image runs as any user, and is small.
func TestContainer_runs(t *testing.T) {
	c := loadImage(t)
	for _, user := range []string{"64646:64646", "0:0", "1234:5678"} {
		said := c.run([]string{"--rm", "--user", user}, "version")
		check.Contains(t, said, "pressbox "+version(t), "%s", user)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		info := check.Must(os.Stat("../../dist/pressbox-" + version(t) + "-" + arch + ".oci.tar"))(t)
		check.That(t, info.Size() <= 150e6, "the image for %s has %d bytes, want at most 150 MB", arch, info.Size())
	}
}

// A container speaks on the host's sound server, ends in order, and its volume has what it knew.
func TestContainer_speaks(t *testing.T) {
	c, sound := loadImage(t), pulsetest.Start(t, pulsetest.Config{})
	sockets := filepath.Dir(strings.TrimPrefix(sound.Address, "unix:"))
	check.NoError(t, os.Chmod(sockets, 0o755))
	volume := filepath.Join(c.dir, "volume")
	check.NoError(t, os.Mkdir(volume, 0o777))
	check.NoError(t, os.Chmod(volume, 0o777))
	options := []string{
		"-d", "--name", c.name, "-v", sockets + ":/run/pulse", "-v", volume + ":/var/lib/pressbox",
		"-e", "PULSE_SERVER=unix:/run/pulse/native", "-e", "PORT=" + strconv.Itoa(c.port),
		"-e", "NOTIFY_RATE_LOOPBACK=on",
	}
	c.run(options)
	status, text := c.request(http.MethodPost, "/notify", "", "Hello.")
	check.That(t, status == 401, "without a token: %d %s", status, text)
	token := strings.Fields(c.podman("exec", c.name, "pressbox", "tokens", "create", "doorbell"))[0]
	recording := sound.Record()
	status, text = c.request(http.MethodPost, "/notify", token, "The container can be heard.")
	check.That(t, status == 202, "with a token: %d %s", status, text)
	c.podman("exec", c.name, "pressbox", "say", "--wait", "It can.")
	loud := 0
	for _, s := range recording.Stop() {
		if s > 0.05 || s < -0.05 {
			loud++
		}
	}
	check.That(t, loud > sound.Rate()/4, "%d samples are loud", loud)
	check.Contains(t, c.podman("exec", c.name, "pressbox", "status"), "sound", "its status")

	begun := time.Now()
	c.podman("stop", "-t", "20", c.name)
	check.That(t, time.Since(begun) < 15*time.Second, "it took %v to stop", time.Since(begun))
	var ended []struct{ State struct{ ExitCode int } }
	check.NoError(t, json.Unmarshal([]byte(c.podman("inspect", c.name)), &ended))
	check.Equal(t, ended[0].State.ExitCode, 0, "the exit code")
	c.podman("rm", c.name)
	c.run(options)
	_, text = c.request(http.MethodGet, "/notify", token, "")
	check.Contains(t, text, "The container can be heard.", "what was announced before")
}
