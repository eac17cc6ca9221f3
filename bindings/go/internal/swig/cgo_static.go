//go:build mortise_static

package swig

// The archive by its file name, as -lmortise would find the shared library beside it. What it needs
// itself is what Libs.private of mortise.pc says.
//
// #cgo pkg-config: --cflags-only-I mortise
// #cgo LDFLAGS: -l:libmortise.a -lstdc++ -lm -pthread
import "C"
