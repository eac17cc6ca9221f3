#include "redis/resp/resp.hpp"

#include <algorithm>
#include <charconv>
#include <new>

#include "base/text/decimal.hpp"

namespace mortise::redis {
namespace {

// "-9223372036854775808" has 20 characters; a length or integer beyond this is not one.
constexpr std::size_t max_number_bytes = 24;
// An integer of so few bytes always fits into 64 bits.
constexpr std::size_t longest_short = 18;
// Nodes kept between replies. The memory of a rare large reply is freed.
constexpr std::size_t max_kept_nodes = 1024;

constexpr const char* too_large = "a reply is larger than the limit";

const value null_value;

// An optional sign and digits only, within 64 bits.
bool parse_integer(std::string_view text, std::int64_t& number) noexcept {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (text.empty() || !is_digit(text.front())) return false;
  }
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

// Digits only.
bool parse_length(std::string_view text, std::uint64_t& length) noexcept {
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, length);
  return result.ec == std::errc() && result.ptr == end;
}

bool is_double(std::string_view text) noexcept {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (text.empty() || !is_digit(text.front())) return false;
  }
  double ignored = 0;
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, ignored);
  return result.ec != std::errc::invalid_argument && result.ptr == end;
}

bool is_big_number(std::string_view text) noexcept {
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// The meaning of a first byte.
enum class form : std::uint8_t { unknown, line, number, bulk, aggregate };

constexpr std::array<form, 256> make_forms() noexcept {
  std::array<form, 256> forms{};
  for (const char mark : {'+', '-', ',', '('}) forms[static_cast<unsigned char>(mark)] = form::line;
  for (const char mark : {':', '_', '#'}) forms[static_cast<unsigned char>(mark)] = form::number;
  for (const char mark : {'$', '=', '!'}) forms[static_cast<unsigned char>(mark)] = form::bulk;
  for (const char mark : {'*', '~', '%', '>', '|'}) {
    forms[static_cast<unsigned char>(mark)] = form::aggregate;
  }
  return forms;
}

constexpr auto forms = make_forms();

constexpr form form_of(char mark) noexcept { return forms[static_cast<unsigned char>(mark)]; }

}  // namespace

field find_field(const value& map, std::string_view key) noexcept {
  field result;
  for (std::size_t i = 0; i + 1 < map.size(); i += 2) {
    if (map.at(i).text() != key) continue;
    if (result.found != nullptr) return {nullptr, true};
    result.found = &map.at(i + 1);
  }
  return result;
}

const value& value::at(std::size_t index) const noexcept {
  return index < size_ ? store_->nodes[first_ + index] : null_value;
}

parser::parser(parser_limits limits) noexcept : limits_(limits) {
  // Nodes count in 32 bits and frames are an array: these bounds keep every sum below in range.
  limits_.reply_bytes = std::min<std::size_t>(limits_.reply_bytes, 1U << 30U);
  limits_.elements = std::min<std::size_t>(limits_.elements, 1U << 24U);
  limits_.depth = std::clamp(limits_.depth, 0, static_cast<int>(max_depth));
}

void parser::reset() noexcept {
  state_ = state::idle;
  problem_ = "";
  consumed_ = 0;
}

const value& parser::reply() const noexcept {
  return state_ == state::complete ? store_.nodes.front() : null_value;
}

parse_result parser::parse(std::string_view bytes) noexcept {
  if (state_ == state::broken) return parse_result::violation;
  if (state_ != state::reading && read_short(bytes)) return parse_result::complete;
  try {
    if (state_ != state::reading) start();
    if (bytes.size() < needed_) return parse_result::incomplete;
    store_.bytes = bytes.data();
    // Bytes beyond the limit are never read. So the result for a stream does not depend on the
    // pieces in which it arrives.
    const auto visible = bytes.substr(0, limits_.reply_bytes);
    while (frame_count_ > 0) {
      const auto& top = frames_[frame_count_ - 1];
      if (top.next == top.end) {
        --frame_count_;
        continue;
      }
      const auto result = read_item(visible);
      if (result == step::done) continue;
      if (result == step::bad) return parse_result::violation;
      if (visible.size() < limits_.reply_bytes) return parse_result::incomplete;
      fail(too_large);
      return parse_result::violation;
    }
  } catch (const std::bad_alloc&) {
    fail("no memory for a reply");
    return parse_result::no_memory;
  }
  consumed_ = position_;
  state_ = state::complete;
  return parse_result::complete;
}

