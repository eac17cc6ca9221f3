// Package mortiseotel makes spans of OpenTelemetry from the waits and holds of a client.
//
// New returns a listener for mortise.Open. Each wait is a span "mortise.wait", and each hold a span
// "mortise.hold". Both are children of the span in the context of the acquire, and the hold has a
// link to its wait. The span of a lost hold has the status Error.
package mortiseotel

import (
	"context"
	"errors"
	"strings"

	mortise "github.com/mortise/mortise-go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

const (
	nameKey    = attribute.Key("mortise.lock.name")
	kindKey    = attribute.Key("mortise.lock.kind")
	tokenKey   = attribute.Key("mortise.token")
	outcomeKey = attribute.Key("mortise.outcome")
	reasonKey  = attribute.Key("mortise.loss.reason")
)

var reasons = map[mortise.Reason]string{
	mortise.Expired:    "expired",
	mortise.Replaced:   "replaced",
	mortise.ServerLost: "server_lost",
	mortise.MaxHold:    "max_hold",
	mortise.Forced:     "forced",
	mortise.Stalled:    "stalled",
}

type tracing struct{ tracer trace.Tracer }

// New returns a listener for mortise.WithListener that makes spans with a tracer of this provider.
// If it is nil, the global provider is used.
func New(provider trace.TracerProvider) mortise.Listener {
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	return tracing{provider.Tracer("github.com/mortise/mortise-go/mortiseotel")}
}

type waitSpan struct {
	tracing
	ctx  context.Context
	name string
	kind mortise.LockKind
	span trace.Span
}

func (t tracing) BeginWait(
	ctx context.Context, name string, kind mortise.LockKind,
) mortise.WaitListener {
	return &waitSpan{t, ctx, name, kind, t.begin(ctx, "mortise.wait", name, kind)}
}

func (t tracing) begin(ctx context.Context, what, name string, kind mortise.LockKind,
	options ...trace.SpanStartOption) trace.Span {
	options = append(options,
		trace.WithAttributes(nameKey.String(name), kindKey.String(string(kind))))
	_, span := t.tracer.Start(ctx, what, options...)
	return span
}

func (w *waitSpan) Granted(token int64) mortise.HoldListener {
	setToken(w.span, token)
	w.span.SetAttributes(outcomeKey.String("granted"))
	w.span.End()
	link := trace.WithLinks(trace.Link{SpanContext: w.span.SpanContext()})
	hold := w.begin(w.ctx, "mortise.hold", w.name, w.kind, link)
	setToken(hold, token)
	return holdSpan{hold}
}

// setToken omits that of a multi, whose members have their own tokens.
func setToken(span trace.Span, token int64) {
	if token != 0 {
		span.SetAttributes(tokenKey.Int64(token))
	}
}

func (w *waitSpan) Failed(err error) { end(w.span, err) }

type holdSpan struct{ span trace.Span }

func (h holdSpan) Changed(kind mortise.LockKind, token int64) {
	h.span.SetAttributes(kindKey.String(string(kind)))
	setToken(h.span, token)
	event := "downgraded"
	if kind == mortise.KindWrite {
		event = "upgraded"
	}
	h.span.AddEvent(event)
}

func (h holdSpan) Ended(err error) {
	switch {
	case err == nil || errors.Is(err, mortise.ErrClosed): // a close releases as an unlock does
		h.span.SetAttributes(outcomeKey.String("released"))
		h.span.End()
	case errors.Is(err, mortise.ErrLost):
		h.span.SetAttributes(outcomeKey.String("lost"), reasonKey.String(reasonOf(err)))
		h.span.SetStatus(codes.Error, "the hold was lost: "+reasonOf(err))
		h.span.End()
	default:
		end(h.span, err)
	}
}

func reasonOf(err error) string {
	var failed *mortise.Error
	if errors.As(err, &failed) {
		if text, isKnown := reasons[failed.Reason]; isKnown {
			return text
		}
	}
	return "unknown"
}

// end is for an error. Statuses above zero are normal outcomes.
func end(span trace.Span, err error) {
	outcome := "error"
	var status mortise.Status
	if errors.As(err, &status) {
		text := strings.TrimPrefix(status.Error(), "mortise: ")
		outcome = strings.ReplaceAll(text, " ", "_")
	}
	if status <= 0 {
		span.SetStatus(codes.Error, err.Error())
	}
	span.SetAttributes(outcomeKey.String(outcome))
	span.End()
}
