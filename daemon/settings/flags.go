package settings

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"pressbox/voice/control/boolean"
)

// AddFlags adds a flag for every setting except secrets: every user of the host can read
// a command line.
func AddFlags(flags *pflag.FlagSet) { addFlags(flags, Table()) }

func addFlags(flags *pflag.FlagSet, table []Setting) {
	for _, s := range table {
		if !s.Secret {
			value := &flagValue{text: s.Default, typeName: s.valueType.name}
			flags.Var(value, s.Flag(), s.Description+" ["+s.Name+"]")
		}
	}
}

// A flagValue is a flag's value as written; the setting's valueType reads it.
type flagValue struct{ text, typeName string }

// String returns the value.
func (f *flagValue) String() string { return f.text }

// Type returns the type's name for the help.
func (f *flagValue) Type() string { return f.typeName }

// Set sets the value.
func (f *flagValue) Set(text string) error {
	f.text = text
	return nil
}

// AcceptBooleans makes the flags that need no value accept every boolean, such as --urgent=yes.
func AcceptBooleans(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" && f.NoOptDefVal != "" {
			f.Value = booleanFlag{f.Value}
		}
	})
}

// A booleanFlag is the value of a flag that needs none.
type booleanFlag struct{ pflag.Value }

// Set sets the value from a text that is a boolean.
func (b booleanFlag) Set(text string) error {
	value, ok := boolean.Parse(text)
	if !ok {
		return errors.New("expected " + boolean.Expects)
	}
	return b.Value.Set(strconv.FormatBool(value)) //nolint:wrapcheck // FormatBool's text is valid
}