// Reads "+OK" and ":1", which are most replies, in a fraction of the time when they are short and
// complete. Any unusual reply takes the long path, with the same result.
// NOLINTNEXTLINE(readability-function-cognitive-complexity): a parser.
bool parser::read_short(std::string_view bytes) noexcept {
  if (bytes.empty() || store_.nodes.size() != 1) return false;
  const char mark = bytes[0];
  const auto end = std::min({bytes.size(), limits_.reply_bytes, longest_short});
  std::size_t at = 1;
  std::int64_t number = 0;
  if (mark == ':') {
    while (at < end && is_digit(bytes[at])) number = number * 10 + (bytes[at++] - '0');
    if (at == 1) return false;
  } else if (mark == '+') {
    while (at < end && bytes[at] > '\r') ++at;
  } else {
    return false;
  }
  if (at + 1 >= end || bytes[at] != '\r' || bytes[at + 1] != '\n') return false;
  store_.bytes = bytes.data();
  auto& node = store_.nodes.front();
  node = value();
  node.type_ = mark == ':' ? kind::integer : kind::status;
  node.integer_ = number;
  if (mark == '+') {
    node.store_ = &store_;
    node.offset_ = 1;
    node.length_ = static_cast<std::uint32_t>(at - 1);
  }
  consumed_ = at + 2;
  state_ = state::complete;
  return true;
}

void parser::start() {
  if (store_.nodes.capacity() > max_kept_nodes) store_.nodes = {};
  if (store_.nodes.size() != 1) store_.nodes.resize(1);
  store_.nodes.front() = value();
  frames_[0] = {0, 1};
  frame_count_ = 1;
  element_count_ = 0;
  position_ = 0;
  scanned_ = 1;
  needed_ = 1;
  consumed_ = 0;
  state_ = state::reading;
}

parser::step parser::fail(const char* problem) noexcept {
  state_ = state::broken;
  problem_ = problem;
  consumed_ = 0;
  return step::bad;
}

// Reads one scalar or the head of one aggregate into the next open node.
parser::step parser::read_item(std::string_view bytes) {
  if (position_ >= bytes.size()) {
    needed_ = position_ + 1;
    return step::more;
  }
  const char mark = bytes[position_];
  const auto shape = form_of(mark);
  if (shape == form::unknown) return fail("a reply begins with a byte that is not a RESP type");
  if (const auto found = find_line(bytes); found != step::done) return found;

  const auto line = bytes.substr(position_ + 1, scanned_ - position_ - 1);
  auto& top = frames_[frame_count_ - 1];
  auto& node = store_.nodes[top.next];
  if (shape == form::aggregate) {
    if (const auto result = read_aggregate(line, mark, node); result != step::done) return result;
    position_ = scanned_ + 2;
  } else if (shape == form::bulk) {
    if (const auto result = read_bulk(bytes, node); result != step::done) return result;
    ++top.next;
  } else {
    if (const auto result = read_scalar(line, node); result != step::done) return result;
    position_ = scanned_ + 2;
    ++top.next;
  }
  scanned_ = position_ + 1;
  return step::done;
}

// Moves scanned_ to the CR that ends the line which begins at position_.
parser::step parser::find_line(std::string_view bytes) {
  const bool is_text = form_of(bytes[position_]) == form::line;
  const auto longest = is_text ? limits_.reply_bytes : position_ + 1 + max_number_bytes;
  const auto end = std::min(bytes.size(), longest + 1);
  auto at = scanned_;
  while (at < end && bytes[at] != '\r' && bytes[at] != '\n') ++at;
  scanned_ = at;
  if (at > longest) return fail("a length or number is too long");
  if (at < end && bytes[at] == '\n') return fail("a line ends without a CR");
  if (at + 1 >= bytes.size()) {
    needed_ = bytes.size() + 1;
    return step::more;
  }
  if (bytes[at + 1] != '\n') return fail("a CR without an LF");
  return step::done;
}

