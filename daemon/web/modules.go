package web

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// importing matches an import or a re-export of a module: its names, if it has any, and its file.
var importing = regexp.MustCompile(`(?m)^(?:import \{([^}]*)\}|export \*) from "\./([\w.-]+)";\n`)

// joinModules makes one file of each module and its parts, so that a page needs few requests: NAME.js
// has the parts NAME.PART.js, which only it and its other parts import. files are the modules by name.
func joinModules(files map[string][]byte) {
	parts := map[string][]string{} // by module
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if module, _, isPart := strings.Cut(strings.TrimSuffix(name, ".js"), "."); isPart && path.Ext(name) == ".js" {
			parts[module+".js"] = append(parts[module+".js"], name)
		}
	}
	for module, names := range parts {
		files[module] = join(files, append(names, module))
		for _, name := range names {
			delete(files, name)
		}
	}
}

// join returns the named files as one module. What one imports from another is in it; what several
// import from elsewhere is imported once.
func join(files map[string][]byte, names []string) []byte {
	imports := map[string][]string{} // by file
	var body, joined bytes.Buffer
	for _, name := range names {
		for _, found := range importing.FindAllSubmatch(files[name], -1) {
			if file := string(found[2]); !slices.Contains(names, file) {
				imports[file] = append(imports[file], strings.Fields(strings.ReplaceAll(string(found[1]), ",", " "))...)
			}
		}
		body.Write(importing.ReplaceAll(files[name], nil))
	}
	for _, file := range slices.Sorted(maps.Keys(imports)) {
		slices.Sort(imports[file])
		once := strings.Join(slices.Compact(imports[file]), ", ")
		joined.WriteString("import { " + once + " } from \"./" + file + "\";\n")
	}
	joined.Write(body.Bytes())
	return joined.Bytes()
}
