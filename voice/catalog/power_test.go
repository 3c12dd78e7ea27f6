package catalog_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"pressbox/packaging/check"
	"pressbox/store/crashtest"
	"pressbox/store/killtest"
	"pressbox/voice/catalog"
)

// TestMain is also the program of the child processes.
func TestMain(m *testing.M) {
	killtest.Main(m, map[string]killtest.Child{"install": installTern, "interrupted": leavePart})
}

// installTern installs the voice tern. Its arguments are the directory and the server.
func installTern(args []string) error {
	ctx, dir := context.Background(), args[0]
	c, err := catalog.Fetch(ctx, http.DefaultClient, args[1]+"/v1/voices.json", true)
	if err != nil {
		return err
	}
	v, err := c.Find(tern)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	i := catalog.Installer{Catalog: c, Dir: root}
	if err := errors.Join(i.Install(ctx, v), root.Close()); err != nil {
		return err
	}
	return os.WriteFile(crashtest.Acks(dir), []byte("installed\n"), 0o600)
}

// leavePart downloads the model and is killed before it is on disk.
func leavePart(args []string) error {
	resp, err := http.Get(args[1] + "/v1/en/en_GB/tern/medium/" + tern + ".onnx")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	model, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(args[0], "."+tern+".onnx.part"), model, 0o600)
}

// A voice that replaces another is there as a whole or not at all, whenever the power is cut.
func TestInstall_powerCut(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("mounts a file system and starts child processes")
	}
	s := open(t)
	plain := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(plain.Close)
	for _, lives := range [][]string{{"install"}, {"interrupted", "install"}} {
		dir, old := crashtest.TempDir(t), []byte("the earlier model")
		check.NoError(t, os.WriteFile(filepath.Join(dir, tern+".onnx"), old, 0o600))
		disk := crashtest.Mount(t, dir)
		for _, life := range lives {
			out, err := killtest.Command(t, life, disk.Dir, plain.URL).CombinedOutput()
			check.Require(t, err == nil, "%s: %v\n%s", life, err, out)
		}
		n, err := disk.Trace().Replaced(tern+".onnx", old, s.files["/v1/en/en_GB/tern/medium/"+tern+".onnx"])
		check.That(t, err == nil && n >= 20, "%v: %d states: %v", lives, n, err)
		t.Logf("%v: %d states", lives, n)
	}
}
