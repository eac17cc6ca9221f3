package main

import (
	"context"
	"errors"
	"time"

	"github.com/mortise/mortise-go"
)

// named is a hold that a scenario has a name for.
type named struct {
	hold   *mortise.Hold
	handle *handle
	mode   string
}

var namedHolds = map[string]*named{}

// call makes a call on the hold by its name in README.md.
func (n *named) call(ctx context.Context, method string, given arguments) result {
	switch method {
	case "unlock":
		err := n.hold.Unlock(ctx)
		if !errors.Is(err, mortise.ErrBusy) {
			n.handle.remove(n.mode, n.hold)
		}
		return failed(err)
	case "extend":
		lease := time.Duration(given.number("lease_ms", 0)) * time.Millisecond
		return result{err: n.hold.Extend(ctx, lease), token: n.hold.Token()}
	case "export":
		return export(ctx, n.hold, given)
	case "progress":
		return n.handle.progressOf(n.hold)
	case "set_value":
		return failed(n.hold.SetValue(ctx, given["value"]))
	case "upgrade":
		return n.turn(ctx, "write", n.handle.object.(*mortise.RW).TryUpgrade)
	case "downgrade":
		return n.turn(ctx, "read", n.handle.object.(*mortise.RW).Downgrade)
	case "token":
		return number(n.hold.Token())
	case "valid_ms":
		return number(n.hold.Valid().Milliseconds())
	case "is_held":
		return truth(n.hold.IsHeld())
	}
	panic("no method " + method)
}

func export(ctx context.Context, hold *mortise.Hold, given arguments) result {
	lease := time.Duration(given.number("lease_ms", 0)) * time.Millisecond
	id, err := hold.Export(ctx, lease)
	return result{err: err, text: id}
}

func (n *named) turn(ctx context.Context, to string,
	turn func(context.Context, *mortise.Hold) error) result {
	if err := turn(ctx, n.hold); err != nil {
		return failed(err)
	}
	n.handle.remove(n.mode, n.hold)
	n.handle.add(to, n.hold)
	n.mode = to
	return result{token: n.hold.Token()}
}
