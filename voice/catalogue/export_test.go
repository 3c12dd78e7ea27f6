package catalogue

// FileNames are the names that the files of a catalogue would get.
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
