package site_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/swaggest/jsonschema-go"

	"pressbox/daemon/web"
	"pressbox/daemon/web/openapi"
	"pressbox/daemon/web/site"
	"pressbox/packaging/check"
)

var update = flag.Bool("update", false, "write the generated file")

// names has the names of schemas that do not follow from the names of their types, by which they would be schemaName.
var names = pairs(`
	web.apiError OpenAIError   admin.offer CatalogVoice   admin.offers Catalog   admin.choice SettingChoice
	health.Condition Check   health.Health HealthStatus   admin.install VoiceInstall
	announce.Status AnnouncementStatus   admin.backupsReply BackupList   admin.settingsReply SettingList
	announcements.Preview Speakable   announcements.repetition Repetitions   announce.RoomList RoomNames
	announcements.VoiceList Voices   announcements.roomsReply RoomList   hooks.result WebhookResult
	openai.Voice SpeechVoice   openai.voicesReply SpeechVoices   play.eventMessage GameMessage
	play.eventsReply GameEvents   play.leaguesReply LeagueList   play.seatChoice LeagueSeatChoice
	play.seasonsReply SeasonList   play.seriesReply SeriesList   play.storedGamesReply StoredGameList
	play.storedLeaguesReply StoredLeagueList   push.ntfyBody NtfyRequest   signin.adminCodeRequest AdminCode
	signin.invitesReply InviteList   signin.refreshReply Renewal   signin.sessionsReply SessionList
	signin.tokensReply TokenList   signin.usersReply UserList   game.Options RulesOptions
	game.TeamBoxScore TeamBox   card.Batting TodayBatting   card.Day Today   card.Pitching TodayPitching
	card.Season PlayerSeason   chance.Question QuestionKind   leagues.GameView LeagueGame   leagues.Kind LeagueKind
	leagues.Options LeagueOptions   leagues.Request LeagueRequest   leagues.Schedule LeagueSchedule
	leagues.SeatRequest LeagueSeatRequest   leagues.SeatView LeagueSeat   leagues.Standings LeagueStandings
	leagues.Status LeagueStatus   leagues.View League   live.Lists GameList   protocol.BySide[bool] BotManages
	protocol.BySide[int] Score   protocol.BySide[pressbox/game.Lineup] Lineups
	protocol.BySide[pressbox/game/protocol.Roster] GameRosters   protocol.Clock GameClock   protocol.Event GameEvent
	protocol.Options GameOptions   protocol.Presence GamePresence   protocol.Request GameRequest
	protocol.Result GameResult   protocol.Roster GameRoster   protocol.Seat GameSide   protocol.Status GameStatus
	protocol.View GameState   season.Standing LeagueStanding   stats.Batting PlayerBatting
	stats.Manager LadderManager   stats.Pitching PlayerPitching   teams.List Teams   teams.Ref TeamRef
	teams.Player TeamPlayer   control.Favorite Favorite   control.Plan ScheduleRequest
`)

// pairs returns a map from the words of a text, from each first one to the next.
func pairs(text string) map[string]string {
	all := map[string]string{}
	for pair := range slices.Chunk(strings.Fields(text), 2) {
		all[pair[0]] = pair[1]
	}
	return all
}

// TestGenerated_schemas compares the schemas of the API with the structs that the table of routes names; with
// -update it writes them.
func TestGenerated_schemas(t *testing.T) {
	t.Parallel()
	const path = "../openapi/components.json"
	want := check.Must(json.MarshalIndent(components(t), "", " "))(t)
	want = append(want, '\n')
	if *update {
		check.NoError(t, os.WriteFile(path, want, 0o644))
		return
	}
	if text := regexp.MustCompile(`[^"]*\bnil\b[^"]*`).Find(want); text != nil {
		t.Errorf("a comment is for readers of Go, not for those of the API: %s", text)
	}
	if got := check.Must(os.ReadFile(path))(t); !bytes.Equal(got, want) {
		t.Errorf("%s is not current: run \"make generate\"", path)
	}
}

