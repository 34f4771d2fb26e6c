//go:build tools

// Package tools keeps the server in go.mod, from which it is built.
package tools

import _ "github.com/stripe/stripe-mock"
