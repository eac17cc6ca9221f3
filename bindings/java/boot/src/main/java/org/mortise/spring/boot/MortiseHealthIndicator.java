package org.mortise.spring.boot;

import org.mortise.MortiseClient;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Up if the servers reply to a request that is sent for each check. */
final class MortiseHealthIndicator extends AbstractHealthIndicator {
  private final MortiseClient client;

  MortiseHealthIndicator(MortiseClient client) {
    super("Mortise's servers do not reply");
    this.client = client;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    // Only a request shows that locks can be acquired now.
    client.ping();
    builder.up().withDetail("version", MortiseClient.version());
  }
}
