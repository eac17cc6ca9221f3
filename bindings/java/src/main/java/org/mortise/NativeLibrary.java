package org.mortise;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** Finds and loads the native library, which holds all of Mortise; nothing else is needed. */
final class NativeLibrary {
  static final String DIRECTORY_PROPERTY = "org.mortise.native.dir";
  private static final String NAME = "mortise_jni";

  private NativeLibrary() {}

  /**
   * A folder that was named comes first, then the jar's own copy, then java.library.path: a copy
   * cannot be loaded when the folder for temporary files is mounted noexec.
   */
  static void load() {
    String directory = System.getProperty(DIRECTORY_PROPERTY);
    if (directory != null) {
      System.load(Path.of(directory, System.mapLibraryName(NAME)).toAbsolutePath().toString());
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
    return "/META-INF/native/" + system + "-" + processor + "/" + System.mapLibraryName(NAME);
  }

  private static void loadCopy(InputStream packed) throws IOException {
    // Readable for this user only, under a name that nobody can guess.
    Path copy = Files.createTempFile("mortise-", ".so");
    try {
      Files.copy(packed, copy, StandardCopyOption.REPLACE_EXISTING);
      System.load(copy.toString());
    } finally {
      // What is loaded stays.
      Files.deleteIfExists(copy);
    }
  }

  private static void loadFromPath(String why) {
    try {
      System.loadLibrary(NAME);
    } catch (UnsatisfiedLinkError failure) {
      var clear =
          new UnsatisfiedLinkError(
              "Mortise's native library could not be loaded from its jar ("
                  + why
                  + "), nor from java.library.path ("
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
