package org.mortise.opentelemetry;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.Locale;
import org.mortise.LockKind;
import org.mortise.LockListener;
import org.mortise.LossReason;
import org.mortise.MortiseClient;
import org.mortise.Status;

/**
 * A span {@code mortise.wait} for each wait and a span {@code mortise.hold} for each hold of a
 * client. Both are children of the span that is current when the acquire begins, and the hold has a
 * link to its wait. The span of a lost hold has the status ERROR.
 */
public final class MortiseTracing implements LockListener {
  private static final AttributeKey<String> NAME = AttributeKey.stringKey("mortise.lock.name");
  private static final AttributeKey<String> KIND = AttributeKey.stringKey("mortise.lock.kind");
  private static final AttributeKey<Long> TOKEN = AttributeKey.longKey("mortise.token");
  private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("mortise.outcome");
  private static final AttributeKey<String> REASON = AttributeKey.stringKey("mortise.loss.reason");

  private final Tracer tracer;

  /**
   * Makes a listener for {@link MortiseClient.Builder#lockListener}, of any number of clients.
   *
   * @param telemetry makes the tracer {@code org.mortise}
   */
  public MortiseTracing(OpenTelemetry telemetry) {
    tracer = telemetry.tracerBuilder("org.mortise").build();
  }

  @Override
  public Wait beginWait(String name, LockKind kind) {
    Context parent = Context.current();
    return new WaitSpan(parent, name, kind, begin("mortise.wait", parent, null, name, kind));
  }

  private Span begin(String what, Context parent, Span cause, String name, LockKind kind) {
    var builder =
        tracer
            .spanBuilder(what)
            .setParent(parent)
            .setAttribute(NAME, name)
            .setAttribute(KIND, text(kind));
    if (cause != null) builder.addLink(cause.getSpanContext());
    return builder.startSpan();
  }

  private static String text(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** Statuses above zero are normal outcomes. */
  private static void end(Span span, Status status, String outcome) {
    span.setAttribute(OUTCOME, outcome);
    if (status.code() < 0) span.setStatus(StatusCode.ERROR, text(status));
    span.end();
  }

  private final class WaitSpan implements Wait {
    private final Context parent;
    private final String name;
    private final LockKind kind;
    private final Span span;

    WaitSpan(Context parent, String name, LockKind kind, Span span) {
      this.parent = parent;
      this.name = name;
      this.kind = kind;
      this.span = span;
    }

    @Override
    public Hold granted(long token) {
      // The members of a multi have tokens, which the multi lacks.
      if (token != 0) span.setAttribute(TOKEN, token);
      end(span, Status.OK, "granted");
      Span hold = begin("mortise.hold", parent, span, name, kind);
      if (token != 0) hold.setAttribute(TOKEN, token);
      return new HoldSpan(hold);
    }

    @Override
    public void failed(Status status) {
      end(span, status, text(status));
    }
  }

  private static final class HoldSpan implements Hold {
    private final Span span;

    HoldSpan(Span span) {
      this.span = span;
    }

    @Override
    public void changed(LockKind kind, long token) {
      span.setAttribute(KIND, text(kind));
      span.setAttribute(TOKEN, token);
      span.addEvent(kind == LockKind.WRITE ? "upgraded" : "downgraded");
    }

    @Override
    public void released(Status status) {
      // A closed owner has released the lock as an unlock does.
      boolean isReleased = status == Status.OK || status == Status.CLOSED;
      end(span, isReleased ? Status.OK : status, isReleased ? "released" : text(status));
    }

    @Override
    public void lost(LossReason reason) {
      span.setAttribute(OUTCOME, "lost");
      span.setAttribute(REASON, text(reason));
      span.setStatus(StatusCode.ERROR, "the hold was lost: " + text(reason));
      span.end();
    }
  }
}