parser::step parser::read_scalar(std::string_view line, value& node) {
  const auto keep_text = [&](kind type) {
    node.type_ = type;
    node.store_ = &store_;
    node.offset_ = static_cast<std::uint32_t>(position_ + 1);
    node.length_ = static_cast<std::uint32_t>(line.size());
    return step::done;
  };
  switch (store_.bytes[position_]) {
    case '+':
      return keep_text(kind::status);
    case '-':
      return keep_text(kind::error);
    case ':':
      if (!parse_integer(line, node.integer_)) return fail("an integer is malformed or too large");
      node.type_ = kind::integer;
      return step::done;
    case ',':
      return is_double(line) ? keep_text(kind::text) : fail("a double is malformed");
    case '(':
      return is_big_number(line) ? keep_text(kind::text) : fail("a big number is malformed");
    case '#':
      if (line != "t" && line != "f") return fail("a boolean is neither t nor f");
      node.type_ = kind::boolean;
      node.integer_ = line == "t" ? 1 : 0;
      return step::done;
    default:  // '_'
      return line.empty() ? step::done : fail("a null has content");
  }
}

parser::step parser::read_bulk(std::string_view bytes, value& node) {
  const char mark = bytes[position_];
  const auto line = bytes.substr(position_ + 1, scanned_ - position_ - 1);
  if (mark == '$' && line == "-1") {
    position_ = scanned_ + 2;
    return step::done;
  }
  if (line == "?") return fail("a streamed text, which is not supported");
  std::uint64_t length = 0;
  if (!parse_length(line, length)) return fail("the length of a text is malformed");
  const auto begin = scanned_ + 2;
  if (length > limits_.reply_bytes || begin + length + 2 > limits_.reply_bytes) {
    return fail(too_large);
  }
  const auto end = begin + static_cast<std::size_t>(length);
  if (bytes.size() < end + 2) {
    needed_ = end + 2;
    return step::more;
  }
  if (bytes[end] != '\r' || bytes[end + 1] != '\n') return fail("the length of a text is wrong");
  std::size_t prefix = 0;
  if (mark == '=') {  // "txt:" or "mkd:"
    prefix = 4;
    if (length < prefix || bytes[begin + 3] != ':') return fail("a verbatim text has no format");
  }
  node.type_ = mark == '!' ? kind::error : kind::text;
  node.store_ = &store_;
  node.offset_ = static_cast<std::uint32_t>(begin + prefix);
  node.length_ = static_cast<std::uint32_t>(length - prefix);
  position_ = end + 2;
  return step::done;
}

// Reserves consecutive nodes for the elements, and opens a frame for them. An attribute is read
// like an unreferenced map. The node after it is still the next to be read.
// NOLINTNEXTLINE(readability-function-cognitive-complexity): a parser.
parser::step parser::read_aggregate(std::string_view line, char mark, value& node) {
  auto& top = frames_[frame_count_ - 1];
  if (mark == '*' && line == "-1") {
    ++top.next;
    return step::done;
  }
  if (line == "?") return fail("a streamed aggregate, which is not supported");
  // Redis before 7.2 can splice a push into the reply of EXEC. Continuing would mix up all replies.
  if (mark == '>' && frame_count_ > 1) return fail("a push inside a reply");
  std::uint64_t count = 0;
  if (!parse_length(line, count)) return fail("the length of an aggregate is malformed");
  if (frame_count_ > static_cast<std::size_t>(limits_.depth)) {
    return fail("a reply is nested deeper than the limit");
  }
  const bool is_attribute = mark == '|';
  constexpr const char* too_many = "a reply has more elements than the limit";
  if (count > limits_.elements) return fail(too_many);
  if (mark == '%' || is_attribute) count *= 2;
  const auto total = element_count_ + static_cast<std::size_t>(count) + (is_attribute ? 1 : 0);
  if (total > limits_.elements) return fail(too_many);
  element_count_ = total;

  const auto first = static_cast<std::uint32_t>(store_.nodes.size());
  const auto size = static_cast<std::uint32_t>(count);
  if (!is_attribute) {
    node.type_ = mark == '%' ? kind::map : mark == '>' ? kind::push : kind::array;
    node.store_ = &store_;
    node.first_ = first;
    node.size_ = size;
    ++top.next;
  }
  frames_[frame_count_] = {first, first + size};
  ++frame_count_;
  store_.nodes.resize(first + size);  // last: `node` dangles from here on
  return step::done;
}

}  // namespace mortise::redis
