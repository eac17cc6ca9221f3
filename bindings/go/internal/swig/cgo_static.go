//go:build linux && mortise_static

package swig

// #cgo pkg-config: mortise-static
import "C"
