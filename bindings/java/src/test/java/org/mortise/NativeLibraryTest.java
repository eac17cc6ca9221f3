package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the native library comes from, in JVMs that know nothing but the jar. */
class NativeLibraryTest {
  /** What each of those JVMs runs. */
  static final class Program {
    public static void main(String[] arguments) {
      System.out.println("version " + MortiseClient.version());
    }
  }

  private record Result(int code, String output) {}

  private static Result run(List<String> before, String... options) throws Exception {
    var command = new ArrayList<String>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(options));
    String tests = Path.of(Program.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    command.addAll(
        List.of("-cp", System.getProperty("org.mortise.test.jar") + ":" + tests, Program.class.getName()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Result(process.waitFor(), output);
  }

  private static void assertRuns(Result result) {
    assertEquals(0, result.code, result.output);
    assertTrue(result.output.contains("version 1.1.0"), result.output);
  }

  private static void extractTo(Path folder) throws IOException {
    try (InputStream packed =
        NativeLibrary.class.getResourceAsStream(NativeLibrary.resource())) {
      Files.copy(packed, folder.resolve(System.mapLibraryName("mortise_jni")));
    }
  }

  /** Runs a command where this folder is mounted noexec. */
  private static List<String> noexec(Path folder) {
    return List.of(
        "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
        "mount -t tmpfs -o noexec tmpfs \"$0\" && exec \"$@\"", folder.toString());
  }

  @Test
  void itComesFromTheJarAndLeavesNothingBehind(@TempDir Path folder) throws Exception {
    assertRuns(run(List.of(), "-Djava.io.tmpdir=" + folder));
    try (var left = Files.list(folder)) {
      assertEquals(List.of(), left.filter(it -> it.toString().endsWith(".so")).toList());
    }
  }

  @Test
  void aNoexecFolderIsExplained(@TempDir Path folder) throws Exception {
    Result result = run(noexec(folder), "-Djava.io.tmpdir=" + folder);
    assertEquals(1, result.code, result.output);
    assertTrue(result.output.contains("noexec"), result.output);
    assertTrue(result.output.contains("-Dorg.mortise.native.dir=FOLDER"), result.output);
  }

  @Test
  void aNoexecFolderIsAvoided(@TempDir Path folder, @TempDir Path libraries) throws Exception {
    extractTo(libraries);
    String noexec = "-Djava.io.tmpdir=" + folder;
    assertRuns(run(noexec(folder), noexec, "-Djava.library.path=" + libraries));
    assertRuns(run(noexec(folder), noexec, "-Dorg.mortise.native.dir=" + libraries));
  }

  @Test
  void aFolderThatWasNamedIsTheOnlyOne(@TempDir Path empty) throws Exception {
    Result result = run(List.of(), "-Dorg.mortise.native.dir=" + empty);
    assertEquals(1, result.code, result.output);
    assertTrue(result.output.contains(empty.toString()), result.output);
  }
}
