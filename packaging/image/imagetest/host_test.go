//go:build image

package imagetest

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
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
	"pressbox/packaging/hosttest"
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

// bootARM returns the arguments that start the kernel of the boot partition, as the firmware of a Raspberry Pi does.
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
		check.Require(h, !time.Now().After(deadline), "timeout: %s", what)
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

// A shell is root's on a host, from the time at which it has started its services.
type shell struct {
	h    *host
	line net.Conn
	out  *bufio.Reader
	used bool // it has answered
}

// openShell connects to the port of the shell, which has to be open before the shell starts.
func openShell(h *host) *shell {
	h.Helper()
	line := dialUnix(h, "shell")
	return &shell{h: h, line: line, out: bufio.NewReader(line)}
}

// dialUnix connects to a socket of the emulator, which it creates after its start.
func dialUnix(h *host, name string) net.Conn {
	h.Helper()
	path := filepath.Join(h.dir, name)
	for {
		line, err := net.Dial("unix", path)
		if err == nil {
			return line
		}
		select {
		case <-h.ended:
			h.Fatalf("the emulator did not start; see %s", h.file("qemu.txt"))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// start sends a command and does not wait for its end.
func (s *shell) start(command string) {
	s.h.Helper()
	check.Must(fmt.Fprintf(s.line, "{ %s\n} </dev/null 2>&1; printf '\\n\\001%%d\\n' $?\n", command))(s.h.T)
}

// try runs a command and returns its output.
func (s *shell) try(command string, limit time.Duration) (output string, err error) {
	s.h.Helper()
	if !s.used {
		limit = max(limit, bootTime)
	}
	if err := s.line.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return "", err
	}
	s.start(command)
	var all strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return all.String(), fmt.Errorf("%s: %w", command, err)
		}
		if status, ended := strings.CutPrefix(line, "\x01"); ended {
			s.used = true
			if status = strings.TrimSpace(status); status != "0" {
				return all.String(), fmt.Errorf("%s: exit status %s", command, status)
			}
			return strings.TrimSpace(all.String()), nil
		}
		all.WriteString(line)
	}
}

// do runs a command, which must succeed, and returns its output.
func (s *shell) do(format string, args ...any) string {
	s.h.Helper()
	out, err := s.try(fmt.Sprintf(format, args...), commandTime)
	check.Require(s.h, err == nil, "on %s: %v\n%s", s.h.name, err, out)
	return out
}

// number runs a command that prints a number.
func (s *shell) number(command string) int64 {
	s.h.Helper()
	out := s.do("%s", command)
	return check.Must(strconv.ParseInt(strings.TrimSpace(out), 10, 64))(s.h.T)
}

// screen writes what the display shows to a PNG file, and returns its path.
func (h *host) screen(ending string) string {
	h.Helper()
	path := h.file(ending + ".png")
	h.monitor("screendump", map[string]string{"filename": path, "format": "png"}, nil)
	return path
}

// monitor has the emulator execute a command, and decodes its answer unless that is nil.
func (h *host) monitor(command string, arguments map[string]string, answer any) {
	h.Helper()
	line := dialUnix(h, "qmp")
	defer line.Close()
	check.NoError(h.T, line.SetDeadline(time.Now().Add(commandTime)))
	answers := json.NewDecoder(line)
	check.NoError(h.T, answers.Decode(new(any))) // its greeting
	var got json.RawMessage
	for _, c := range []map[string]any{
		{"execute": "qmp_capabilities"},
		{"execute": command, "arguments": arguments},
	} {
		check.NoError(h.T, json.NewEncoder(line).Encode(c))
		got = check.Must(answered(answers))(h.T)
	}
	if answer != nil {
		check.NoError(h.T, json.Unmarshal(got, answer))
	}
}

// answered reads up to the answer of a command; events may come before it.
func answered(answers *json.Decoder) (json.RawMessage, error) {
	for {
		var a struct {
			Return json.RawMessage
			Error  *struct{ Desc string }
		}
		switch err := answers.Decode(&a); {
		case err != nil:
			return nil, err
		case a.Error != nil:
			return nil, errors.New(a.Error.Desc)
		case a.Return != nil:
			return a.Return, nil
		}
	}
}

// client returns a client of the host's server.
func (h *host) client(limit time.Duration) *hosttest.Client {
	return &hosttest.Client{Client: http.Client{Timeout: limit}, URL: h.url()}
}

// url returns the address of the host's server, from here.
func (h *host) url() string { return fmt.Sprintf("http://127.0.0.1:%d", h.port) }

// health is the part of /health that the tests read.
type health struct{ Status, Version string }

// health returns the answer of the server, which may not have started yet.
func (h *host) health() (health, error) {
	var now health
	_, err := h.client(time.Minute).Request(http.MethodGet, "/health", nil, &now)
	return now, err
}

// answers waits until the server answers.
func (h *host) answers() (now health) {
	h.Helper()
	h.until("the server answers", func() (is bool) {
		var err error
		now, err = h.health()
		return err == nil
	})
	return now
}

// greeting is the beginning of what "pressbox hello" announces.
const greeting = "Pressbox is ready."

// greeted waits until the greeting was spoken, and returns all of its text.
func (h *host) greeted() (text string) {
	h.Helper()
	h.until("the greeting was spoken", func() bool {
		var list struct {
			Recent []struct{ Message, Status string }
		}
		if _, err := h.client(commandTime).Request(http.MethodGet, "/notify", nil, &list); err != nil {
			return false // not started yet, or busy
		}
		for _, a := range list.Recent {
			if strings.HasPrefix(a.Message, greeting) && a.Status == "done" {
				text = a.Message
				return true
			}
		}
		return false
	})
	return text
}

