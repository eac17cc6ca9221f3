package org.mortise;

import java.io.IOException;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Stands between clients and a server, and can hold back the server's replies. It ends with its
 * block, or, in a field with {@code @RegisterExtension}, with each test.
 */
final class Proxy implements AutoCloseable, AfterEachCallback {
  private final Launched launched;

  Proxy(Redis redis) {
    launched = new Launched("proxy", redis.socket().toString());
  }

  String url() {
    return "unix://" + launched.socket("proxy.sock");
  }

  /** From now on the server's replies and messages stay here. */
  void holdAnswers() throws IOException {
    launched.control("freeze answers");
  }

  /** Passes on what was held back, and what comes from now on. */
  void letAnswers() throws IOException {
    launched.control("thaw");
  }

  /** Until something is held back. */
  void untilAnswered() throws Exception {
    Waiting.until("an answer", this::holdsAnswer);
  }

  private boolean holdsAnswer() throws IOException {
    launched.control("look");
    return launched.number() > 0;
  }

  @Override
  public void close() throws IOException {
    launched.close();
  }

  @Override
  public void afterEach(ExtensionContext context) throws IOException {
    close();
  }
}
