package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;

/**
 * The result of a health check of the servers.
 *
 * @param worst the worst severity of all findings; {@link Severity#UNKNOWN} without findings
 * @param findings the findings, the same for each server
 * @param json the whole result as one JSON text
 */
public record Health(Severity worst, List<Finding> findings, String json) {

  /**
   * The result of one check at one server.
   *
   * @param name stays the same in later versions, such as {@code maxmemory_policy}
   * @param severity the severity
   * @param server its address, without user and password
   * @param value the observed value
   * @param consequence what could happen; empty if the check passed
   * @param remedy how to fix it; empty if the check passed
   */
  public record Finding(
      String name,
      Severity severity,
      String server,
      String value,
      String consequence,
      String remedy) {}

  /** Reads a native health check and frees it. */
  static Health take(long address) {
    try {
      return read(address);
    } finally {
      MortiseNative.health_free(address);
    }
  }

  private static Health read(long address) {
    var findings = new ArrayList<Finding>();
    long count = MortiseNative.health_count(address);
    for (long i = 0; i < count; i++) {
      findings.add(
          new Finding(
              text(MortiseNative.health_name(address, i)),
              Severity.of(MortiseNative.health_severity(address, i)),
              text(MortiseNative.health_server(address, i)),
              text(MortiseNative.health_value(address, i)),
              text(MortiseNative.health_consequence(address, i)),
              text(MortiseNative.health_remedy(address, i))));
    }
    return new Health(
        Severity.of(MortiseNative.health_worst(address)),
        List.copyOf(findings),
        text(MortiseNative.health_json(address)));
  }

  private static String text(byte[] utf8) {
    return new String(utf8, UTF_8);
  }
}
