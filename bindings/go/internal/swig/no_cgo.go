//go:build linux && !cgo

package swig

// Fails the build with a name that says why, instead of "build constraints exclude all Go files".
var _ = this_package_needs_cgo_and_a_C_compiler
