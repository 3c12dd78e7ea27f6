package web

import (
	"context"
	"net/http"

	"github.com/gorilla/websocket"

	"pressbox/auth"
)

// Socket answers with a websocket that, once it is known who opened it, says
// who that is and then repeats what it hears, until the session ends.
func Socket(s *Server) http.Handler {
	return s.guarded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := s.meet(w, r, func(conn *websocket.Conn, caller auth.Caller) guest { return &echo{conn, caller} })
		if err != nil {
			s.refuse(w, r, err)
		}
	}))
}

// An echo repeats what it hears.
type echo struct {
	*websocket.Conn
	caller auth.Caller
}

func (e *echo) serve(context.Context) {
	text := []byte(e.caller.Account.Name)
	for {
		if err := e.WriteMessage(websocket.TextMessage, text); err != nil {
			return
		}
		if string(text) == "panic" {
			panic("the socket has a bug")
		}
		var err error
		if _, text, err = e.ReadMessage(); err != nil {
			return
		}
	}
}

func (*echo) ask() {}

func (e *echo) hangUp(code int) { hangUp(e.Conn, code, "") }

// BareMe answers as GET /api/auth/me does, without asking who it is.
func BareMe(s *Server, account auth.Account) http.Handler {
	return s.guarded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visitOf(r.Context()).caller.Account = account
		if err := s.me(w, r); err != nil {
			s.refuse(w, r, err)
		}
	}))
}
