package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Secret returns a secret without surrounding white space: the content of the file that a
// setting names, else of a credential of systemd (systemd.exec(5), LoadCredential=); "" if
// there is none.
func Secret(setting, file, credential string) (string, error) {
	path := file
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); path == "" && dir != "" {
		path = filepath.Join(dir, credential)
	}
	if path == "" {
		return "", nil
	}
	secret, err := os.ReadFile(path) //nolint:gosec // the administrator sets the path
	if errors.Is(err, fs.ErrNotExist) && file == "" {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	return strings.TrimSpace(string(secret)), nil
}