// speech returns a text as the host's default voice speaks it, at searchRate.
func (h *host) speech(text string) []float32 {
	h.Helper()
	var pcm []byte
	check.Must(h.client(commandTime).Request(http.MethodPost, "/v1/audio/speech", map[string]string{
		"model": "tts-1", "voice": "alloy", "input": text, "response_format": "pcm",
	}, &pcm))(h.T)
	samples := make([]float32, len(pcm)/2)
	for i := range samples {
		samples[i] = float32(int16(binary.LittleEndian.Uint16(pcm[2*i:]))) / math.MaxInt16
	}
	return resample(h.T, samples, voiceRate)
}

// hears checks that the recording has a text, as the host's own voice speaks it.
func (h *host) hears(text string) {
	h.Helper()
	f := find(h.sound.samples(h.T), h.speech(text))
	h.Logf("%.0f %% of %q were recognized in %s", 100*f.share, text, h.sound.path)
	check.That(h.T, f.recognized(), "%q was not recognized in %s: %.0f %%", text, h.sound.path, 100*f.share)
}

// gib is the unit of disk sizes.
const gib = 1 << 30

// imageOf returns the path of the unpacked image for an architecture.
func imageOf(arch string) string {
	return "../../../.build/image/" + arch + ".img"
}

// newDisk returns a disk on which an image was written. It is larger by 2 GiB.
func newDisk(t *testing.T, image string) (disk string) {
	t.Helper()
	info, err := os.Stat(image)
	check.Require(t, err == nil, "%v: make it with \"make image\"", err)
	disk = copyDisk(t, image)
	check.NoError(t, os.Truncate(disk, info.Size()+2*gib))
	return disk
}

// copyDisk returns a copy of a disk.
func copyDisk(t *testing.T, from string) (disk string) {
	t.Helper()
	disk = filepath.Join(t.TempDir(), "disk.img")
	run(t, "cp", "--sparse=always", "--reflink=auto", from, disk)
	return disk
}

// saveDisk moves a disk to results, for other tests, and returns its path.
func saveDisk(t *testing.T, disk, name string) (saved string) {
	t.Helper()
	saved = check.Must(filepath.Abs(filepath.Join(results, name)))(t)
	run(t, "mv", disk, saved)
	return saved
}

// A partition is a part of a disk that is not in use.
type partition struct {
	t           *testing.T
	disk        string
	start, size int64 // bytes
}

// openPartition returns the partition with a label.
func openPartition(t *testing.T, disk, label string) partition {
	t.Helper()
	var table struct {
		PartitionTable struct {
			SectorSize int64
			Partitions []struct{ Start, Size int64 }
		}
	}
	check.NoError(t, json.Unmarshal([]byte(run(t, "sfdisk", "--json", disk)), &table))
	sector := max(table.PartitionTable.SectorSize, 512)
	for _, p := range table.PartitionTable.Partitions {
		found := partition{t, disk, p.Start * sector, p.Size * sector}
		if found.label() == label {
			return found
		}
	}
	t.Fatalf("%s has no partition with the label %s", disk, label)
	return partition{}
}

// label returns the label of the file system; "" if it has none.
func (p partition) label() string { return p.probe("LABEL") }

// probe returns a property of the file system that blkid knows; "" if it has none.
func (p partition) probe(tag string) string {
	const probe = "blkid --probe --offset %d --size %d --match-tag %s --output value %q || true"
	out := run(p.t, "sh", "-c", fmt.Sprintf(probe, p.start, p.size, tag, p.disk))
	return strings.TrimSpace(out)
}

// replace has write change an empty file of the size of the partition, and copies it there.
func (p partition) replace(write func(file string)) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "partition")
	run(p.t, "truncate", "--size", fmt.Sprint(p.size), file)
	write(file)
	run(p.t, "dd", "if="+file, "of="+p.disk, "bs=1M", fmt.Sprintf("seek=%dB", p.start), "conv=notrunc", "status=none")
}

// fat returns the argument by which mtools find the partition.
func (p partition) fat() string { return fmt.Sprintf("%s@@%d", p.disk, p.start) }

// list returns the names of the files in the root directory of a FAT partition.
func (p partition) list() []string {
	p.t.Helper()
	var names []string
	for name := range strings.Lines(run(p.t, "mdir", "-b", "-i", p.fat(), "::/")) {
		names = append(names, strings.TrimPrefix(strings.TrimSpace(name), "::/"))
	}
	return names
}

// read returns the content of a file of a FAT partition.
func (p partition) read(name string) []byte {
	p.t.Helper()
	return []byte(run(p.t, "mtype", "-i", p.fat(), "::/"+name))
}

// write writes a file to a FAT partition.
func (p partition) write(name string, content []byte) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "file")
	check.NoError(p.t, os.WriteFile(file, content, 0o600))
	run(p.t, "mcopy", "-o", "-i", p.fat(), file, "::/"+name)
}

// bytes returns the whole content of the partition, free clusters included.
func (p partition) bytes() []byte {
	p.t.Helper()
	f := check.Must(os.Open(p.disk))(p.t)
	defer f.Close()
	content := make([]byte, p.size)
	check.Must(f.ReadAt(content, p.start))(p.t)
	return content
}
