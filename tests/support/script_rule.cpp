#include "script_rule.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace mortise::testing {

namespace {

constexpr const char* bad_command =
    "ERR bad lua script for redis cluster, first parameter of redis.call/redis.pcall must be a "
    "single literal string";
constexpr const char* bad_key =
    "ERR bad lua script for redis cluster, all the keys that the script uses should be passed "
    "using the KEYS array, and KEYS should not be in expression";

constexpr std::array<std::string_view, 6> keyless{"INFO", "PUBLISH",  "PUBSUB",
                                                  "SCAN", "SPUBLISH", "TIME"};
constexpr std::array<std::string_view, 3> of_keys_only{"DEL", "EXISTS", "MGET"};

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <class List>
bool is_in(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

// The text between the parentheses of a call; `rest` begins behind the first.
std::vector<std::string_view> arguments(std::string_view rest) {
  std::vector<std::string_view> found;
  int depth = 0;
  char quote = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < rest.size(); ++at) {
    const char now = rest[at];
    if (quote != 0) {
      if (now == '\\') ++at;
      if (now == quote) quote = 0;
      continue;
    }
    if (now == '\'' || now == '"') quote = now;
    if (now == '(' || now == '{' || now == '[') ++depth;
    const bool is_end = now == ')' && depth == 0;
    if (is_end || (now == ',' && depth == 0)) {
      found.push_back(trimmed(rest.substr(begin, at - begin)));
      begin = at + 1;
    }
    if (is_end) break;
    if (now == ')' || now == '}' || now == ']') --depth;
  }
  return found;
}

// "'GET'" as GET; empty unless it is a single literal.
std::string_view literal(std::string_view argument) {
  if (argument.size() < 2 || argument.front() != argument.back()) return {};
  if (argument.front() != '\'' && argument.front() != '"') return {};
  const auto inner = argument.substr(1, argument.size() - 2);
  return has(inner, argument.substr(0, 1)) ? std::string_view() : inner;
}

bool is_key(std::string_view argument) {
  return argument.size() == 7 && argument.starts_with("KEYS[") && argument.ends_with("]") &&
         argument[5] >= '1' && argument[5] <= '9';
}

const char* refusal_of_call(std::string_view rest) {
  if (!rest.starts_with('(')) return bad_command;
  const auto given = arguments(rest.substr(1));
  const auto command = given.empty() ? std::string_view() : literal(given[0]);
  if (command.empty()) return bad_command;
  const auto keys = is_in(keyless, command) ? 0U : is_in(of_keys_only, command) ? given.size() : 1U;
  for (std::size_t i = 1; i < given.size(); ++i) {
    if (!is_key(given[i]) && (i <= keys || has(given[i], "KEYS"))) return bad_key;
  }
  return given.size() > 1 || keys == 0 ? nullptr : bad_key;
}

}  // namespace

std::string refusal_of_script(std::string_view script) {
  for (const std::string_view call : {"redis.call", "redis.pcall"}) {
    for (auto at = script.find(call); at != script.npos; at = script.find(call, at + 1)) {
      const char* const why = refusal_of_call(script.substr(at + call.size()));
      if (why != nullptr) return why;
    }
  }
  return {};
}

}  // namespace mortise::testing
