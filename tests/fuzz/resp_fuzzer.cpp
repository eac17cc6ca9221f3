// Any bytes, in any pieces. The parser must return the same result and the same values, whether it
// sees them at once, byte by byte, or cut as the input decides. It must never read beyond them
// (hazard 31).
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redis/resp/resp.hpp"

namespace {

using mortise::redis::parse_result;
using mortise::redis::parser;
using mortise::redis::parser_limits;
using mortise::redis::value;

// Small, so that a fuzzer reaches them.
parser_limits small_limits() {
  parser_limits limits;
  limits.reply_bytes = 512;
  limits.elements = 48;
  limits.depth = 4;
  return limits;
}

void require(bool condition) {
  if (!condition) std::abort();
}

void dump(const value& what, std::string& into) {
  into += static_cast<char>('a' + static_cast<int>(what.type()));
  into += std::to_string(what.integer()) + "/" + std::to_string(what.size()) + "/";
  into.append(what.text()).append(";");
  for (std::size_t i = 0; i < what.size(); ++i) dump(what.at(i), into);
  require(what.at(what.size()).is_null());
}

// Everything that a stream came to: each reply, then how it ended.
struct parsed_stream {
  std::string replies;
  std::size_t consumed = 0;
  std::string problem;
  bool is_violation = false;

  bool operator==(const parsed_stream&) const = default;
};

// Feeds the stream in pieces of the sizes that `next_size` gives, each time from fresh memory that
// ends where the piece ends.
template <class NextSize>
parsed_stream read(std::string_view stream, NextSize&& next_size) {
  parser reader(small_limits());
  parsed_stream result;
  std::size_t end = 0;
  while (true) {
    const auto seen = stream.substr(result.consumed, end - result.consumed);
    const auto copy = std::make_unique<char[]>(seen.size());
    seen.copy(copy.get(), seen.size());
    const auto parsed = reader.parse({copy.get(), seen.size()});
    if (parsed == parse_result::complete) {
      require(reader.consumed() > 0 && reader.consumed() <= seen.size());
      dump(reader.reply(), result.replies);
      result.consumed += reader.consumed();
      continue;
    }
    require(reader.consumed() == 0 && reader.reply().is_null());
    if (parsed == parse_result::violation) {
      require(*reader.problem() != '\0');
      require(reader.parse("+OK\r\n") == parse_result::violation);
      result.is_violation = true;
      result.problem = reader.problem();
      return result;
    }
    if (end == stream.size()) return result;
    end += std::min(std::max<std::size_t>(next_size(), 1), stream.size() - end);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte seeds the cuts; the rest is the stream.
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = read(stream, [&] { return stream.size(); });
  require(read(stream, [] { return std::size_t{1}; }) == whole);
  std::uint32_t random = data[0] * 2654435761U + 1;
  const auto cut = [&] {
    random = random * 1664525U + 1013904223U;
    return std::size_t{(random >> 24U) % 24U};
  };
  require(read(stream, cut) == whole);
  return 0;
}
