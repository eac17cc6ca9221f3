package org.mortise;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A server of a test's own, from tests/support/server, and a connection to look into it. It ends
 * with its block, or, in a static field with {@code @RegisterExtension}, with all tests of the
 * class.
 */
final class Redis implements AutoCloseable, AfterAllCallback {
  private final Launched launched = new Launched("server");
  private final SocketChannel channel;
  private final DataInputStream replies;

  Redis() {
    try {
      channel = SocketChannel.open(UnixDomainSocketAddress.of(socket()));
      replies = new DataInputStream(Channels.newInputStream(channel));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  Path socket() {
    return launched.socket("redis.sock");
  }

  String url() {
    return "unix://" + socket();
  }

  /** Where all waiters wait at the server, each for itself, so that a test can see them. */
  String strictUrl() {
    return url() + "?fair=strict";
  }

  /** Has the launcher do something with the server, such as pause or resume it. */
  void control(String command) throws IOException {
    launched.control(command);
  }

  /** The reply of the server: a String, a Long, a List, or null. */
  Object command(String... words) {
    var bytes = new ArrayList<byte[]>();
    for (String word : words) bytes.add(word.getBytes(UTF_8));
    return command(bytes);
  }

  synchronized Object command(List<byte[]> words) {
    var request = new ByteArrayOutputStream();
    request.writeBytes(("*" + words.size() + "\r\n").getBytes(UTF_8));
    for (byte[] word : words) {
      request.writeBytes(("$" + word.length + "\r\n").getBytes(UTF_8));
      request.writeBytes(word);
      request.writeBytes("\r\n".getBytes(UTF_8));
    }
    try {
      ByteBuffer left = ByteBuffer.wrap(request.toByteArray());
      while (left.hasRemaining()) channel.write(left);
      return reply();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private Object reply() throws IOException {
    String line = line();
    String rest = line.substring(1);
    switch (line.charAt(0)) {
      case ':':
        return Long.valueOf(rest);
      case '$':
        int length = Integer.parseInt(rest);
        if (length < 0) return null;
        byte[] bytes = replies.readNBytes(length);
        replies.readNBytes(2);
        return new String(bytes, UTF_8);
      case '*':
        var list = new ArrayList<Object>();
        for (int i = Integer.parseInt(rest); i > 0; i--) list.add(reply());
        return list;
      default:
        return rest;
    }
  }

  private String line() throws IOException {
    var line = new ByteArrayOutputStream();
    for (int one = replies.read(); one != '\n'; one = replies.read()) {
      if (one < 0) throw new IOException("the server has gone");
      if (one != '\r') line.write(one);
    }
    return line.toString(ISO_8859_1);
  }

  boolean exists(String key) {
    return command("EXISTS", key).equals(1L);
  }

  @Override
  public void close() throws IOException {
    channel.close();
    launched.close();
  }

  @Override
  public void afterAll(ExtensionContext context) throws IOException {
    close();
  }
}