// components returns the schemas of all routes.
func components(t *testing.T) openapi.Components {
	t.Helper()
	replies := newGenerator(t, nil)
	requests := newGenerator(t, replies)
	forms := newGenerator(t, requests)
	replies.add(web.Problem{})
	replies.add(web.NtfyError{})
	var sent, received []any
	for _, rt := range site.Routes() {
		for _, response := range rt.Operation.Responses {
			replies.add(response.Body)
		}
		sent, received = append(sent, rt.Operation.Sent...), append(received, rt.Operation.Received...)
	}
	all := openapi.Components{
		OpenAPI: "3.1.0", Info: map[string]string{"title": "Pressbox", "version": "generated"},
		Types: map[string]string{},
	}
	all.Components.Schemas = map[string]json.RawMessage{}
	all.Server = replies.frames(sent)
	for _, rt := range site.Routes() {
		if of := rt.Operation; of.AnyMedia {
			forms.add(of.Request)
		} else {
			requests.add(of.Request)
			requests.add(of.Form)
		}
	}
	all.Client = requests.frames(received)
	replies.keep(&all, "")
	requests.keep(&all, "request ")
	forms.keep(&all, "request ")
	return all
}

// A generator makes the schemas of replies; or those of requests; or those of requests that can also be forms, in
// which numbers and truth values are text.
type generator struct {
	*testing.T
	sources
	reflector jsonschema.Reflector
	before    *generator // of replies: nil; of requests: that of replies; of forms: that of requests
	schemas   map[string]jsonschema.Schema
	types     map[string]reflect.Type // by the names of their schemas
	roots     map[string]string       // names of the types of bodies → names of their schemas
}

func newGenerator(t *testing.T, before *generator) *generator {
	t.Helper()
	g := &generator{
		T: t, sources: sources{t, map[string]*source{}}, before: before,
		schemas: map[string]jsonschema.Schema{}, types: map[string]reflect.Type{}, roots: map[string]string{},
	}
	g.reflector.AddTypeMapping(web.Timestamp{}, time.Time{})
	return g
}

func (g *generator) isRequest() bool { return g.before != nil }
func (g *generator) isForm() bool    { return g.before != nil && g.before.before != nil }

// add adds the schemas of the type of v; nil: none.
func (g *generator) add(v any) {
	g.Helper()
	if v != nil {
		g.reflect(v)
	}
}

const schemas = "#/components/schemas/"

// reflect makes the schema of the type of v, and returns a reference to it.
func (g *generator) reflect(v any) jsonschema.Schema {
	g.Helper()
	ref := check.Must(g.reflector.Reflect(v, jsonschema.RootRef, jsonschema.DefinitionsPrefix(schemas),
		jsonschema.InterceptDefName(func(t reflect.Type, _ string) string { return g.nameOf(t) }),
		jsonschema.InterceptSchema(g.intercept), jsonschema.CollectDefinitions(g.collect)))(g)
	g.roots[typeName(reflect.TypeOf(v))] = strings.TrimPrefix(*ref.Ref, schemas)
	return ref
}

// keep adds the schemas to all that the bodies refer to. The reflector also made those of embedded fields that
// others hide.
func (g *generator) keep(all *openapi.Components, prefix string) {
	g.Helper()
	var follow func(name string)
	follow = func(name string) {
		found := check.Must(json.Marshal(g.schemas[name]))(g)
		if other := all.Components.Schemas[name]; other != nil && !bytes.Equal(found, other) {
			g.Errorf("the schema %s of requests and that of replies differ: %s, %s", name, found, other)
		} else if other == nil {
			all.Components.Schemas[name] = found
			for _, ref := range regexp.MustCompile(`"`+schemas+`(\w+)"`).FindAllSubmatch(found, -1) {
				follow(string(ref[1]))
			}
		}
	}
	for of, name := range g.roots {
		all.Types[prefix+of] = name
		follow(name)
	}
}

