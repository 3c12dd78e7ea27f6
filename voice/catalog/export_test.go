package catalog

// FileNames returns the names of the files that a catalog would install.
func FileNames(text []byte) (names []string) {
	voices, err := parse(text)
	if err != nil {
		return nil
	}
	for _, v := range voices {
		for _, f := range v.files {
			names = append(names, f.name)
		}
	}
	return names
}
