package speakable

import (
	"html"
	"regexp"
	"strings"
)

var (
	entity     = regexp.MustCompile(`&#?\w{1,32};`)
	hiddenBody = regexp.MustCompile(
		`(?is)<(?:style|script|head|template)(?:\s[^<>\x{E000}]*)?>[^\x{E000}]*?</(?:style|script|head|template)\s*>`,
	)
	comment = regexp.MustCompile(`<!--[^\x{E000}]*?-->`)
	tag     = regexp.MustCompile(
		`(?i)</?(a|abbr|address|article|audio|b|big|blockquote|body|br|break|center|cite|code|dd|del|dfn|div|dl|dt|` +
			`em|emphasis|figure|font|footer|h[1-6]|head|header|hr|html|i|img|ins|kbd|li|main|mark|nav|ol|p|pre|` +
			`prosody|q|s|samp|say-as|section|small|span|speak|strike|strong|sub|sup|table|tbody|td|tfoot|th|thead|tr|` +
			`tt|u|ul|var|voice)(?:\s+[\w:-]+\s*=\s*(?:"[^"\x{E000}]*"|'[^'\x{E000}]*'|[^\s"'<>\x{E000}]+))*\s*/?>|` +
			`</?[a-z][\w:-]*(?:\s+[\w:-]+\s*=\s*(?:"[^"\x{E000}]*"|'[^'\x{E000}]*'))+\s*/?>|</[a-z][\w:-]*>`,
	)
	autolink = regexp.MustCompile(`<((?:https?://|mailto:)[^<>\s\x{E000}]+)>`)
)

// untag removes the tags of HTML and SSML from s, converts those of a new line or cell to a line break, and
// decodes entities. Text that only resembles a tag is not changed.
func untag(s string) string {
	if strings.Contains(s, "<") {
		s = hiddenBody.ReplaceAllString(s, " ")
		s = comment.ReplaceAllString(s, " ")
		s = autolink.ReplaceAllString(s, "$1")
		s = tag.ReplaceAllStringFunc(s, tagText)
	}
	if strings.Contains(s, "&") {
		s = entity.ReplaceAllStringFunc(s, func(e string) string {
			return strings.ReplaceAll(html.UnescapeString(e), hidden, "")
		})
	}
	return s
}

// tagText returns the plain text for a tag.
func tagText(t string) string {
	name := strings.ToLower(tag.FindStringSubmatch(t)[1])
	switch name {
	case "", "a", "abbr", "b", "big", "cite", "code", "del", "dfn", "em", "emphasis", "font", "i", "ins", "kbd", "mark",
		"prosody", "q", "s", "samp",
		"say-as", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var", "voice":
		return ""
	case "td", "th", "break":
		return " | "
	case "br":
		return "\n"
	}
	return "\n\n"
}
