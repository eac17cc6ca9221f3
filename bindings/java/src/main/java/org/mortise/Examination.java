package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;

/**
 * The result of a health check of the servers.
 *
 * @param worst the worst verdict of all findings; {@link Verdict#UNKNOWN} without findings
 * @param findings the findings, the same for each server
 * @param json the whole result as one JSON text
 */
public record Examination(Verdict worst, List<Finding> findings, String json) {

  /**
   * The result of one check at one server.
   *
   * @param name stays the same in later versions, such as {@code maxmemory_policy}
   * @param verdict the severity
   * @param server its address, without user and password
   * @param value the observed value
   * @param consequence what could happen; empty if the check passed
   * @param mend how to fix it; empty if the check passed
   */
  public record Finding(
      String name,
      Verdict verdict,
      String server,
      String value,
      String consequence,
      String mend) {}

  /** Reads a native examination and frees it. */
  static Examination take(long address) {
    try {
      return read(address);
    } finally {
      MortiseNative.examination_free(address);
    }
  }

  private static Examination read(long address) {
    var findings = new ArrayList<Finding>();
    long count = MortiseNative.examination_count(address);
    for (long i = 0; i < count; i++) {
      findings.add(
          new Finding(
              text(MortiseNative.examination_name(address, i)),
              Verdict.of(MortiseNative.examination_verdict(address, i)),
              text(MortiseNative.examination_server(address, i)),
              text(MortiseNative.examination_value(address, i)),
              text(MortiseNative.examination_consequence(address, i)),
              text(MortiseNative.examination_mend(address, i))));
    }
    return new Examination(
        Verdict.of(MortiseNative.examination_worst(address)),
        List.copyOf(findings),
        text(MortiseNative.examination_json(address)));
  }

  private static String text(byte[] utf8) {
    return new String(utf8, UTF_8);
  }
}
