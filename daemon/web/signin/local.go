package signin

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"pressbox/auth"
	"pressbox/daemon/web"
	"pressbox/daemon/web/static"
)

//nolint:gochecknoglobals // parsed once, never changed
var templates = template.Must(template.ParseFS(static.Files, "signin.html"))

// pages shows the server's own sign-in pages, in the style of the page. They contain no script.
type pages struct {
	server *web.Server
	policy string
}

// newPages returns the pages. Their policy allows redirects from a form to the
// web client, because browsers check each redirect against form-action.
func newPages(s *web.Server, frontend string) *pages {
	targets := "'self'"
	if frontend != "" {
		targets += " " + frontend
	}
	return &pages{s, "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; form-action " +
		targets +
		"; frame-ancestors 'none'; base-uri 'none'"}
}

// A messagePage is the data of a page with one message.
type messagePage struct {
	Text  string // key of the message
	Again string // URL of the link to try again; "" means no link
}

// A formsPage is the data of the page with the forms to sign in and to sign up.
type formsPage struct {
	Action string // URL of the forms, with the authorization request
	Cancel string // URL that cancels the sign-in
	Create bool   // show the form to sign up
	Invite bool   // which requires an invite
	Code   string // invite in the link that the user opened; "" if none
	Form   string // submitted form, "signin" or "create"; "" if none
	Wrong  string // error of the submitted form
	Field  string // "name", "passphrase" or "invite", which the error is about
	Name   string // submitted name; the passphrase is not repeated
}

// A document is the data of a template.
type document struct {
	Language string
	Files    string // path below which the page's files are
	Title    string // key of the page's title
	Page     any
}

// T returns a text in the language of the document.
func (d document) T(key string) string {
	return translations[d.Language].of(key, auth.MinPassphraseLength)
}

