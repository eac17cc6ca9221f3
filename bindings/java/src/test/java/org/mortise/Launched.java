package org.mortise;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A program of tests/support, which reads commands in lines, and ends with the test. */
final class Launched implements AutoCloseable {
  private final Process process;
  private final Writer commands;
  private final BufferedReader output;
  private final Path folder;
  private int number;

  Launched(String program, String... arguments) {
    var server = Path.of(System.getProperty("org.mortise.test.server"));
    var words = new ArrayList<>(List.of(server.resolveSibling(program).toString()));
    words.addAll(List.of(arguments));
    try {
      process = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      commands = process.outputWriter();
      output = process.inputReader();
      folder = Path.of(receive()[1]);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private String[] receive() throws IOException {
    String[] words = output.readLine().split(" ");
    number = Integer.parseInt(words[0]);
    return words;
  }

  /** The last number that it printed: of a server its process, of a proxy the kept bytes. */
  synchronized int number() {
    return number;
  }

  /** A socket in its folder. */
  Path socket(String name) {
    return folder.resolve(name);
  }

  /** It is done. */
  synchronized void control(String command) throws IOException {
    commands.write(command + "\n");
    commands.flush();
    receive();
  }

  @Override
  public void close() throws IOException {
    commands.close();
    process.onExit().join();
  }
}
