package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process that has ended: its exit code and all of its output. */
record Subprocess(int code, String output) {
  /**
   * Runs a command to its end, which must come before the patience of a test ends. Its output goes
   * to a file, because a pipe would stay open as long as any child of the command.
   */
  static Subprocess run(List<String> command) throws Exception {
    Path output = Files.createTempFile("mortise-output", ".txt");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectInput(new File("/dev/null"))
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      if (!process.waitFor(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        kill(process);
        fail("did not end: " + command + "\n" + Files.readString(output, UTF_8));
      }
      return new Subprocess(process.exitValue(), Files.readString(output, UTF_8));
    } finally {
      Files.delete(output);
    }
  }

  private static void kill(Process process) {
    // The children first: without their parent they could not be found.
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    process.onExit().join();
  }
}
