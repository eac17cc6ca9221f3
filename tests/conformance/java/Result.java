import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import org.mortise.MortiseException;
import org.mortise.Status;

/** What a call came to. */
record Result(Status status, long token, Long value, String text) {
  static final Result OK = of(Status.OK);

  static Result of(Status status) {
    return new Result(status, 0, null, "");
  }

  static Result token(long token) {
    return new Result(Status.OK, token, null, "");
  }

  static Result number(long value) {
    return new Result(Status.OK, 0, value, "");
  }

  static Result truth(boolean is) {
    return number(is ? 1 : 0);
  }

  /** What is no failure of Mortise is one of this program, and ends it. */
  static Result of(Throwable thrown) {
    Throwable failure = thrown instanceof CompletionException ? thrown.getCause() : thrown;
    if (failure instanceof MortiseException said) {
      return new Result(said.status(), 0, null, said.getMessage());
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
    if (!text.isEmpty()) {
      String encoded = URLEncoder.encode(text, StandardCharsets.UTF_8);
      line.append(" text=").append(encoded.replace("+", "%20"));
    }
    return line.toString();
  }
}