// show writes a page from a template, in a language.
func (p *pages) show(w http.ResponseWriter, language string, status int, name string, data any) error {
	var page bytes.Buffer
	title := map[bool]string{true: "signin", false: "title"}[name == "forms"]
	values := document{language, p.server.PageFiles(), title, data}
	if err := templates.ExecuteTemplate(&page, name, values); err != nil {
		return fmt.Errorf("write the page %s: %w", name, err)
	}
	w.Header().Set("Content-Security-Policy", p.policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", language)
	w.Header().Add("Vary", "Accept-Language, Cookie")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // fails only if the client disconnected
	return nil
}

func (h *handlers) localRoutes() []web.Route {
	page := []web.Response{
		{Status: http.StatusOK, Description: "A page with a form to sign in and, if sign-up is allowed, " +
			"one to create an account.", Media: []string{"text/html"}},
		{
			Status: http.StatusBadRequest, Description: "A page: unknown or expired sign-in.",
			Media: []string{"text/html"},
		},
	}
	return []web.Route{
		web.NewRoute(http.MethodGet, auth.AuthorizePath, web.Public, h.localForms, web.Operation{
			ID: "getLocalForms", Tag: "sign-in", Summary: "Get the page to sign in or to create a local account",
			Responses: page, Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodPost, auth.AuthorizePath, web.Public, h.localSubmit, web.Operation{
			ID: "submitLocalForm", Tag: "sign-in", Summary: "Sign in or create a local account",
			Form: localForm{},
			Responses: append(page[1:2:2],
				web.Response{Status: http.StatusSeeOther, Description: "Redirect to the redirect URI.", Location: true},
				web.Response{
					Status: http.StatusUnprocessableEntity, Description: "The page with an error message.",
					Media: []string{"text/html"},
				},
				web.Response{
					Status: http.StatusTooManyRequests, Description: "The page with the time to wait.",
					Media: []string{"text/html"},
				}),
			Problems: []int{http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType},
		}),
	}
}

// A localForm is a form of the sign-in pages.
type localForm struct {
	Form       string   `json:"form" enum:"signin,create" default:"signin"`
	Name       string   `json:"name" required:"true"`
	Passphrase string   `json:"passphrase" required:"true"`
	Invite     string   `json:"invite"`
	_          struct{} `additionalProperties:"true"`
}

// localRequest parses the authorization request in the URL and returns it with
// the page for it.
func (h *handlers) localRequest(r *http.Request) (auth.LocalRequest, formsPage, error) {
	local := h.Local
	if local == nil {
		return auth.LocalRequest{}, formsPage{}, web.ErrNotFound
	}
	q := r.URL.Query()
	request, err := local.ParseRequest(q, h.redirectURI(r))
	if err != nil {
		return auth.LocalRequest{}, formsPage{}, errNoSignIn
	}
	policy := local.SignUp().For(web.ClientAddr(r))
	return request, formsPage{
		Action: auth.AuthorizePath + "?" + q.Encode(), Cancel: local.Deny(request),
		Create: policy != auth.SignUpClosed, Invite: policy == auth.SignUpInvite, Code: q.Get("invite"),
	}, nil
}

func (h *handlers) localForms(w http.ResponseWriter, r *http.Request) error {
	_, page, err := h.localRequest(r)
	if err != nil {
		return h.unknownSignIn(w, r, err)
	}
	return h.pages.show(w, h.Language(r), http.StatusOK, "forms", page)
}

// unknownSignIn shows the page for a URL without a valid authorization request;
// it returns other errors than errNoSignIn unchanged.
func (h *handlers) unknownSignIn(w http.ResponseWriter, r *http.Request, err error) error {
	if !errors.Is(err, errNoSignIn) {
		return err
	}
	return h.pages.show(w, h.Language(r), http.StatusBadRequest, "notice", messagePage{
		Text: "lost", Again: web.LoginPath,
	})
}

func (h *handlers) localSubmit(w http.ResponseWriter, r *http.Request) error {
	request, page, err := h.localRequest(r)
	if err != nil {
		return h.unknownSignIn(w, r, err)
	}
	credentials, err := readCredentials(w, r)
	if err != nil {
		return err
	}
	page.Form, page.Name = r.PostForm.Get("form"), credentials.Name
	page.Code = credentials.Invite
	signIn := h.Local.SignIn
	if page.Form == "create" {
		signIn = h.Local.Create
	}
	to, err := signIn(r.Context(), request, credentials)
	if err != nil {
		return h.showError(w, r, page, err)
	}
	// Not 307, which would resend the passphrase (RFC 9700 section 4.12).
	return redirect(w, http.StatusSeeOther, to)
}

// readCredentials reads the submitted form.
func readCredentials(w http.ResponseWriter, r *http.Request) (auth.Credentials, error) {
	r.Body = http.MaxBytesReader(w, r.Body, web.MaxBody)
	err := r.ParseForm()
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return auth.Credentials{}, web.ErrBodyTooLarge
	}
	if err != nil || len(r.PostForm) == 0 {
		return auth.Credentials{}, errNotForm
	}
	return auth.Credentials{
		Name: r.PostForm.Get("name"), Passphrase: r.PostForm.Get("passphrase"), Invite: r.PostForm.Get("invite"),
		From: web.ClientAddr(r),
	}, nil
}

// showError shows the forms with the error message; it returns errors that the
// user cannot correct.
func (h *handlers) showError(w http.ResponseWriter, r *http.Request, page formsPage, err error) error {
	status := http.StatusUnprocessableEntity
	if wait, ok := errors.AsType[*auth.ThrottledError](err); ok {
		status = http.StatusTooManyRequests
		seconds := int((wait.Wait + time.Second - 1) / time.Second)
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		page.Wrong, page.Field = translations[h.Language(r)].of("wait", seconds), "passphrase"
		return h.pages.show(w, h.Language(r), status, "forms", page)
	}
	if m, ok := mistakeOf(err); ok {
		page.Wrong, page.Field = translations[h.Language(r)].of(m.key, m.n), m.field
		return h.pages.show(w, h.Language(r), status, "forms", page)
	}
	return err
}
