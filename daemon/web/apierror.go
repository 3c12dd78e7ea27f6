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

// A NtfyError is a problem in the form of ntfy, whose clients accept no other members.
//
//	{"code": 42201, "http": 422, "error": "delay: must be a duration such as 30m"}
type NtfyError struct {
	Code  int    `json:"code"` // the status and two digits
	HTTP  int    `json:"http" minimum:"400" maximum:"599"`
	Error string `json:"error"`
}

func newNtfyError(p Problem) NtfyError {
	e := NtfyError{Code: p.Status*100 + 1, HTTP: p.Status, Error: p.Detail}
	for i, v := range p.Errors {
		detail := strings.TrimPrefix(v.Path, "/") + ": " + v.Detail
		if i > 0 {
			detail = e.Error + "; " + detail
		}
		e.Error = detail
	}
	return e
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
