//go:build image

package imagetest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressbox/packaging/check"
)

// Time limits. They end what hangs: an emulated processor is fifty times slower than a real one.
const (
	bootTime    = 30 * time.Minute // until the server answers, or a sentence was spoken
	commandTime = 10 * time.Minute
)

// results is the folder of what a person looks at or listens to after a run.
const results = "../../../.build/test-image"

// A computer is the hardware that is emulated.
type computer struct {
	arch    string // amd64 or arm64
	disk    string // path of its disk, which it writes
	uefi    bool   // instead of a BIOS; amd64 only
	display bool   // 1280×720, and 2 GB of memory instead of 1
	counted bool   // one processor, to which each instruction takes a nanosecond, instead of two
}

// A host is a computer that is switched on.
type host struct {
	*testing.T
	computer
	name  string    // of its files in results
	began time.Time // when it was switched on
	cmd   *exec.Cmd
	ended chan struct{} // closed when it is off
	dir   string        // its sockets
	port  int           // the local port that leads to port 8888 of the host
	sound *recording
	root  *shell
}

// switchOn starts a computer, whose recording, console and screen are written to results under a
// name. It is off when the test has ended.
func switchOn(t *testing.T, name string, c computer) *host {
	t.Helper()
	check.NoError(t, os.MkdirAll(results, 0o755))
	h := &host{T: t, computer: c, name: name, ended: make(chan struct{}), dir: t.TempDir(), port: freePort(t)}
	for _, old := range check.Must(filepath.Glob(h.file("*")))(t) {
		check.NoError(t, os.Remove(old))
	}
	unlock := lockEmulator(t)
	log := check.Must(os.Create(h.file("qemu.txt")))(t)
	line := h.qemu()
	h.cmd = exec.Command(line[0], line[1:]...)
	h.cmd.Stdout, h.cmd.Stderr = log, log
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // where a limit of "go test" ends the tests
	h.began = time.Now()
	check.NoError(t, h.cmd.Start())
	go func() {
		defer close(h.ended)
		defer unlock()
		_ = h.cmd.Wait() // the exit status depends on how it was stopped
		_ = log.Close()
	}()
	t.Cleanup(func() { h.close() })
	h.sound = record(h.file("wav"), h.began, h.ended)
	h.root = openShell(h)
	t.Logf("%s is switched on; its files: %s", name, h.file("*"))
	return h
}

// file returns the path of a result with an ending.
func (h *host) file(ending string) string {
	path := check.Must(filepath.Abs(filepath.Join(results, h.name+"."+ending)))(h.T)
	return path
}