// frames returns the messages of the websocket: the name of a message is the constant of its member t, its summary
// the first paragraph of its type's comment.
func (g *generator) frames(values []any) map[string]openapi.Frame {
	g.Helper()
	all := map[string]openapi.Frame{}
	for _, v := range values {
		ref := g.reflect(v)
		schema := g.schemas[strings.TrimPrefix(*ref.Ref, schemas)]
		summary, description, _ := strings.Cut(*schema.Description, "\n\n")
		kind, ok := (*schema.Properties["t"].TypeObject.Const).(string)
		check.That(g, ok, "the member t of %T has no constant", v)
		all[kind] = openapi.Frame{Summary: summary, Description: description, Payload: check.Must(json.Marshal(ref))(g)}
	}
	return all
}

// nameOf returns the name of the schema of a type. Requests and replies may have the same struct: as a request, it is
// another schema.
func (g *generator) nameOf(t reflect.Type) string {
	name, ok := names[t.String()]
	if !ok {
		name = schemaName(t.Name())
	}
	for other := g.before; other != nil && t.Kind() == reflect.Struct; other = other.before {
		if other.types[name] == t {
			name += map[bool]string{false: "Request", true: "Form"}[g.isForm()]
		}
	}
	if other, ok := g.types[name]; ok && other != t {
		g.Fatalf("%s and %s are both the schema %s: rename one, or add it to names", other, t, name)
	}
	g.types[name] = t
	return name
}

// schemaName returns the name of a type's schema: of the type statusReply it is Status, of BySide[Roster]
// RosterBySide.
func schemaName(name string) string {
	base, argument, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	argument = argument[strings.LastIndexAny(argument, "./")+1:]
	title := func(name string) string {
		first, size := utf8.DecodeRuneInString(name)
		return string(unicode.ToUpper(first)) + name[size:]
	}
	name = title(strings.TrimSuffix(strings.TrimSuffix(base, "Reply"), "View"))
	if argument != "" {
		name = title(argument) + name
	}
	return name
}

