package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The manual and the completions are made of the tree of commands, the table of
// settings and the table of messages, in the form of man(7).

// A manPage is one page while it is written.
type manPage struct{ b strings.Builder }

// newManPage begins a page.
func newManPage(section, whatIs string) *manPage {
	p := &manPage{}
	fmt.Fprintf(&p.b, ".\\\" Generated: make generate.\n.TH PRESSBOX %s \"\" Pressbox\n", section)
	p.heading("NAME")
	p.text("pressbox \\- " + whatIs)
	return p
}

// roff writes a text so that every character is itself.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

func (p *manPage) heading(title string)    { fmt.Fprintf(&p.b, ".SH %s\n", title) }
func (p *manPage) subheading(title string) { fmt.Fprintf(&p.b, ".SS %s\n", roff(title)) }
func (p *manPage) text(raw string)         { p.b.WriteString(raw + "\n") }

// paragraphs writes a text whose paragraphs have empty lines between them.
// Indented lines stand as they are.
func (p *manPage) paragraphs(text string) {
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		lines := strings.Split(strings.Trim(paragraph, "\n"), "\n")
		verbatim := false
		p.text(".PP")
		for _, line := range lines {
			indented := strings.HasPrefix(line, "  ")
			if indented != verbatim {
				p.text(map[bool]string{true: ".nf", false: ".fi"}[indented])
				verbatim = indented
			}
			p.text(roff(line))
		}
		if verbatim {
			p.text(".fi")
		}
	}
}

// item writes a term and what it means.
func (p *manPage) item(term, meaning string) {
	fmt.Fprintf(&p.b, ".TP\n.B %s\n%s\n", roff(term), roff(meaning))
}

// flags describes the flags of a command, but not those that are settings.
func (p *manPage) flags(cmd *cobra.Command, settings map[string]bool) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if settings[f.Name] || f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		p.item(strings.TrimSpace("--"+f.Name+" "+value), usage)
	})
}

// commandsPage is pressbox(1).
func commandsPage() string {
	root := newCommand(new(bool))
	p := newManPage("1", "speak announcements that the network posts")
	p.heading("SYNOPSIS")
	p.text(".B pressbox\n.I COMMAND\n.RI [ flags ]\n.RI [ argument ...]")
	p.heading("DESCRIPTION")
	p.paragraphs("Pressbox speaks announcements that clients on the network post to it, and hosts games of baseball. This page is about its commands; " +
		"pressbox(8) is about the daemon, its settings and its files.\n\nEvery command explains itself with --help.")
	settings := make(map[string]bool)
	for _, k := range keys() {
		settings[flagName(k)] = true
	}
	p.heading("COMMANDS")
	p.commands(root, settings)
	p.heading("ENVIRONMENT")
	p.item("PRESSBOX_URL", "The daemon that commands ask, instead of this machine's.")
	p.item("PRESSBOX_TOKEN", "The token that they ask it with.")
	p.exits()
	p.seeAlso("pressbox", "8")
	return p.b.String()
}

// commands describes the commands below one.
func (p *manPage) commands(parent *cobra.Command, settings map[string]bool) {
	for _, cmd := range parent.Commands() {
		if !cmd.IsAvailableCommand() || cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		if cmd.HasSubCommands() && !cmd.Runnable() {
			p.commands(cmd, settings)
			continue
		}
		p.subheading(strings.TrimSuffix(cmd.UseLine(), " [flags]"))
		said := cmd.Long
		if said == "" {
			said = cmd.Short + "."
		}
		p.paragraphs(strings.ReplaceAll(said, "\n\n"+exitCodes, ""))
		p.flags(cmd, settings)
		if cmd.HasSubCommands() {
			p.commands(cmd, settings)
		}
	}
}

