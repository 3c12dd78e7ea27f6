package voice

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// CheckDownload returns an error if head, the first bytes of a voice's file, is the beginning of a Git LFS
// pointer or of an HTML page, which downloads by hand often produce instead of the file.
func CheckDownload(head []byte) error {
	text := strings.ToLower(string(bytes.TrimLeft(head[:min(len(head), 512)], "\xef\xbb\xbf \t\r\n")))
	switch {
	case strings.HasPrefix(text, "version https://git-lfs.github.com/"):
		return errors.New("the file is a Git LFS pointer: download the file that it points to (git lfs pull)")
	case strings.HasPrefix(text, "<!doctype html"), strings.HasPrefix(text, "<html"):
		return errors.New("the file is an HTML page: download the file itself, not the page about it")
	}
	return nil
}

var licenseLine = regexp.MustCompile(`(?im)^[\s*#-]*licen[cs]e\s*:\s*(\S.*?)\s*$`)

// License returns the license in a voice's card; "" if it states none.
func License(card []byte) string {
	if line := licenseLine.FindSubmatch(card); line != nil {
		return strings.ToValidUTF8(string(line[1]), "")
	}
	return ""
}

// decodeConfig decodes the JSON of a config. The error names what the file is instead, or the key with the
// wrong type.
func decodeConfig(data []byte) (f configFile, err error) {
	if err := CheckDownload(data); err != nil {
		return f, fmt.Errorf("read the voice's config: %w", err)
	}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return f, errors.New("the voice's config begins with a byte order mark (BOM): save it as UTF-8 without one")
	}
	err = json.Unmarshal(data, &f)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind, _, _ := strings.Cut(wrong.Value, " ") // "number 1.5"
		return f, fmt.Errorf("the voice's config has %s at %s, expected %s", jsonKinds[kind], wrong.Field,
			expectedKind(wrong.Type))
	}
	if err != nil {
		return f, fmt.Errorf("parse the voice's config: %w", err)
	}
	return f, nil
}

// jsonKinds has what an UnmarshalTypeError calls the kinds of JSON values.
var jsonKinds = map[string]string{ //nolint:gochecknoglobals // a lookup table
	"string": "text", "number": "a number", "bool": "true or false", "array": "a list", "object": "an object",
}

// expectedKind returns the kind of JSON value that is decoded into t.
func expectedKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Float32:
		return "a number"
	default:
		return "a whole number"
	}
}
