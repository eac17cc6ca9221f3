package org.mortise.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Objects;
import org.mortise.MortiseClient;

/**
 * The statistics of a client as meters: {@code mortise_losses_total} is the counter
 * {@code mortise.losses}, {@code mortise_hold_seconds} the timer {@code mortise.hold}.
 *
 * <p>A bound registry does not keep the client from being collected. After the client is closed,
 * its counters and timers keep their last values, and its gauges are not a number.
 */
public final class MortiseMetrics implements MeterBinder {
  private final MortiseClient client;
  private final Tags tags;

  /**
   * The meters of a registry's only client.
   *
   * @param client the source of the statistics
   */
  public MortiseMetrics(MortiseClient client) {
    this(client, Tags.empty());
  }

  /**
   * The meters of one client of several.
   *
   * @param client the source of the statistics
   * @param tags the tags of all its meters, which distinguish it from others: of two clients with
   *     the same tags, a registry has the client that was bound last
   */
  public MortiseMetrics(MortiseClient client, Iterable<Tag> tags) {
    this.client = Objects.requireNonNull(client, "client");
    this.tags = Tags.of(Objects.requireNonNull(tags, "tags"));
  }

  /**
   * Registers the meters that exist so far. Later meters, such as the first acquire that timed out,
   * are registered when a meter is read.
   *
   * @throws org.mortise.MortiseException if the client is closed
   */
  @Override
  public void bindTo(MeterRegistry registry) {
    new ClientMeters(registry, tags).show(client, client.stats());
  }
}
