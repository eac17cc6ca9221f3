package org.mortise.spring.integration;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mortise.MortiseOptions;
import org.mortise.spring.integration.Waiting.Worker;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** Moving from Spring's registry while both are in use. */
class RedisLockRegistryTest {
  private static final String KEY = "shared";

  private final MortiseLockRegistry ours =
      Server.registry(MortiseOptions.DEFAULTS.withProtocol("token"));
  private JedisConnectionFactory connections;
  private RedisLockRegistry theirs;

  @BeforeEach
  void connect() {
    URI url = URI.create(Server.tcpUrl());
    connections =
        new JedisConnectionFactory(new RedisStandaloneConfiguration(url.getHost(), url.getPort()));
    connections.afterPropertiesSet();
    connections.start();
    theirs = new RedisLockRegistry(connections, "test");
  }

  @AfterEach
  void disconnect() {
    theirs.destroy();
    connections.destroy();
  }

  private static void assertExcluded(Lock lock) throws Exception {
    new Worker(() -> assertFalse(lock.tryLock(100, TimeUnit.MILLISECONDS))).finish();
  }

  @Test
  void thoseOfTheTwoRegistriesExcludeEachOther() throws Exception {
    Lock our = ours.obtain(KEY);
    Lock their = theirs.obtain(KEY);
    our.lock();
    assertExcluded(their);
    our.unlock();
    assertTrue(their.tryLock());
    assertExcluded(our);
    their.unlock();
    assertTrue(our.tryLock(10, TimeUnit.SECONDS));
    our.unlock();
  }
}
