package org.mortise;

import java.util.Objects;
import java.util.function.Consumer;

/**
 * One record of a client's log.
 *
 * @param level its severity
 * @param subject its subject
 * @param text the message, for people
 * @param lock the name of the lock as text; empty for a record about a server
 * @param reason why a hold was lost; {@link LossReason#UNKNOWN} for other subjects
 * @param droppedRecords how many records were dropped just before this one
 */
public record LogLine(
    LogLevel level,
    LogSubject subject,
    String text,
    String lock,
    LossReason reason,
    long droppedRecords) {

  /** The same line after so many more that were dropped. */
  LogLine after(long dropped) {
    if (dropped == 0) return this;
    return new LogLine(level, subject, text, lock, reason, droppedRecords + dropped);
  }

  /**
   * A listener that writes records to a logger of the platform, at its levels of the same names.
   *
   * @param logger such as {@code System.getLogger("org.mortise")}
   * @return for {@link MortiseClient#watchLog}
   */
  public static Consumer<LogLine> to(System.Logger logger) {
    Objects.requireNonNull(logger, "logger");
    return line -> logger.log(System.Logger.Level.valueOf(line.level.name()), line::text);
  }
}
