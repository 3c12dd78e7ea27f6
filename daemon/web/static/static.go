// Package static embeds the files that the server sends to browsers: the page
// and its vendored libraries, the sign-in pages, and the page of the API's
// documentation.
package static

import "embed"

//go:generate go test -run TestGenerated . -update

// Files holds the files by their paths below this folder.
//
//go:embed index.html signin.html docs.html docs.js manifest.webmanifest
//go:embed page/*.js page/css/*.css page/languages/*.js vendor/*.js vendor/*.woff2 vendor/*.LICENSE icons/*
var Files embed.FS
