package org.mortise.spring.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.mortise.MortiseOptions;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

/** Spring's election of a leader, among hosts with registries of ours. */
class LeaderTest {
  private static final MortiseOptions OPTIONS = MortiseOptions.DEFAULTS.withUnlimitedHold();

  private static LockRegistryLeaderInitiator initiator(Recorder candidate, MortiseOptions options) {
    var initiator = new LockRegistryLeaderInitiator(Server.registry(options), candidate);
    initiator.setHeartBeatMillis(50);
    initiator.setBusyWaitMillis(50);
    initiator.start();
    return initiator;
  }

  @Test
  void whoStopsIsFollowedAtOnce() throws Exception {
    // Without a release no test would live to see its end.
    MortiseOptions lasting = OPTIONS.withLease(Duration.ofHours(1));
    var first = new Recorder("stopping");
    var second = new Recorder("stopping");
    LockRegistryLeaderInitiator one = initiator(first, lasting);
    first.granted(1);
    LockRegistryLeaderInitiator other = initiator(second, lasting);
    try {
      // Some heart beats later nothing is changed.
      Thread.sleep(300);
      assertTrue(one.getContext().isLeader());
      assertFalse(other.getContext().isLeader());
      assertEquals(0, second.grants());
      one.stop();
      first.revoked(1);
      second.granted(1);
      assertFalse(one.getContext().isLeader());
    } finally {
      one.stop();
      other.stop();
    }
  }

  @Test
  void whoYieldsIsFollowed() throws Exception {
    var first = new Recorder("yielding");
    var second = new Recorder("yielding");
    LockRegistryLeaderInitiator one = initiator(first, OPTIONS);
    first.granted(1);
    LockRegistryLeaderInitiator other = initiator(second, OPTIONS);
    try {
      // Long enough for the other to be there; it is woken when it is stopped.
      one.setBusyWaitMillis(10_000);
      one.getContext().yield();
      first.revoked(1);
      second.granted(1);
    } finally {
      one.stop();
      other.stop();
    }
  }

  @Test
  void whoIsKilledIsFollowed() throws Exception {
    var second = new Recorder("killed");
    LockRegistryLeaderInitiator other;
    try (var leader = OtherJvm.leading("killed")) {
      other = initiator(second, OPTIONS);
      Thread.sleep(200);
      assertFalse(other.getContext().isLeader());
    }
    try {
      second.granted(1);
    } finally {
      other.stop();
    }
  }

  @Test
  void whoHasLostTheLockIsRevokedAndStandsAgain() throws Exception {
    var candidate = new Recorder("losing");
    MortiseOptions lost = OPTIONS.withLease(Duration.ofMillis(300)).withRenewal(false);
    LockRegistryLeaderInitiator initiator = initiator(candidate, lost);
    try {
      candidate.granted(1);
      candidate.revoked(1);
      candidate.granted(2);
    } finally {
      initiator.stop();
    }
  }
}
