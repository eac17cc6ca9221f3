//go:build !linux

package swig

// Fails the build with a name that says why, before a C compiler or pkg-config is looked for.
var _ = mortise_runs_on_Linux_only