// freePort returns a local port that is free.
func freePort(t *testing.T) int {
	t.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// lockEmulator waits until no other host is emulated here, as each uses every
// processor, and returns a function that admits the next.
func lockEmulator(t *testing.T) (unlock func()) {
	t.Helper()
	f := check.Must(os.OpenFile(filepath.Join(os.TempDir(), "qemu.lock"), os.O_RDWR|os.O_CREATE, 0o666))(t)
	check.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	return func() { _ = f.Close() }
}

// qemu returns the command that emulates the computer.
func (h *host) qemu() []string {
	line := []string{"qemu-system-x86_64", "-machine", "q35", "-cpu", "Nehalem"}
	if h.arch == "arm64" {
		line = []string{"qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a72"}
	}
	memory := "1024"
	if h.display {
		memory = "2048"
		line = append(line, "-device", "virtio-gpu-pci,xres=1280,yres=720")
	}
	processors := []string{"-accel", "tcg,thread=multi", "-smp", "2"}
	if h.counted {
		processors = []string{"-accel", "tcg,thread=single", "-smp", "1", "-icount", "shift=0"}
	}
	line = append(line, processors...)
	line = append(line,
		"-nodefaults", "-display", "none", "-m", memory,
		"-drive", "if=virtio,format=raw,file="+h.disk,
		"-netdev", fmt.Sprintf("user,id=n,hostfwd=tcp:127.0.0.1:%d-:8888", h.port),
		"-device", "virtio-net-pci,netdev=n",
		"-audiodev", "wav,id=a,out.frequency="+strconv.Itoa(wavRate)+",path="+h.file("wav"), "-device", "intel-hda",
		"-device", "hda-output,audiodev=a",
		"-serial", "file:"+h.file("console.txt"),
		"-qmp", "unix:"+h.dir+"/qmp,server=on,wait=off",
		"-chardev", "socket,id=s,server=on,wait=off,path="+h.dir+"/shell",
		"-device", "virtio-serial-pci", "-device", "virtserialport,chardev=s,name="+shellPort,
	)
	switch {
	case h.arch == "arm64":
		line = append(line, bootARM(h)...)
	case h.uefi:
		line = append(line, "-drive", "if=pflash,format=raw,readonly=on,file=/usr/share/OVMF/OVMF_CODE.fd",
			"-drive", "if=pflash,format=raw,snapshot=on,file=/usr/share/OVMF/OVMF_VARS.fd")
		fallthrough
	default:
		line = append(line, firmwareShell()...)
	}
	return line
}

// bootARM returns the arguments that start the kernel of the boot partition, as the firmware of a
// Raspberry Pi does.
func bootARM(h *host) []string {
	boot := openPartition(h.T, h.disk, "PRESSBOX")
	kernel, initrd := filepath.Join(h.dir, "kernel"), filepath.Join(h.dir, "initrd")
	for _, name := range boot.list() {
		switch {
		case strings.HasPrefix(name, "vmlinuz"):
			check.NoError(h.T, os.WriteFile(kernel, boot.read(name), 0o600))
		case strings.HasPrefix(name, "initrd"):
			check.NoError(h.T, os.WriteFile(initrd, boot.read(name), 0o600))
		}
	}
	return []string{
		"-kernel", kernel, "-initrd", initrd,
		"-append", "root=LABEL=root rw rootwait console=ttyAMA0 net.ifnames=0 " + kernelShell(),
	}
}

// cutPower ends the host at once; its disk has what it had written.
func (h *host) cutPower() {
	_ = h.cmd.Process.Kill()
	<-h.ended
}

// powerOff shuts the host down.
func (h *host) powerOff() {
	h.Helper()
	h.saveJournal()
	h.root.start("systemctl --no-block poweroff")
	select {
	case <-h.ended:
	case <-time.After(bootTime):
		h.Fatalf("%s does not power off; its console: %s", h.name, h.file("console.txt"))
	}
}

// close cuts the power, and prints the journal of a failed test's machine before.
func (h *host) close() {
	select {
	case <-h.ended:
		return
	default:
	}
	h.saveJournal()
	h.cutPower()
}

// saveJournal writes the journal of a failed test's host to results.
func (h *host) saveJournal() {
	if !h.Failed() {
		return
	}
	if text, err := h.root.try("journalctl --no-pager --boot --output=short-monotonic", time.Minute); err == nil {
		_ = os.WriteFile(h.file("journal.txt"), []byte(text), 0o644)
		h.Logf("its journal: %s", h.file("journal.txt"))
	}
}

// until polls for a condition, for at most bootTime. A host that is off cannot fulfill it.
func (h *host) until(what string, is func() bool) {
	h.Helper()
	for deadline := time.Now().Add(bootTime); !is(); {
		select {
		case <-h.ended:
			h.Fatalf("%s: the host is off; see %s", what, h.file("console.txt"))
		case <-time.After(2 * time.Second):
		}
		if time.Now().After(deadline) {
			h.Fatalf("timeout: %s", what)
		}
	}
	h.Logf("%s: after %.0f s", what, time.Since(h.began).Seconds())
}

// The service that opens the shell, and the name of its port.
const (
	shellPort = "pressbox.shell"
	shellUnit = `[Unit]
DefaultDependencies=no
Conflicts=shutdown.target
Before=shutdown.target
[Service]
Environment=PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive
ExecStart=/bin/sh -c 'until exec 0<>/dev/virtio-ports/` + shellPort + `; do sleep 1; done; exec sh 1>&0 2>&0'
`
)

// firmwareShell returns the arguments that make the firmware hand over the service.
func firmwareShell() []string {
	credential := func(name, value string) []string {
		return []string{"-smbios", "type=11,value=io.systemd.credential.binary:" + name + "=" +
			base64.StdEncoding.EncodeToString([]byte(value))}
	}
	return slices.Concat(
		credential("systemd.extra-unit.pressbox-shell.service", shellUnit),
		credential("systemd.unit-dropin.multi-user.target", "[Unit]\nWants=pressbox-shell.service\n"),
	)
}

// kernelShell returns parameters of the kernel with the same effect.
func kernelShell() string {
	return "systemd.wants=pressbox-shell.service " +
		"systemd.set_credential_binary=systemd.extra-unit.pressbox-shell.service:" +
		base64.StdEncoding.EncodeToString([]byte(shellUnit))
}

// run runs a local command and returns its output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	var complaints strings.Builder
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err = errors.Join(err, ctx.Err()); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out, &complaints)
	}
	return string(out)
}
