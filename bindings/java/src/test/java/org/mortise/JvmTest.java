package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How Mortise fits into a JVM: its end, its class loaders, its modules. */
class JvmTest {
  /** Ends while it holds, waits and is watched. Its arguments select how. */
  static final class Holder {
    public static void main(String[] arguments) throws Exception {
      var client =
          MortiseClient.builder(arguments[0]).lossListener((name, token) -> {}).open();
      client.lock("exit").lock();
      client.readWriteLock("exit rw").readLock().lock();
      client.mutex("exit").acquireAsync();
      var waiter = new Thread(() -> client.lock("exit").lock());
      waiter.setDaemon(true);
      waiter.start();
      switch (arguments[1]) {
        case "hook" -> Runtime.getRuntime().addShutdownHook(new Thread(client::close));
        case "exit" -> System.exit(7);
        case "term" -> {
          String self = Long.toString(ProcessHandle.current().pid());
          new ProcessBuilder("kill", "-TERM", self).start();
          Thread.sleep(Long.MAX_VALUE);
        }
        default -> System.out.println("main ends");
      }
    }
  }

  /** Waits for a future. */
  static final class Awaiter {
    public static void main(String[] arguments) throws Exception {
      try (var client = MortiseClient.open(arguments[0]);
          var owner = client.mutex("await")) {
        System.out.println(Waiting.result(owner.acquireAsync()).release());
      }
    }
  }

  /** Loads the same file of natives from two class loaders. */
  static final class TwoLoaders {
    public static void main(String[] arguments) throws Exception {
      System.out.println(MortiseClient.version());
      try (URLClassLoader other = otherLoader()) {
        System.out.println(versionIn(other));
      }
    }
  }

  private static final String JAR = System.getProperty("org.mortise.test.jar");

  /** Mortise, the tests, and not JUnit. */
  static String classPath() throws Exception {
    var tests = JvmTest.class.getProtectionDomain().getCodeSource().getLocation();
    return JAR + ":" + Path.of(tests.toURI());
  }

  /** The output of a JVM with these arguments, which must end with this code. */
  static String java(int code, String... arguments) throws Exception {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xcheck:jni");
    command.addAll(List.of(arguments));
    Subprocess ended = Subprocess.run(command);
    assertEquals(code, ended.code(), ended.output());
    return ended.output();
  }

  private static void assertEndsHolding(Redis redis, String ending, int code) throws Exception {
    assertEndsHolding(redis, "", ending, code);
  }

  private static void assertEndsHolding(Redis redis, String query, String ending, int code)
      throws Exception {
    redis.command("FLUSHALL");
    java(code, "-cp", classPath(), Holder.class.getName(), redis.url() + query, ending);
  }

  @Test
  void nobodyKeepsTheJvmFromItsEnd() throws Exception {
    try (var redis = new Redis()) {
      assertEndsHolding(redis, "return", 0);
      // Nothing is released: the lease ends the locks that were not closed.
      assertTrue(redis.exists("{mortise:exit}"));
      assertEndsHolding(redis, "exit", 7);
      assertTrue(redis.exists("{mortise:exit}"));
    }
  }

  @Test
  void aHookAtTheEndGivesEverythingBack() throws Exception {
    try (var redis = new Redis()) {
      assertEndsHolding(redis, "hook", 0);
      assertFalse(redis.exists("{mortise:exit}"));
      assertFalse(redis.exists("{mortise:exit rw}"));
    }
  }

  @Test
  void releaseAtExitGivesEverythingBackAtEachEnd() throws Exception {
    try (var redis = new Redis()) {
      for (var end : Map.of("return", 0, "exit", 7, "term", 143).entrySet()) {
        assertEndsHolding(redis, "?release_at_exit=on&lease=10m", end.getKey(), end.getValue());
        Waiting.until("given back",
            () -> !redis.exists("{mortise:exit}") && !redis.exists("{mortise:exit rw}"));
      }
    }
  }

  @Test
  void futuresNeedNoCommonPool() throws Exception {
    try (var redis = new Redis()) {
      String none = "-Djava.util.concurrent.ForkJoinPool.common.parallelism=0";
      java(0, none, "-cp", classPath(), Awaiter.class.getName(), redis.url());
    }
  }

  private static URLClassLoader otherLoader() throws Exception {
    return new URLClassLoader(
        new URL[] {Path.of(JAR).toUri().toURL()}, ClassLoader.getPlatformClassLoader());
  }

  private static String versionIn(ClassLoader loader) throws Exception {
    Class<?> client = loader.loadClass(MortiseClient.class.getName());
    return (String) client.getMethod("version").invoke(null);
  }

  @Test
  void eachClassLoaderHasNativesOfItsOwn() throws Exception {
    for (int i = 0; i < 2; i++) {
      try (URLClassLoader other = otherLoader()) {
        assertNotSame(MortiseClient.class, other.loadClass(MortiseClient.class.getName()));
        assertEquals(MortiseClient.version(), versionIn(other));
      }
    }
  }

  @Test
  void aClassLoaderThatIsDoneCanGo() throws Exception {
    try (var redis = new Redis()) {
      var loader = useOnce(redis.url());
      Waiting.until(
          "the class loader is collected",
          () -> {
            System.gc();
            return loader.get() == null;
          });
    }
  }

  /** As a server does that deploys a program again: open, lock, close, forget. */
  private static WeakReference<ClassLoader> useOnce(String url) throws Exception {
    try (URLClassLoader other = otherLoader()) {
      Class<?> client = other.loadClass(MortiseClient.class.getName());
      try (var opened = (AutoCloseable) client.getMethod("open", String.class).invoke(null, url)) {
        var lock = (Lock) client.getMethod("lock", String.class).invoke(opened, "loader");
        lock.lock();
        lock.unlock();
        assertThrows(RuntimeException.class, () -> lock.tryLock(1, null));
      }
      return new WeakReference<>(other);
    }
  }

  @Test
  void oneFileIsForOneClassLoader(@TempDir Path folder) throws Exception {
    try (InputStream packed = NativeLibrary.class.getResourceAsStream(NativeLibrary.resource())) {
      Files.copy(packed, folder.resolve(System.mapLibraryName("mortise_jni")));
    }
    String output =
        java(
            1, "-Dorg.mortise.test.jar=" + JAR, "-Dorg.mortise.native.dir=" + folder, "-cp",
            classPath(), TwoLoaders.class.getName());
    assertTrue(output.contains("already loaded in another classloader"), output);
    assertTrue(output.contains(folder.toString()), output);
  }

  @Test
  void itIsAModule(@TempDir Path folder) throws Exception {
    String output = java(0, "--module-path", JAR, "--describe-module", "org.mortise");
    assertTrue(output.contains("exports org.mortise") && !output.contains("automatic"), output);
    Path source = Files.writeString(folder.resolve("Program.java"),
        "class Program { public static void main(String[] a) {"
            + " System.out.println(org.mortise.MortiseClient.class.getModule().getName()"
            + " + org.mortise.MortiseClient.version()); } }");
    output = java(0, "--module-path", JAR, "--add-modules", "org.mortise", source.toString());
    assertTrue(output.contains("org.mortise1.0.0"), output);
  }
}
