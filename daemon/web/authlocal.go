package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"pressbox/auth"
)

//go:embed static/signin.html
var signInPage string

//go:embed static/signin.css
var signInStyle string

// pages are the server's own pages about signing in. They need no script.
type pages struct {
	*template.Template
	policy string
}

// newPages prepares the pages. A form that ends at the web client must be
// allowed to: browsers hold every hop of a form's way against form-action.
func newPages(frontend string) (*pages, error) {
	t, err := template.New("signin").Parse(signInPage)
	if err != nil {
		return nil, fmt.Errorf("read the sign-in page: %w", err)
	}
	sum := sha256.Sum256([]byte(signInStyle))
	ends := "'self'"
	if frontend != "" {
		ends += " " + frontend
	}
	return &pages{t, "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action " + ends + "; frame-ancestors 'none'; base-uri 'none'"}, nil
}

// A notice is a page that says one thing.
type notice struct {
	Title, Text string
	Again       string // where to try again; "" means nowhere
}

// forms is the page with the two forms.
type forms struct {
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
	}{template.CSS(signInStyle), data} //nolint:gosec // our own
	if err := p.ExecuteTemplate(&page, name, values); err != nil {
		return fmt.Errorf("write the page %s: %w", name, err)
	}
	w.Header().Set("Content-Security-Policy", p.policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // the client has gone; there is no one to tell
	return nil
}

func (s *Server) localRoutes() []route {
	page := []success{
		{status: http.StatusOK, description: "A page with one or two forms.", media: []string{"text/html"}},
		{status: http.StatusBadRequest, description: "A page: this is no sign-in that was begun here.", media: []string{"text/html"}},
	}
	return []route{
		{http.MethodGet, auth.AuthorizePath, everyone, s.localForms, operation{
			id: "getLocalForms", tag: "sign-in", summary: "Where accounts of the appliance sign in and are made",
			answers: page, problems: []int{http.StatusNotFound},
		}},
		{http.MethodPost, auth.AuthorizePath, everyone, s.localSubmit, operation{
			id: "submitLocalForm", tag: "sign-in", summary: "Sign in, or make an account",
			form: "LocalForm",
			answers: append(page[1:2:2],
				success{status: http.StatusSeeOther, description: "Back to this appliance, as any provider would.", location: true},
				success{status: http.StatusUnprocessableEntity, description: "The page, and what is wrong.", media: []string{"text/html"}},
				success{status: http.StatusTooManyRequests, description: "The page, and how long to wait.", media: []string{"text/html"}}),
			problems: []int{http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType},
		}},
	}
}

// localRequest reads the authorization request in the address.
func (s *Server) localRequest(r *http.Request) (auth.LocalRequest, forms, error) {
	local := s.cfg.SignIn.Local
	if local == nil {
		return auth.LocalRequest{}, forms{}, errNoSuchPage
	}
	q := r.URL.Query()
	request, err := local.ParseRequest(q, s.redirectURI(r))
	if err != nil {
		return auth.LocalRequest{}, forms{}, errNoSignIn
	}
	return request, forms{
		Title: "Sign in", Action: auth.AuthorizePath + "?" + q.Encode(), Cancel: local.Deny(request),
		Create: local.SignUp() != auth.SignUpClosed, Invite: local.SignUp() == auth.SignUpInvite,
	}, nil
}

func (s *Server) localForms(w http.ResponseWriter, r *http.Request) error {
	_, page, err := s.localRequest(r)
	if err != nil {
		return s.notBegun(w, err)
	}
	return s.pages.show(w, http.StatusOK, "forms", page)
}

// notBegun is the page for an address that no sign-in led to.
func (s *Server) notBegun(w http.ResponseWriter, err error) error {
	if !errors.Is(err, errNoSignIn) {
		return err
	}
	return s.pages.show(w, http.StatusBadRequest, "notice", notice{
		Title: "Not signed in", Text: auth.CodeInvalidState.Description(), Again: loginPath,
	})
}

func (s *Server) localSubmit(w http.ResponseWriter, r *http.Request) error {
	request, page, err := s.localRequest(r)
	if err != nil {
		return s.notBegun(w, err)
	}
	claim, err := s.claim(w, r)
	if err != nil {
		return err
	}
	page.Form, page.Name = r.PostForm.Get("form"), claim.Name
	act := s.cfg.SignIn.Local.SignIn
	if page.Form == "create" {
		act = s.cfg.SignIn.Local.Create
	}
	to, err := act(r.Context(), request, claim)
	if err != nil {
		return s.again(w, page, err)
	}
	// Never 307, which would send the passphrase on (RFC 9700 §4.12).
	return redirect(w, http.StatusSeeOther, to)
}

// claim reads what was typed.
func (s *Server) claim(w http.ResponseWriter, r *http.Request) (auth.Credentials, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	err := r.ParseForm()
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return auth.Credentials{}, errBodyTooLarge
	}
	if err != nil || len(r.PostForm) == 0 {
		return auth.Credentials{}, errNotForm
	}
	return auth.Credentials{
		Name: r.PostForm.Get("name"), Passphrase: r.PostForm.Get("passphrase"), Invite: r.PostForm.Get("invite"),
		From: visitOf(r.Context()).client,
	}, nil
}

// again shows the page once more, with what was wrong. What is not the
// person's fault is not the page's to say.
func (s *Server) again(w http.ResponseWriter, page forms, err error) error {
	status := http.StatusUnprocessableEntity
	if wait, ok := errors.AsType[*auth.ThrottledError](err); ok {
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", strconv.Itoa(int((wait.Wait+time.Second-1)/time.Second)))
		page.Wrong = wait.Error()
		return s.pages.show(w, status, "forms", page)
	}
	for _, known := range []error{
		auth.ErrWrongCredentials, auth.ErrInvalidName, auth.ErrPassphraseTooShort, auth.ErrPassphraseTooLong, auth.ErrPassphraseTooCommon, auth.ErrNameTaken, auth.ErrNotInvited,
	} {
		if errors.Is(err, known) {
			page.Wrong = known.Error()
			return s.pages.show(w, status, "forms", page)
		}
	}
	return err
}