// exits describes the exit codes, which the help of commands lists in the same form.
func (p *manPage) exits() {
	p.heading("EXIT STATUS")
	_, list, _ := strings.Cut(exitCodes, "\n")
	for line := range strings.Lines(list) {
		code, meaning, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.item(code, strings.TrimSpace(meaning))
	}
}

func (p *manPage) seeAlso(name, section string) {
	p.heading("SEE ALSO")
	fmt.Fprintf(&p.b, ".BR %s (%s),\n.BR systemctl (1),\n.BR journalctl (1)\n", name, section)
}

// daemonPage is pressbox(8).
func daemonPage() string {
	p := newManPage("8", "the daemon that speaks announcements")
	p.heading("SYNOPSIS")
	p.text(".B pressbox serve\n.RI [ flags ]")
	p.heading("DESCRIPTION")
	p.paragraphs("The daemon answers HTTP on the local network, keeps what it accepts in a store before it says so, and speaks it through PulseAudio or PipeWire. " +
		"Under systemd, pressbox.socket opens the port and holds it while the daemon restarts, so that no client is refused.\n\n" +
		"\"pressbox status\" says how it is, \"pressbox doctor\" what is wrong and how to mend it, \"journalctl -u pressbox -x\" what happened and why.")
	p.heading("SETTINGS")
	p.paragraphs("In order of precedence: flags, the environment, .env in the working directory, and " + systemFile + ". " +
		"A flag is the name in small letters with dashes, as --model-dir. In the files, a setting is a line NAME=value, taken as it stands.")
	for _, k := range keys() {
		meaning := described(k) + " Takes " + k.kind.expects + "."
		if k.value != "" {
			meaning += " Default: " + k.value + "."
		}
		p.item(k.name, meaning)
	}
	p.heading("SIGNALS")
	p.item("SIGTERM", "Finish the sentence that is being spoken, for at most five seconds, and end.")
	p.item("SIGHUP", "Read the settings and the lexicon again and look for voices: \"systemctl reload pressbox\".")
	p.item("SIGQUIT", "Write what every part of the daemon is doing into the journal, and end. The watchdog sends it.")
	p.heading("FILES")
	for _, f := range files() {
		p.item(f[0], f[1])
	}
	p.heading("MESSAGES")
	p.paragraphs("\"journalctl -u pressbox MESSAGE_ID=...\" shows the records of one kind, and PRESSBOX_REQUEST_ID=, PRESSBOX_ANNOUNCEMENT= and PRESSBOX_GAME= those of one request, announcement or game.")
	for _, m := range messages() {
		p.subheading(m.text)
		p.text(".RS\n" + roff(m.id) + "\n.br\n" + roff(m.explain) + "\n.RE")
	}
	p.seeAlso("pressbox", "1")
	return p.b.String()
}

// files are those of the package.
func files() [][2]string {
	return [][2]string{
		{systemFile, "The settings."},
		{"/var/lib/pressbox/pressbox.db", "The store: everything that is kept."},
		{"/var/lib/pressbox/backups", "The last three daily copies of the store."},
		{"/var/lib/pressbox/models", "Voices that were installed."},
		{sharedModels, "Voices that came with the package."},
		{sharedAdminSocket, "The administrator's socket, for root and the group adm."},
		{audioSocket, "Where the daemon meets its sound server; \"pressbox setup-audio\" arranges it."},
	}
}

// completion is the script by which a shell completes the commands.
func completion(write func(root *cobra.Command, to *bytes.Buffer) error) (string, error) {
	var b bytes.Buffer
	if err := write(newCommand(new(bool)), &b); err != nil {
		return "", fmt.Errorf("write a completion: %w", err)
	}
	return b.String(), nil
}

func bashCompletion() (string, error) {
	return completion(func(root *cobra.Command, to *bytes.Buffer) error { return root.GenBashCompletionV2(to, true) })
}

func zshCompletion() (string, error) {
	return completion(func(root *cobra.Command, to *bytes.Buffer) error { return root.GenZshCompletion(to) })
}
