package web

import (
	"net/http"
	"strings"
)

// An apiError is the error of a problem in the form of OpenAI's API, whose clients read
// nothing else of it.
type apiError struct {
	Message string  `json:"message"`
	Type    string  `json:"type" enum:"invalid_request_error,rate_limit_error,server_error"`
	Param   *string `json:"param"` // field with the first violation
	Code    string  `json:"code"`
}

// isOpenAI reports whether a path belongs to OpenAI's API.
func isOpenAI(path string) bool {
	return strings.HasPrefix(strings.TrimPrefix(path, "/api"), "/v1/")
}

func newAPIError(p Problem) *apiError {
	e := &apiError{Message: p.Detail, Type: "invalid_request_error", Code: p.Code}
	switch {
	case p.Status == http.StatusTooManyRequests:
		e.Type = "rate_limit_error"
	case p.Status >= http.StatusInternalServerError:
		e.Type = "server_error"
	}
	for i, v := range p.Errors {
		member := strings.TrimPrefix(v.Path, "/")
		if i == 0 {
			e.Param, e.Message = &member, v.Detail
		} else {
			e.Message += "; " + member + ": " + v.Detail
		}
	}
	return e
}
