package signin

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
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

// mustRead returns one of our embedded files.
func mustRead(name string) string {
	text, err := static.Files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

var (
	templates = template.Must(template.New("signin").Parse(mustRead("signin.html")))
	style     = mustRead("signin.css")
)

// pages are the server's own pages for signing in. They need no script.
type pages struct{ policy string }

// newPages returns the pages. Their forms may end at the web client: browsers
// check every redirect of a form against form-action.
func newPages(frontend string) *pages {
	sum := sha256.Sum256([]byte(style))
	ends := "'self'"
	if frontend != "" {
		ends += " " + frontend
	}
	return &pages{"default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action " + ends + "; frame-ancestors 'none'; base-uri 'none'"}
}

// A messagePage is a page that says one thing.
type messagePage struct {
	Title, Text string
	Again       string // where to try again; "" means nowhere
}

// formsPage is the page with the two forms.
type formsPage struct {
	Title  string
	Action string // where they are sent: with the authorization request
	Cancel string
	Create bool   // whether there is a second form
	Invite bool   // whether it needs an invite
	Form   string // the one that was sent, "signin" or "create"; "" before
	Wrong  string // what was wrong with it
	Name   string // what was typed; passphrases are not repeated
}

// show answers with a page.
func (p *pages) show(w http.ResponseWriter, status int, name string, data any) error {
	var page bytes.Buffer
	values := struct {
		Style template.CSS
		Page  any
	}{template.CSS(style), data} //nolint:gosec // our own
	if err := templates.ExecuteTemplate(&page, name, values); err != nil {
		return fmt.Errorf("write the page %s: %w", name, err)
	}
	w.Header().Set("Content-Security-Policy", p.policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // the client has gone; there is no one to tell
	return nil
}

func (h *handlers) localRoutes() []web.Route {
	page := []web.Response{
		{Status: http.StatusOK, Description: "A page with one or two forms.", Media: []string{"text/html"}},
		{Status: http.StatusBadRequest, Description: "A page: this is no sign-in that was begun here.", Media: []string{"text/html"}},
	}
	return []web.Route{
		web.NewRoute(http.MethodGet, auth.AuthorizePath, web.Public, h.localForms, web.Operation{
			ID: "getLocalForms", Tag: "sign-in", Summary: "Where accounts of the appliance sign in and are made",
			Responses: page, Problems: []int{http.StatusNotFound},
		}),
		web.NewRoute(http.MethodPost, auth.AuthorizePath, web.Public, h.localSubmit, web.Operation{
			ID: "submitLocalForm", Tag: "sign-in", Summary: "Sign in, or make an account",
			Form: "LocalForm",
			Responses: append(page[1:2:2],
				web.Response{Status: http.StatusSeeOther, Description: "Back to this appliance, as any provider would.", Location: true},
				web.Response{Status: http.StatusUnprocessableEntity, Description: "The page, and what is wrong.", Media: []string{"text/html"}},
				web.Response{Status: http.StatusTooManyRequests, Description: "The page, and how long to wait.", Media: []string{"text/html"}}),
			Problems: []int{http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType},
		}),
	}
}

// localRequest reads the authorization request in the address.
func (h *handlers) localRequest(r *http.Request) (auth.LocalRequest, formsPage, error) {
	local := h.Local
	if local == nil {
		return auth.LocalRequest{}, formsPage{}, web.ErrNotFound
	}
	q := r.URL.Query()
	request, err := local.ParseRequest(q, h.redirectURI(r))
	if err != nil {
		return auth.LocalRequest{}, formsPage{}, web.ErrNoSignIn
	}
	return request, formsPage{
		Title: "Sign in", Action: auth.AuthorizePath + "?" + q.Encode(), Cancel: local.Deny(request),
		Create: local.SignUp() != auth.SignUpClosed, Invite: local.SignUp() == auth.SignUpInvite,
	}, nil
}

func (h *handlers) localForms(w http.ResponseWriter, r *http.Request) error {
	_, page, err := h.localRequest(r)
	if err != nil {
		return h.notBegun(w, err)
	}
	return h.pages.show(w, http.StatusOK, "forms", page)
}

// notBegun is the page for an address that no sign-in led to.
func (h *handlers) notBegun(w http.ResponseWriter, err error) error {
	if !errors.Is(err, web.ErrNoSignIn) {
		return err
	}
	return h.pages.show(w, http.StatusBadRequest, "notice", messagePage{
		Title: "Not signed in", Text: auth.CodeInvalidState.Description(), Again: web.LoginPath,
	})
}

func (h *handlers) localSubmit(w http.ResponseWriter, r *http.Request) error {
	request, page, err := h.localRequest(r)
	if err != nil {
		return h.notBegun(w, err)
	}
	claim, err := h.claim(w, r)
	if err != nil {
		return err
	}
	page.Form, page.Name = r.PostForm.Get("form"), claim.Name
	act := h.Local.SignIn
	if page.Form == "create" {
		act = h.Local.Create
	}
	to, err := act(r.Context(), request, claim)
	if err != nil {
		return h.again(w, page, err)
	}
	// Never 307, which would send the passphrase on (RFC 9700 §4.12).
	return redirect(w, http.StatusSeeOther, to)
}

// claim reads what was typed.
func (h *handlers) claim(w http.ResponseWriter, r *http.Request) (auth.Credentials, error) {
	r.Body = http.MaxBytesReader(w, r.Body, web.MaxBody)
	err := r.ParseForm()
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return auth.Credentials{}, web.ErrBodyTooLarge
	}
	if err != nil || len(r.PostForm) == 0 {
		return auth.Credentials{}, web.ErrNotForm
	}
	return auth.Credentials{
		Name: r.PostForm.Get("name"), Passphrase: r.PostForm.Get("passphrase"), Invite: r.PostForm.Get("invite"),
		From: web.ClientAddr(r),
	}, nil
}

// again shows the page once more, with what was wrong. What is not the
// person's fault is not the page's to say.
func (h *handlers) again(w http.ResponseWriter, page formsPage, err error) error {
	status := http.StatusUnprocessableEntity
	if wait, ok := errors.AsType[*auth.ThrottledError](err); ok {
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", strconv.Itoa(int((wait.Wait+time.Second-1)/time.Second)))
		page.Wrong = wait.Error()
		return h.pages.show(w, status, "forms", page)
	}
	for _, known := range []error{
		auth.ErrWrongCredentials, auth.ErrInvalidName, auth.ErrPassphraseTooShort, auth.ErrPassphraseTooLong, auth.ErrPassphraseTooCommon, auth.ErrNameTaken, auth.ErrNotInvited,
	} {
		if errors.Is(err, known) {
			page.Wrong = known.Error()
			return h.pages.show(w, status, "forms", page)
		}
	}
	return err
}
