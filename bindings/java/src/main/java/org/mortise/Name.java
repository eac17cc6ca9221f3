package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Supplier;

/** The name of a lock: bytes. Two names are the same when their bytes are. */
final class Name {
  private static final int LONGEST_SHOWN = 64;

  private final byte[] bytes;
  private final int hash;
  /** What messages begin with instead of a name; null for that of a lock. */
  private final Supplier<String> title;

  private Name(byte[] bytes) {
    this(bytes, null);
  }

  private Name(byte[] bytes, Supplier<String> title) {
    this.bytes = bytes;
    this.hash = Arrays.hashCode(bytes);
    this.title = title;
  }

  /** Of an owner that has no name; {@code title} says what it is about. */
  static Name ofNone(String what, Supplier<String> title) {
    return new Name(utf8(what, "what"), title);
  }

  static Name of(byte[] bytes) {
    return new Name(Objects.requireNonNull(bytes, "name").clone());
  }

  static Name of(String text) {
    return new Name(utf8(text, "name"));
  }

  /**
   * True UTF-8. A lone surrogate has none; as a question mark it would be the key of another name.
   */
  static byte[] utf8(String text, String what) {
    Objects.requireNonNull(text, what);
    return utf8(CharBuffer.wrap(text), what);
  }

  /** The same for a secret: what it was encoded into is erased. */
  static byte[] utf8(CharBuffer text, String what) {
    try {
      ByteBuffer encoded =
          UTF_8.newEncoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .onUnmappableCharacter(CodingErrorAction.REPORT)
              .encode(text);
      byte[] bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      Arrays.fill(encoded.array(), (byte) 0);
      return bytes;
    } catch (CharacterCodingException unpaired) {
      throw new MortiseException(
          Status.INVALID_ARGUMENT,
          what + ": has a lone surrogate, which UTF-8 cannot encode; give well-formed text");
    }
  }

  /** Not to be changed. */
  byte[] bytes() {
    return bytes;
  }

  /** For the beginning of a message, as the native code shows it: in one line, and not too long. */
  String quoted() {
    if (title != null) return title.get();
    var shown = new StringBuilder("\"");
    for (int i = 0; i < Math.min(bytes.length, LONGEST_SHOWN); i++) {
      shown.append(bytes[i] >= ' ' && bytes[i] <= '~' ? (char) bytes[i] : '?');
    }
    return shown.append(bytes.length > LONGEST_SHOWN ? "…\"" : "\"").toString();
  }

  /** The name of the lock; empty if it is that of none. */
  String ofLock() {
    return title == null ? toString() : "";
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Name name && hash == name.hash && Arrays.equals(bytes, name.bytes);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public String toString() {
    return new String(bytes, UTF_8);
  }
}
