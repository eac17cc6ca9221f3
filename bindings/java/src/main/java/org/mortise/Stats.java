package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a client has counted since it was made. docs/statistics.md explains the names.
 *
 * @param samples all values; a histogram has one sample for each bucket, its sum and its count, as
 *     in the text format of Prometheus
 * @param json all values as one JSON text
 * @param prometheus all values in the text format of Prometheus, version 0.0.4
 */
public record Stats(List<Sample> samples, String json, String prometheus) {

  /**
   * One value with its name and labels.
   *
   * @param name stays the same in later versions, such as {@code mortise_holds}
   * @param type {@code counter}, {@code gauge} or {@code histogram}, the type of the metric
   * @param labels pairs such as {@code kind} with {@code mutex}, in their order
   * @param value in seconds, or a count
   */
  public record Sample(String name, String type, Map<String, String> labels, double value) {}

  /** Reads native statistics and frees them. */
  static Stats take(long address) {
    try {
      return read(address);
    } finally {
      MortiseNative.stats_free(address);
    }
  }

  private static Stats read(long address) {
    var samples = new ArrayList<Sample>();
    long count = MortiseNative.stats_count(address);
    for (long i = 0; i < count; i++) {
      samples.add(
          new Sample(
              text(MortiseNative.stats_name(address, i)),
              text(MortiseNative.stats_type(address, i)),
              labels(address, i),
              MortiseNative.stats_value(address, i)));
    }
    return new Stats(
        List.copyOf(samples),
        text(MortiseNative.stats_json(address)),
        text(MortiseNative.stats_prometheus(address)));
  }

  private static Map<String, String> labels(long address, long index) {
    var labels = new LinkedHashMap<String, String>();
    long count = MortiseNative.stats_label_count(address, index);
    for (long i = 0; i < count; i++) {
      labels.put(
          text(MortiseNative.stats_label_name(address, index, i)),
          text(MortiseNative.stats_label_value(address, index, i)));
    }
    return Collections.unmodifiableMap(labels);
  }

  private static String text(byte[] utf8) {
    return new String(utf8, UTF_8);
  }
}
