package org.mortise;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.opentest4j.TestAbortedException;

/** A folder from which nothing can be loaded, for the commands that it runs. */
final class NoexecFolder implements AutoCloseable {
  /**
   * How a process may mount something that no other sees. It may be an ordinary user, root, or root
   * in a chroot, where user namespaces are forbidden and the root folder is no mount point. In a
   * chroot others may see it, so it is unmounted and not left to the end of the namespace.
   */
  private static final List<List<String>> NAMESPACES =
      List.of(
          List.of("unshare", "--user", "--map-root-user", "--mount"),
          List.of("unshare", "--mount"),
          List.of("unshare", "--mount", "--propagation", "unchanged"));

  private static final String MOUNTED =
      "mount -t tmpfs -o noexec tmpfs \"$0\" && { \"$@\"; code=$?; umount \"$0\" && exit $code; }";

  /** Containers that may mount nothing have the first of these noexec, and Debian the second. */
  private static final List<Path> PLACES = List.of(Path.of("/dev/shm"), Path.of("/run/lock"));

  private static final String EXECUTE =
      "printf '#!/bin/sh\\n' >\"$0/program\" && chmod +x \"$0/program\" && \"$0/program\"";
  /** The exit code of a shell for a program that may not be executed. */
  private static final int NOT_EXECUTABLE = 126;

  private final Path folder;
  private final List<String> before;

  private NoexecFolder(Path folder, List<String> before) {
    this.folder = folder;
    this.before = before;
  }

  /** Skips the test where no such folder can be made. */
  static NoexecFolder make() throws Exception {
    var tried = new StringBuilder("no folder can be made noexec here; what was tried:");
    Path folder = Files.createTempDirectory("mortise-noexec");
    for (List<String> namespace : NAMESPACES) {
      var before = new ArrayList<>(namespace);
      before.addAll(List.of("sh", "-c", MOUNTED, folder.toString()));
      var made = new NoexecFolder(folder, before);
      if (made.isNoexec(tried)) return made;
    }
    Files.delete(folder);
    for (Path place : PLACES) {
      if (!Files.isWritable(place)) continue;
      var made = new NoexecFolder(Files.createTempDirectory(place, "mortise-noexec"), List.of());
      if (made.isNoexec(tried)) return made;
      made.close();
    }
    throw new TestAbortedException("skipped: " + tried);
  }

  private boolean isNoexec(StringBuilder tried) throws Exception {
    Subprocess program = run(List.of("sh", "-c", EXECUTE, folder.toString()));
    Files.deleteIfExists(folder.resolve("program"));
    tried.append("\n").append(before).append(" ").append(folder).append(": ").append(program);
    return program.code() == NOT_EXECUTABLE;
  }

  Subprocess run(List<String> command) throws Exception {
    var whole = new ArrayList<>(before);
    whole.addAll(command);
    return Subprocess.run(whole);
  }

  @Override
  public String toString() {
    return folder.toString();
  }

  @Override
  public void close() throws IOException {
    Files.deleteIfExists(folder);
  }
}
