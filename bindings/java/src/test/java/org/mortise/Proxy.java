package org.mortise;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Stands between clients and a server, and can hold back what the server says. It ends with its
 * block, or, in a field with {@code @RegisterExtension}, with each test.
 */
final class Proxy implements AutoCloseable, AfterEachCallback {
  private static final int BUFFER_BYTES = 1 << 16;

  private final Path folder;
  private final Redis redis;
  private final ServerSocketChannel door;
  private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();
  private boolean isHolding;
  private int held;

  Proxy(Redis redis) {
    this.redis = redis;
    try {
      folder = Files.createTempDirectory("mortise-proxy");
      door = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      door.bind(UnixDomainSocketAddress.of(socket()));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    start(this::accept);
  }

  private Path socket() {
    return folder.resolve("proxy.sock");
  }

  String url() {
    return "unix://" + socket();
  }

  /** From now on the server's answers and messages stay here. */
  synchronized void holdAnswers() {
    isHolding = true;
    held = 0;
  }

  /** Passes on what was held back, and what comes from now on. */
  synchronized void letAnswers() {
    isHolding = false;
    notifyAll();
  }

  /** Until something is held back. */
  void untilAnswered() throws Exception {
    Waiting.until("an answer", () -> held() > 0);
  }

  private synchronized int held() {
    return held;
  }

  private void accept() throws IOException {
    for (; ; ) {
      SocketChannel client = door.accept();
      SocketChannel server = SocketChannel.open(StandardProtocolFamily.UNIX);
      open.add(client);
      open.add(server);
      server.connect(redis.address());
      start(() -> pass(client, server, false));
      start(() -> pass(server, client, true));
    }
  }

  private void pass(SocketChannel from, SocketChannel to, boolean isAnswer) throws IOException {
    var buffer = ByteBuffer.allocate(BUFFER_BYTES);
    try (from; to) {
      while (from.read(buffer.clear()) >= 0) {
        if (isAnswer) awaitLeave();
        buffer.flip();
        while (buffer.hasRemaining()) to.write(buffer);
      }
    }
  }

  private synchronized void awaitLeave() {
    if (isHolding) held++;
    while (isHolding) {
      try {
        wait();
      } catch (InterruptedException unexpected) {
        throw new AssertionError(unexpected);
      }
    }
  }

  private interface Work {
    void run() throws IOException;
  }

  private static void start(Work work) {
    var thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException end) {
                // One of both sides has gone, or the test is over.
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    letAnswers();
    door.close();
    for (SocketChannel one : open) one.close();
    Files.deleteIfExists(socket());
    Files.deleteIfExists(folder);
  }

  @Override
  public void afterEach(ExtensionContext context) throws IOException {
    close();
  }
}
