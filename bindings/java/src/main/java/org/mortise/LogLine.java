package org.mortise;

import java.util.Objects;
import java.util.function.Consumer;

/**
 * One line of a client's log.
 *
 * @param level how bad it is
 * @param subject what it is about
 * @param text the line, for people
 * @param lock the name of the lock that it is about, as text; empty where it is about a server
 * @param reason why a hold was lost; {@link LossReason#UNKNOWN} of anything else
 * @param leftOut how many lines were left out just before this one
 */
public record LogLine(
    LogLevel level,
    LogSubject subject,
    String text,
    String lock,
    LossReason reason,
    long leftOut) {

  /**
   * Who writes lines to a logger of the platform, at its levels of the same names.
   *
   * @param logger such as {@code System.getLogger("org.mortise")}
   * @return for {@link MortiseClient#watchLog}
   */
  public static Consumer<LogLine> to(System.Logger logger) {
    Objects.requireNonNull(logger, "logger");
    return line -> logger.log(System.Logger.Level.valueOf(line.level.name()), line::text);
  }
}
