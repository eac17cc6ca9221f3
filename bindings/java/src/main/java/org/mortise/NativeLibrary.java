package org.mortise;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * Finds and loads the native library, which holds all of Mortise; nothing else is needed. A program
 * waits for it as it starts, so there are no lambdas, streams or regular expressions: the first of
 * each in a JVM takes longer than the library.
 */
final class NativeLibrary {
  static final String DIRECTORY_PROPERTY = "org.mortise.native.dir";
  private static final String NAME = "mortise_jni";
  private static final int ELF_HEADER_BYTES = 64;
  private static final String MUSL = "/ld-musl-";
  private static final Set<PosixFilePermission> OWNER_ONLY =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  private NativeLibrary() {}

  /**
   * A folder that was named comes first, then the jar's own copy, then java.library.path: a copy
   * cannot be loaded when the folder for temporary files is mounted noexec.
   */
  static void load() {
    loadAny();
    requireVersion(new String(MortiseNative.version_text(), UTF_8));
  }

  /** Both sides of a call are generated, and fit in one version only. */
  private static void requireVersion(String found) {
    if (found.equals(Constants.VERSION)) return;
    throw new UnsatisfiedLinkError(
        "Mortise's classes have version "
            + Constants.VERSION
            + ", but the native library has version "
            + found
            + "; use one release of both: remove -D"
            + DIRECTORY_PROPERTY
            + ", or the other mortise.jar or library on the path");
  }

  private static void loadAny() {
    String directory = System.getProperty(DIRECTORY_PROPERTY);
    if (directory != null) {
      loadWhole(Path.of(directory, System.mapLibraryName(NAME)).toAbsolutePath());
      return;
    }
    String resource = resource();
    String why;
    try (InputStream packed = NativeLibrary.class.getResourceAsStream(resource)) {
      if (packed == null) {
        why = "the jar has no " + resource;
      } else {
        loadCopy(packed);
        return;
      }
    } catch (IOException | UnsatisfiedLinkError failure) {
      why = failure.getMessage();
    }
    loadFromPath(why);
  }

  static String resource() {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String processor = System.getProperty("os.arch");
    if (processor.equals("amd64")) processor = "x86_64";
    String libc = isMusl() ? "-musl-" : "-";
    return "/META-INF/native/" + system + libc + processor + "/" + System.mapLibraryName(NAME);
  }

  /** Whether this JVM runs with musl, whose loader is mapped into it then. */
  private static boolean isMusl() {
    try {
      return isMusl(Files.readString(Path.of("/proc/self/maps"), ISO_8859_1));
    } catch (IOException unreadable) {
      return false;
    }
  }

  static boolean isMusl(String maps) {
    for (int at = maps.indexOf(MUSL); at >= 0; at = maps.indexOf(MUSL, at + 1)) {
      int end = maps.indexOf('\n', at);
      String file = maps.substring(at + 1, end < 0 ? maps.length() : end);
      if (file.endsWith(".so.1") && file.indexOf('/') < 0) return true;
    }
    return false;
  }

  private static void loadCopy(InputStream packed) throws IOException {
    Path copy = newFile();
    try {
      try (OutputStream to = Files.newOutputStream(copy)) {
        packed.transferTo(to);
      }
      loadWhole(copy);
    } finally {
      // What is loaded stays.
      Files.deleteIfExists(copy);
    }
  }

  /**
   * An empty file that was not there before, for this user only. Files.createTempFile takes longer
   * than all else here, as it starts what makes random numbers for passwords.
   */
  private static Path newFile() throws IOException {
    Path folder = Path.of(System.getProperty("java.io.tmpdir"));
    for (; ; ) {
      Path file = folder.resolve("mortise-" + System.nanoTime() + ".so");
      try {
        return Files.createFile(file, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
      } catch (FileAlreadyExistsException ofAnother) {
        // By then it is another time.
      }
    }
  }

  /** The system's loader ends the process where a file is shorter than its header says. */
  private static void loadWhole(Path library) {
    try (var file = FileChannel.open(library)) {
      ByteBuffer header = ByteBuffer.allocate(ELF_HEADER_BYTES).order(ByteOrder.nativeOrder());
      while (header.hasRemaining() && file.read(header) >= 0) {}
      long size = sizeBy(header);
      if (file.size() < size) {
        throw new UnsatisfiedLinkError(
            library + " is truncated: it has " + file.size() + " bytes of " + size);
      }
    } catch (IOException unreadable) {
      // The loader says why.
    }
    System.load(library.toString());
  }

  /** How large a file of 64-bit ELF is at the least; 0 of another, of which the loader says so. */
  private static long sizeBy(ByteBuffer header) {
    byte[] magic = {0x7f, 'E', 'L', 'F'};
    if (!Arrays.equals(magic, Arrays.copyOf(header.array(), magic.length))) return 0;
    if (header.hasRemaining()) return ELF_HEADER_BYTES;
    if (header.get(4) != 2) return 0;
    // Behind all else is the table of sections: where, how large each and how many.
    return header.getLong(40) + (long) header.getShort(58) * header.getShort(60);
  }

  private static void loadFromPath(String why) {
    try {
      System.loadLibrary(NAME);
    } catch (UnsatisfiedLinkError failure) {
      var clear =
          new UnsatisfiedLinkError(
              "cannot load Mortise's native library from its jar ("
                  + why
                  + ") or from java.library.path ("
                  + failure.getMessage()
                  + "). If the folder for temporary files is mounted noexec, choose another with"
                  + " -Djava.io.tmpdir=FOLDER, or extract "
                  + resource()
                  + " from the jar and name its folder with -D"
                  + DIRECTORY_PROPERTY
                  + "=FOLDER");
      clear.initCause(failure);
      throw clear;
    }
  }
}
