//go:build tools

// Package tools pins the OpenFGA server command, so that `go build` in this folder makes exactly the version in go.mod.
package tools

import _ "github.com/openfga/openfga/cmd/openfga"
