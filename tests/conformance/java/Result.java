import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import org.mortise.MortiseException;
import org.mortise.Status;

/** What a call came to; `failure` is null if it was not thrown. */
record Result(Status status, long token, Long value, String text, MortiseException failure) {
  static final Result OK = of(Status.OK);

  static Result of(Status status) {
    return new Result(status, 0, null, "", null);
  }

  static Result token(long token) {
    return new Result(Status.OK, token, null, "", null);
  }

  static Result number(long value) {
    return new Result(Status.OK, 0, value, "", null);
  }

  static Result truth(boolean is) {
    return number(is ? 1 : 0);
  }

  static Result text(String text) {
    return new Result(Status.OK, 0, null, text, null);
  }

  static Result with(long value, String text) {
    return new Result(Status.OK, 0, value, text, null);
  }

  /** A failure that is not one of Mortise is one of this program, and ends it. */
  static Result of(Throwable thrown) {
    Throwable failure = thrown instanceof CompletionException ? thrown.getCause() : thrown;
    if (failure instanceof MortiseException problem) {
      return new Result(problem.status(), 0, null, problem.getMessage(), problem);
    }
    failure.printStackTrace();
    Runtime.getRuntime().halt(2);
    return OK;
  }

  @Override
  public String toString() {
    var line = new StringBuilder(status.name().toLowerCase(Locale.ROOT));
    if (token != 0) line.append(" token=").append(token);
    if (value != null) line.append(" value=").append(value);
    if (failure != null && failure.code() < 0) {
      line.append(" retryable=").append(failure.isRetryable() ? 1 : 0);
      line.append(" ambiguous=").append(failure.isAmbiguous() ? 1 : 0);
    }
    if (failure != null) {
      var printed = new StringWriter();
      failure.printStackTrace(new PrintWriter(printed));
      line.append(" printed=").append(encode(printed.toString()));
    }
    if (!text.isEmpty()) line.append(" text=").append(encode(text));
    return line.toString();
  }

  static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
