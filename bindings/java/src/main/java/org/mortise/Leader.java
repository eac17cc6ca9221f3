package org.mortise;

import java.util.Optional;

/**
 * The leader of an election, as a server has it.
 *
 * @param owner the owner token of the leadership; each leadership has its own
 * @param value what the leader has set with {@link Lease#setValue} or {@link
 *     MortiseOptions#withValue}; empty when it has none
 * @param host its host name; empty when unknown
 * @param processId its process; 0 when unknown
 * @param label its label; empty when it has none
 * @param isMine whether the candidate that asked is the leader
 */
public record Leader(
    String owner, String value, String host, long processId, String label, boolean isMine) {

  /** A claim that its client only retains has no leader. */
  static Optional<Leader> in(LockInfo info) {
    return info.holders().stream()
        .limit(1)
        .filter(holder -> !holder.isRetained())
        .findAny()
        .map(
            holder ->
                new Leader(
                    holder.owner(),
                    holder.value(),
                    holder.host(),
                    holder.processId(),
                    holder.label(),
                    info.isMine()));
  }
}
