// RESP2 and RESP3, read from a byte stream as it arrives. The parser allocates nothing per reply
// once warm, trusts no input (hazard 31), and stays broken after a violation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mortise::redis {

enum class kind : std::uint8_t {
  null,     // `_`, `$-1`, `*-1`
  status,   // `+`
  error,    // `-` and `!`
  integer,  // `:`
  text,     // `$`, `=` (without its three-letter prefix), `,` and `(` as written
  boolean,  // `#`: integer() is 0 or 1
  array,    // `*` and `~`
  map,      // `%`: elements are key, value, key, value
  push,     // `>`
};

struct reply_store;

// One value of a parsed reply. Valid until the parser is fed or asked for the next reply.
class value {
 public:
  value() = default;
  [[nodiscard]] kind type() const noexcept { return type_; }
  [[nodiscard]] bool is_null() const noexcept { return type_ == kind::null; }
  [[nodiscard]] bool is_error() const noexcept { return type_ == kind::error; }
  // The number of an integer or boolean, otherwise 0.
  [[nodiscard]] std::int64_t integer() const noexcept { return integer_; }
  // The bytes of a status, error or text, otherwise empty.
  [[nodiscard]] std::string_view text() const noexcept;
  // How many elements an array, map or push has (two per entry of a map), otherwise 0.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // The element at `index`; a null value beyond the last, so a wrong shape never crashes.
  [[nodiscard]] const value& at(std::size_t index) const noexcept;

 private:
  friend class parser;
  const reply_store* store_ = nullptr;
  std::int64_t integer_ = 0;
  std::uint32_t offset_ = 0;  // of the text, from the start of the reply
  std::uint32_t length_ = 0;  // of the text
  std::uint32_t first_ = 0;   // index of the first child; its siblings follow it
  std::uint32_t size_ = 0;
  kind type_ = kind::null;
};

// The value of a key in a map, or in a list of keys and values. A server that sends a key twice
// contradicts itself, so the caller trusts neither value (hazard 31).
struct field {
  const value* found = nullptr;
  bool is_repeated = false;
};
[[nodiscard]] field find_field(const value& map, std::string_view key) noexcept;

// The memory shared by the values of one reply. Texts are offsets into `bytes`, because the
// caller's buffer may move between the pieces of a reply.
struct reply_store {
  const char* bytes = nullptr;
  std::vector<value> nodes;
};

inline std::string_view value::text() const noexcept {
  return length_ == 0 ? std::string_view() : std::string_view(store_->bytes + offset_, length_);
}

// Bounds on one reply. A stream beyond them counts as hostile or corrupt.
struct parser_limits {
  std::size_t reply_bytes = 4U << 20U;  // at most 1 GiB
  std::size_t elements = 65536;         // of all levels together; at most 16 million
  int depth = 8;                        // of arrays, maps and attributes; at most 32
};

enum class parse_result { complete, incomplete, violation, no_memory };

class parser {
 public:
  explicit parser(parser_limits limits = {}) noexcept;
  parser(const parser&) = delete;  // its values point back at it
  parser& operator=(const parser&) = delete;

  // Reads one reply from the front of `bytes`. On `complete`, `reply()` is the value (its texts
  // point into `bytes`) and `consumed()` is its size in bytes. On `incomplete` nothing is consumed.
  // Call again with the same bytes (they may have moved) and more after them; reading continues
  // where it stopped. On `violation`, `problem()` has the reason. The stream is also broken after
  // `no_memory`.
  parse_result parse(std::string_view bytes) noexcept;
  // Discards a half-read reply and a violation. A new stream follows.
  void reset() noexcept;
  // A null value unless the last parse() was complete.
  [[nodiscard]] const value& reply() const noexcept;
  [[nodiscard]] std::size_t consumed() const noexcept { return consumed_; }
  [[nodiscard]] const char* problem() const noexcept { return problem_; }

 private:
  enum class state : std::uint8_t { idle, reading, complete, broken };
  enum class step : std::uint8_t { done, more, bad };
  // The nodes of one open array, map or attribute that are still to be read.
  struct frame {
    std::uint32_t next;
    std::uint32_t end;
  };
  static constexpr std::size_t max_depth = 32;

  bool read_short(std::string_view bytes) noexcept;
  void start();
  step fail(const char* problem) noexcept;
  step read_item(std::string_view bytes);
  step find_line(std::string_view bytes);
  step read_scalar(std::string_view line, value& node);
  step read_bulk(std::string_view bytes, value& node);
  step read_aggregate(std::string_view line, char mark, value& node);

  parser_limits limits_;
  reply_store store_;
  std::array<frame, max_depth + 1> frames_{};
  std::size_t frame_count_ = 0;
  std::size_t element_count_ = 0;
  std::size_t position_ = 0;  // start of the item that is read next
  std::size_t scanned_ = 0;   // no line end lies between position_ and this position
  std::size_t needed_ = 0;    // fewer bytes than this are never enough
  std::size_t consumed_ = 0;
  const char* problem_ = "";
  state state_ = state::idle;
};

}  // namespace mortise::redis
