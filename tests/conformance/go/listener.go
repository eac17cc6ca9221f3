package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"

	"github.com/mortise/mortise-go"
)

var listeners = map[string]*listener{} // by the names of their clients

// listener prints the waits and the holds of a client while it is on.
type listener struct {
	client string
	run    int
	isOn   atomic.Bool
}

func (l *listener) BeginWait(
	_ context.Context, name string, kind mortise.LockKind,
) mortise.WaitListener {
	w := &waitListener{l, name, kind}
	w.notify("wait_began", 0, nil)
	return w
}

type waitListener struct {
	of   *listener
	name string
	kind mortise.LockKind
}

func (w *waitListener) Granted(token int64) mortise.HoldListener {
	w.notify("hold_began", token, nil)
	return &holdListener{w}
}

func (w *waitListener) Failed(err error) { w.notify("wait_failed", 0, err) }

func (w *waitListener) notify(what string, token int64, err error) {
	if !w.of.isOn.Load() {
		return
	}
	status := "ok"
	var failure mortise.Status
	if errors.As(err, &failure) {
		status = statusNames[failure]
	}
	details := new(mortise.Error)
	errors.As(err, &details)
	h := &handle{name: w.of.client, run: w.of.run}
	h.notify(what, "token=%d reason=%d text=%s", token, details.Reason,
		url.PathEscape(fmt.Sprintf("%s %s %s", w.kind, w.name, status)))
}

// holdListener has the present kind of its hold.
type holdListener struct{ *waitListener }

func (h *holdListener) Changed(kind mortise.LockKind, token int64) {
	h.kind = kind
	h.notify("hold_changed", token, nil)
}

func (h *holdListener) Ended(err error) { h.notify("hold_ended", 0, err) }
