package speakable_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pressbox/packaging/check"
	"pressbox/voice/speakable"
	"pressbox/voice/speakable/english"
	"pressbox/voice/speakable/german"
	"pressbox/voice/speakable/recognize"
)

var gendered = regexp.MustCompile(`^(feminine|masculine|neuter): (.+)`)

// Every noun and ending of the table has its gender.
func TestGenders(t *testing.T) {
	t.Parallel()
	endings := map[string]string{"feminine": "e ", "masculine": "er ", "neuter": "es "}
	for _, row := range rowsOf(t, "german/context.txt") {
		found := gendered.FindStringSubmatch(row)
		if found == nil {
			continue
		}
		for noun := range strings.FieldsSeq(found[2]) {
			if end, ok := strings.CutPrefix(noun, "-"); ok {
				noun = "bark" + end
			}
			first, size := utf8.DecodeRuneInString(noun)
			text := "Noch ½ " + string(unicode.ToUpper(first)) + noun[size:]
			check.Contains(t, speakable.Text(text, "de", nil), "halb"+endings[found[1]], "%s", text)
		}
	}
}

// Every row of the words that decide between two readings decides about a text of the tables.
func TestContext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		language, rows, sayings, homographs string
		locale                              *recognize.Locale
	}{
		{"english", "en", "american.txt", "homographs", english.American().Locale},
		{"german", "de", "german.txt", "", german.German().Locale},
	} {
		table := func(name string) string {
			return string(check.Must(os.ReadFile(tt.language + "/" + name + ".txt"))(t))
		}
		tables := recognize.Tables{
			Context: table("context"), Units: table("units"), Abbreviations: table("abbreviations"),
			Calendar: table("calendar"), Signs: table("signs"),
		}
		if tt.homographs != "" {
			tables.Homographs = table(tt.homographs)
		}
		whole := recognize.ParseLocale(*tt.locale, tables)
		all := map[string][]recognize.Token{}
		for _, row := range comparisons(t, tt.rows) {
			all[row.written] = recognize.Tokens(row.written, whole)
		}
		for _, row := range sayings(t, tt.sayings) {
			all[row.written] = recognize.Tokens(row.written, whole)
		}
		for _, row := range rowsOf(t, tt.language+"/context.txt") {
			if gendered.MatchString(row) {
				continue // see TestGenders
			}
			less := tables
			less.Context = strings.Replace(tables.Context, row+"\n", "", 1)
			check.That(t, decides(recognize.ParseLocale(*tt.locale, less), all),
				"%s: no text is read otherwise without %.60q", tt.language, row)
		}
	}
}

// decides reports whether a locale reads one of the texts otherwise.
func decides(locale *recognize.Locale, all map[string][]recognize.Token) bool {
	for text, tokens := range all {
		if !reflect.DeepEqual(recognize.Tokens(text, locale), tokens) {
			return true
		}
	}
	return false
}
