package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.util.Arrays;
import java.util.Objects;

/** The name of a lock: bytes. Two names are the same when their bytes are. */
final class Name {
  private final byte[] bytes;
  private final int hash;

  private Name(byte[] bytes) {
    this.bytes = bytes;
    this.hash = Arrays.hashCode(bytes);
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
    try {
      ByteBuffer encoded =
          UTF_8.newEncoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .onUnmappableCharacter(CodingErrorAction.REPORT)
              .encode(CharBuffer.wrap(text));
      byte[] bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    } catch (CharacterCodingException unpaired) {
      throw new MortiseException(
          Status.INVALID_ARGUMENT,
          what + ": it has half of a surrogate pair, which UTF-8 cannot express; give a byte[]"
              + " or a well-formed String");
    }
  }

  /** Not to be changed. */
  byte[] bytes() {
    return bytes;
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
