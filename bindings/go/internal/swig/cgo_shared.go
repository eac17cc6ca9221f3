//go:build linux && !mortise_static

// Package swig has one function per function of the C library, and nothing else. It is generated
// from bindings/swig by `./dev generate`, but for the files that say how to link.
package swig

// #cgo pkg-config: mortise
import "C"
