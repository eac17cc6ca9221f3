package org.mortise;

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

  private static List<String> program(String... options) throws Exception {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(options));
    String tests =
        Path.of(Program.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .toString();
    command.addAll(List.of(
        "-cp", System.getProperty("org.mortise.test.jar") + ":" + tests, Program.class.getName()));
    return command;
  }

  private static void assertRuns(Subprocess result) {
    assertEquals(0, result.code(), result.output());
    assertTrue(result.output().contains("version 1.2.0"), result.output());
  }

  private static void extractTo(Path folder) throws IOException {
    try (InputStream packed =
        NativeLibrary.class.getResourceAsStream(NativeLibrary.resource())) {
      Files.copy(packed, folder.resolve(System.mapLibraryName("mortise_jni")));
    }
  }

  private static String temporary(Object folder) {
    return "-Djava.io.tmpdir=" + folder;
  }

  @Test
  void itComesFromTheJarAndLeavesNothingBehind(@TempDir Path folder) throws Exception {
    assertRuns(Subprocess.run(program(temporary(folder))));
    try (var left = Files.list(folder)) {
      assertEquals(List.of(), left.filter(it -> it.toString().endsWith(".so")).toList());
    }
  }

  @Test
  void aNoexecFolderIsExplained() throws Exception {
    try (var folder = NoexecFolder.make()) {
      Subprocess result = folder.run(program(temporary(folder)));
      assertEquals(1, result.code(), result.output());
      assertTrue(result.output().contains("noexec"), result.output());
      assertTrue(result.output().contains("-Dorg.mortise.native.dir=FOLDER"), result.output());
    }
  }

  @Test
  void aNoexecFolderIsAvoided(@TempDir Path libraries) throws Exception {
    extractTo(libraries);
    try (var folder = NoexecFolder.make()) {
      assertRuns(folder.run(program(temporary(folder), "-Djava.library.path=" + libraries)));
      assertRuns(folder.run(program(temporary(folder), "-Dorg.mortise.native.dir=" + libraries)));
    }
  }

  @Test
  void aFolderThatWasNamedIsTheOnlyOne(@TempDir Path empty) throws Exception {
    Subprocess result = Subprocess.run(program("-Dorg.mortise.native.dir=" + empty));
    assertEquals(1, result.code(), result.output());
    assertTrue(result.output().contains(empty.toString()), result.output());
  }
}