func typeName(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

// intercept sets the schema of an enumeration, and that of a set of names.
func (g *generator) intercept(params jsonschema.InterceptSchemaParams) (stop bool, err error) {
	t := params.Value.Type()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if params.Processed || t.PkgPath() == "" {
		return false, nil
	}
	values, set := g.values(t)
	if values == nil {
		return false, nil
	}
	names := (&jsonschema.Schema{Enum: values}).WithType(jsonschema.String.Type())
	if set {
		names = (&jsonschema.Schema{}).WithType(jsonschema.Array.Type()).
			WithItems(*(&jsonschema.Items{}).WithSchemaOrBool(names.ToSchemaOrBool()))
	}
	params.Schema.Type, params.Schema.Enum, params.Schema.Items = names.Type, names.Enum, names.Items
	return true, nil
}

// collect completes the schema of a type with what its source says: descriptions and examples from comments, and
// which members are required and which may be null.
func (g *generator) collect(name string, schema jsonschema.Schema) {
	t := g.types[name]
	from := g.source(t)
	words, examples := from.text(t, name)
	if words != "" {
		schema.WithDescription(words)
	}
	schema.Examples = append(schema.Examples, examples...)
	if t.Kind() != reflect.String { // which says itself whether it may be null
		removeNull(&schema)
	}
	if t.Kind() == reflect.Struct && schema.Properties != nil {
		g.object(t, &schema)
	}
	if g.isRequest() && t.Kind() == reflect.Struct && schema.Properties != nil && schema.AdditionalProperties == nil {
		schema.AdditionalProperties = (&jsonschema.SchemaOrBool{}).WithTypeBoolean(false)
	}
	g.schemas[name] = schema
}

// object completes the schema of a struct.
func (g *generator) object(t reflect.Type, schema *jsonschema.Schema) {
	if !g.isRequest() {
		schema.Required = nil
	}
	for _, m := range membersOf(t) {
		property := schema.Properties[m.name].TypeObject
		if property == nil {
			continue
		}
		of := m.field.Type
		if inner := indirect(of); inner.Kind() == reflect.Struct && inner.Name() == "" {
			g.Errorf("%s.%s is a struct without a name, so that its fields cannot be described", t, m.field.Name)
		}
		if text := g.source(m.owner).field(m.owner, m.field.Name); text != "" {
			property.WithDescription(text)
		}
		if !g.isRequest() && !m.optional {
			schema.Required = append(schema.Required, m.name)
		}
		removeNull(property)
		if kinds := m.field.Tag.Get("type"); kinds != "" {
			property.Ref, property.Type = nil, nil
			for kind := range strings.SplitSeq(kinds, ",") {
				property.AddType(jsonschema.SimpleType(kind))
			}
		}
		if g.isForm() && (property.HasType(jsonschema.Integer) || property.HasType(jsonschema.Boolean)) {
			property.AddType(jsonschema.String)
		}
		given := m.field.Tag.Get("nullable")
		isNull := of.Kind() == reflect.Pointer && !m.optional && !g.isRequest() && given == ""
		if isNull || given == "true" {
			addNull(property)
		}
		if of.Kind() == reflect.Array && property.HasType(jsonschema.Array) {
			property.WithMinItems(int64(of.Len())).WithMaxItems(int64(of.Len()))
		}
		schema.Properties[m.name] = property.ToSchemaOrBool()
	}
}

// values returns the values of an enumeration, nil if t is none: of text, its constants; of numbers, the names
// that are the JSON of each. A number whose JSON is a list of names is a set, with a name for each bit.
func (g *generator) values(t reflect.Type) (all []any, set bool) {
	if own, ok := reflect.TypeAssert[interface{ Enum() []any }](reflect.Zero(t)); ok {
		return own.Enum(), false
	}
	if t.Kind() == reflect.String {
		return g.source(t).constants[t.Name()], false
	}
	v := reflect.New(t).Elem()
	if !v.CanUint() && !v.CanInt() || json.Unmarshal([]byte(`"no such name"`), v.Addr().Interface()) == nil {
		return nil, false
	}
	encode := func(n int) (name string) {
		if v.CanInt() {
			v.SetInt(int64(n))
		} else {
			v.SetUint(uint64(n))
		}
		text := check.Must(json.Marshal(v.Interface()))(g)
		set = text[0] == '['
		_ = json.Unmarshal(bytes.Trim(text, "[]"), &name) // a number is not an enumeration
		return name
	}
	encode(0)
	for i := range 64 {
		n := i - 1
		if set {
			n = 1 << i
		}
		if v.CanUint() && n < 0 {
			continue
		}
		if name := encode(n); name != "" && !strings.HasPrefix(name, "?") && !slices.Contains(all, any(name)) {
			all = append(all, name)
		}
	}
	return all, set
}

// removeNull removes null from the types of a schema. The reflector permits it for every slice, map and pointer.
func removeNull(s *jsonschema.Schema) {
	if s.Type == nil {
		return
	}
	var rest []jsonschema.SimpleType
	for _, kind := range s.Type.SliceOfSimpleTypeValues {
		if kind != jsonschema.Null {
			rest = append(rest, kind)
		}
	}
	if s.Type.SliceOfSimpleTypeValues = rest; len(rest) == 1 {
		s.Type = (&jsonschema.Type{}).WithSimpleTypes(rest[0])
	}
}

// addNull permits null.
func addNull(s *jsonschema.Schema) {
	if s.Ref == nil {
		s.AddType(jsonschema.Null)
		return
	}
	null := (&jsonschema.Schema{}).WithType(jsonschema.Null.Type())
	ref := jsonschema.Schema{Ref: s.Ref}
	s.Ref, s.AnyOf = nil, []jsonschema.SchemaOrBool{ref.ToSchemaOrBool(), null.ToSchemaOrBool()}
}

// A member is a field of a struct as a member of its JSON.
type member struct {
	name     string
	optional bool // left out when it is zero
	field    reflect.StructField
	owner    reflect.Type // the struct that declares it, which may be embedded
}

// membersOf returns the members of a struct. Its own hide those of embedded structs.
func membersOf(t reflect.Type) (all []member) {
	var embedded []member
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := indirect(field.Type)
		switch {
		case field.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			for _, m := range membersOf(inner) {
				m.optional = m.optional || field.Type.Kind() == reflect.Pointer
				embedded = append(embedded, m)
			}
		case name != "" && name != "-":
			all = append(all, member{name, strings.Contains(options, "omit"), field, t})
		}
	}
	for _, m := range embedded {
		if !slices.ContainsFunc(all, func(own member) bool { return own.name == m.name }) {
			all = append(all, m)
		}
	}
	return all
}

