package org.mortise.spring.integration;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import org.mortise.MortiseOptions;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

/** A JVM that holds a lock, or leads, until it is killed. */
final class OtherJvm implements AutoCloseable {
  private static final MortiseOptions SOON_OVER =
      MortiseOptions.DEFAULTS.withLease(Duration.ofSeconds(5));
  private final Process process;
  private final BufferedReader output;

  private OtherJvm(String what, String name) throws IOException {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                OtherJvm.class.getName(),
                what,
                name)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    output = process.inputReader();
  }

  /** It holds the lock of this key when this returns. */
  static OtherJvm holding(String key) throws IOException {
    var jvm = new OtherJvm("hold", key);
    jvm.await();
    return jvm;
  }

  /** It leads in this role when this returns. */
  static OtherJvm leading(String role) throws IOException {
    var jvm = new OtherJvm("lead", role);
    jvm.await();
    return jvm;
  }

  private void await() throws IOException {
    String line = output.readLine();
    if (!"ready".equals(line)) throw new IOException("the other JVM said: " + line);
  }

  /** As by a crash: it gives nothing back. */
  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }

  public static void main(String[] arguments) throws Exception {
    MortiseLockRegistry registry = Server.registry(SOON_OVER);
    if (arguments[0].equals("hold")) {
      registry.obtain(arguments[1]).lock();
    } else {
      var candidate = new Recorder(arguments[1]);
      new LockRegistryLeaderInitiator(registry, candidate).start();
      candidate.granted(1);
    }
    System.out.println("ready");
    // Until it is killed, or its parent is.
    System.in.transferTo(OutputStream.nullOutputStream());
    Runtime.getRuntime().halt(0);
  }
}
