package org.mortise.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Objects;
import org.mortise.MortiseClient;

/**
 * What a client has counted, as meters: {@code mortise_losses_total} is the counter {@code
 * mortise.losses}, {@code mortise_hold_seconds} the timer {@code mortise.hold}.
 *
 * <p>A registry that it was bound to does not keep the client from being collected. When the client
 * is closed, its counters and timers stay what they were last, and its gauges are not a number.
 */
public final class MortiseMetrics implements MeterBinder {
  private final MortiseClient client;
  private final Tags tags;

  /**
   * The meters of a registry's only client.
   *
   * @param client whose statistics are read
   */
  public MortiseMetrics(MortiseClient client) {
    this(client, Tags.empty());
  }

  /**
   * The meters of one client of several.
   *
   * @param client whose statistics are read
   * @param tags of all its meters, which tell it from others: of two clients with the same tags a
   *     registry has the one that was bound last
   */
  public MortiseMetrics(MortiseClient client, Iterable<Tag> tags) {
    this.client = Objects.requireNonNull(client, "client");
    this.tags = Tags.of(Objects.requireNonNull(tags, "tags"));
  }

  /**
   * Registers what there is to count so far. What comes later, such as the first acquire that timed
   * out, is registered when a meter is read.
   *
   * @throws org.mortise.MortiseException if the client is closed
   */
  @Override
  public void bindTo(MeterRegistry registry) {
    new ClientMeters(registry, tags).show(client, client.stats());
  }
}
