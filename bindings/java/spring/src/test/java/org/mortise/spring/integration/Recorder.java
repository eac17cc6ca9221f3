package org.mortise.spring.integration;

import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;

/** A candidate that counts its events. */
final class Recorder extends DefaultCandidate {
  private final AtomicInteger grants = new AtomicInteger();
  private final AtomicInteger revocations = new AtomicInteger();

  Recorder(String role) {
    super("candidate", role);
  }

  @Override
  public void onGranted(Context context) {
    grants.incrementAndGet();
  }

  @Override
  public void onRevoked(Context context) {
    revocations.incrementAndGet();
  }

  int grants() {
    return grants.get();
  }

  void granted(int count) throws Exception {
    Waiting.until(count + " grants", () -> grants.get() >= count);
  }

  void revoked(int count) throws Exception {
    Waiting.until(count + " revocations", () -> revocations.get() >= count);
  }
}
