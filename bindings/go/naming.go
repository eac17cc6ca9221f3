package mortise

import (
	"context"
	"strconv"
	"strings"
)

// ofSeveral begins what is about no particular member of a Multi, also in C.
const ofSeveral = "multi of "

// named makes the failure of a call on this handle one that says of which lock it is, unless it
// does. A wrong argument is named by itself.
func (h *handle) named(err error) error {
	failed, _ := err.(*Error)
	if failed == nil || h == nil || failed.Status == ErrInvalidArgument ||
		failed.Lock != "" || strings.HasPrefix(failed.Message, ofSeveral) {
		return err
	}
	named := *failed // it may be the reason of a hold's end, which others have, too
	named.Lock = h.name
	named.Message = h.title() + ": " + failed.Message
	return &named
}

// title is what a message begins with.
func (h *handle) title() string {
	if h.kind != multiKind {
		return quoted(h.name)
	}
	const most = 3
	var names []string
	for _, member := range h.members {
		if len(names) < most {
			names = append(names, quoted(member.name))
		}
	}
	title := ofSeveral + strings.Join(names, ", ")
	if more := len(h.members) - most; more > 0 {
		title += " and " + strconv.Itoa(more) + " more"
	}
	return title
}

// failure is one that this package finds by itself about the handle.
func (h *handle) failure(status Status, message string) *Error {
	return h.named(failure(status, message)).(*Error)
}

// told completes the failure of a call: of which lock it is, and what ended its context.
func (h *handle) told(ctx context.Context, err error) error { return under(ctx, h.named(err)) }

// quoted is a name as messages of C show it: in one line, and not too long for it.
func quoted(name string) string {
	const longest = 64
	var shown strings.Builder
	shown.WriteByte('"')
	for i := 0; i < len(name) && i < longest; i++ {
		if name[i] < ' ' || name[i] > '~' {
			shown.WriteByte('?')
		} else {
			shown.WriteByte(name[i])
		}
	}
	if len(name) > longest {
		shown.WriteString("…")
	}
	shown.WriteByte('"')
	return shown.String()
}
