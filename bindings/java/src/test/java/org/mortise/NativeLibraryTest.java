package org.mortise;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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
    return programFrom(System.getProperty("org.mortise.test.jar"), options);
  }

  private static List<String> programFrom(String jar, String... options) throws Exception {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(options));
    String tests =
        Path.of(Program.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .toString();
    command.addAll(List.of(
        "-cp", jar + ":" + tests, Program.class.getName()));
    return command;
  }

  private static void assertRuns(Subprocess result) {
    assertEquals(0, result.code(), result.output());
    assertTrue(result.output().contains("version 1.0.0"), result.output());
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

  @Test
  void aLibraryOfAnotherVersionIsRefusedAndBothAreNamed(@TempDir Path folder) throws Exception {
    extractTo(folder);
    Path library = folder.resolve(System.mapLibraryName("mortise_jni"));
    String other = Files.readString(library, ISO_8859_1).replace("1.0.0", "9.8.7");
    Files.writeString(library, other, ISO_8859_1);
    Subprocess result = Subprocess.run(program("-Dorg.mortise.native.dir=" + folder));
    assertEquals(1, result.code(), result.output());
    assertTrue(result.output().contains("classes have version 1.0.0"), result.output());
    assertTrue(result.output().contains("library has version 9.8.7"), result.output());
  }

  @Test
  void aTruncatedLibraryIsExplained(@TempDir Path folder) throws Exception {
    // What comes first on the class path is taken for the jar's.
    Path packed = folder.resolve(NativeLibrary.resource().substring(1));
    Files.createDirectories(packed.getParent());
    extractTo(packed.getParent());
    byte[] whole = Files.readAllBytes(packed);
    Files.write(packed, Arrays.copyOf(whole, whole.length / 2));
    String jar = System.getProperty("org.mortise.test.jar");
    Subprocess result = Subprocess.run(programFrom(folder + ":" + jar));
    assertEquals(1, result.code(), result.output());
    assertTrue(result.output().contains("is truncated"), result.output());

    Path library = folder.resolve(System.mapLibraryName("mortise_jni"));
    Files.write(library, new byte[] {0x7f, 'E', 'L', 'F'});
    result = Subprocess.run(program("-Dorg.mortise.native.dir=" + folder));
    assertEquals(1, result.code(), result.output());
    assertTrue(result.output().contains("it has 4 bytes of 64"), result.output());

    Files.writeString(library, "Not a library at all. ".repeat(9));
    result = Subprocess.run(program("-Dorg.mortise.native.dir=" + folder));
    assertEquals(1, result.code(), result.output());
    assertTrue(result.output().contains("invalid ELF header"), result.output());
  }

  @Test
  void muslIsRecognizedByItsLoader() {
    String before = "7f0a1c000000-7f0a1c021000 r-xp 00000000 08:01 42   ";
    assertTrue(NativeLibrary.isMusl(before + "\n" + before + "/lib/ld-musl-x86_64.so.1\n"));
    String another = before + "/srv/ld-musl-tools/bin/sh\n";
    assertTrue(NativeLibrary.isMusl(another + before + "/lib/ld-musl-aarch64.so.1"));
    assertFalse(NativeLibrary.isMusl(another));
    assertFalse(NativeLibrary.isMusl(before + "/usr/lib/ld-linux-x86-64.so.2\n"));
    assertFalse(NativeLibrary.isMusl(before + "/srv/ld-musl-x86_64.so.1/app.jar\n"));
  }
}
