package org.mortise.spring.integration;

import java.util.Objects;
import org.mortise.MortiseClient;
import org.mortise.MortiseOptions;

/** The server that tests/support/with_server has started. */
final class Server {
  private Server() {}

  static String url() {
    return named("MORTISE_TEST_URL");
  }

  static String tcpUrl() {
    return named("MORTISE_TEST_TCP_URL");
  }

  private static String named(String variable) {
    return Objects.requireNonNull(
        System.getenv(variable), "no " + variable + ": run this by tests/support/with_server");
  }

  /** Of a client of its own, as on another host. */
  static MortiseLockRegistry registry(MortiseOptions options) {
    return new MortiseLockRegistry(MortiseClient.open(url()), "test", options);
  }
}