// indirect returns what a pointer or a list leads to.
func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// sources reads what the comments of packages say about types.
type sources struct {
	t   *testing.T
	all map[string]*source // by import path
}

// A source holds the comments and the constants of a package.
type source struct {
	types     map[string]string // type → its comment
	fields    map[string]string // type.field → its comment
	constants map[string][]any  // type → values of its constants
	meanings  map[string]string // type → what its constants mean
}

// source returns the source of a type's package.
func (s sources) source(t reflect.Type) *source {
	path, ok := strings.CutPrefix(t.PkgPath(), "pressbox/")
	if !ok {
		return &source{}
	}
	if s.all[path] == nil {
		found := &source{map[string]string{}, map[string]string{}, map[string][]any{}, map[string]string{}}
		files := check.Must(filepath.Glob("../../../" + path + "/*.go"))(s.t)
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				file := check.Must(parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments))(s.t)
				ast.Inspect(file, found.read)
			}
		}
		s.all[path] = found
	}
	return s.all[path]
}

// read reads the types and constants of a declaration.
func (s *source) read(n ast.Node) bool {
	declared, ok := n.(*ast.GenDecl)
	if !ok {
		return true
	}
	for _, spec := range declared.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.types[spec.Name.Name] = spec.Doc.Text()
			if !declared.Lparen.IsValid() { // otherwise its comment is that of a group
				s.types[spec.Name.Name] = declared.Doc.Text()
			}
			if fields, ok := spec.Type.(*ast.StructType); ok {
				s.readFields(spec.Name.Name, fields)
			}
		case *ast.ValueSpec:
			s.readConstant(spec)
		}
	}
	return true
}

func (s *source) readFields(name string, fields *ast.StructType) {
	for _, field := range fields.Fields.List {
		text := field.Doc.Text() + field.Comment.Text()
		for _, id := range field.Names {
			s.fields[name+"."+id.Name] = sentence(text)
		}
	}
}

func (s *source) readConstant(spec *ast.ValueSpec) {
	kind, ok := spec.Type.(*ast.Ident)
	if !ok || len(spec.Values) != 1 {
		return
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return
	}
	s.constants[kind.Name] = append(s.constants[kind.Name], value)
	if meaning := strings.TrimSpace(spec.Comment.Text()); meaning != "" {
		s.meanings[kind.Name] += " " + sentence(value+": "+meaning)
	}
}

// field returns what the comment of a field says.
func (s *source) field(t reflect.Type, name string) string { return s.fields[base(t)+"."+name] }

// text returns what the comment of a type says, with its name in the API, and the examples, which are the indented
// parts of the comment.
func (s *source) text(t reflect.Type, name string) (words string, examples []any) {
	var paragraphs []string
	for _, block := range new(comment.Parser).Parse(s.types[base(t)]).Content {
		if code, ok := block.(*comment.Code); ok {
			var example any
			if json.Unmarshal([]byte(code.Text), &example) == nil {
				examples = append(examples, example)
			}
			continue
		}
		printed := new(comment.Printer).Text(&comment.Doc{Content: []comment.Block{block}})
		if text := sentence(string(printed)); text != "Or:" { // between examples
			paragraphs = append(paragraphs, text)
		}
	}
	words = strings.Join(paragraphs, "\n\n") + s.meanings[base(t)]
	words = regexp.MustCompile(`\b`+base(t)+`\b`).ReplaceAllString(words, name)
	words = regexp.MustCompile(`\[(\w+)\]`).ReplaceAllString(words, "$1")
	return strings.TrimSpace(words), examples
}

// base returns the name of a type without arguments.
func base(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// sentence returns a comment as sentences on one line.
func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	if first := []rune(text); unicode.IsLower(first[0]) && !strings.Contains(strings.Fields(text)[0], ":") {
		first[0] = unicode.ToUpper(first[0])
		text = string(first)
	}
	if !strings.ContainsAny(text[len(text)-1:], ".:?!") {
		text += "."
	}
	return text
}
