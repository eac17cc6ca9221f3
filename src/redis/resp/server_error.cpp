#include "redis/resp/server_error.hpp"

#include <array>

namespace mortise::redis {

namespace {

constexpr std::array<unfitness, 5> unfit{{
    {"READONLY", "a replica now", "the server is a read-only replica; give the master's address"},
    {"MASTERDOWN", "a replica without its master",
     "the server is a replica that has lost its master; give the master's address"},
    {"LOADING", "loading its data", "the server is loading its data; it will be ready soon"},
    // A token has expired, or the user was changed. The next connection logs in again.
    {"NOAUTH", "logged out", "the server requires a password; give it in the URL or password_file"},
    {"CLUSTERDOWN", "not served by its cluster", "the cluster is not serving this slot", true},
}};

// The text after the first `mark`; all of it without a mark.
std::string_view after(std::string_view text, std::string_view mark) noexcept {
  const auto at = text.find(mark);
  return at == std::string_view::npos ? text : text.substr(at + mark.size());
}

}  // namespace

std::string_view error_code(std::string_view text) noexcept {
  if (text.starts_with("EXECABORT ")) text = after(text, "because of: ");
  // Before 7.0 the name of the function and the line come first. They come twice if a command of
  // the script was refused. The text before them has nothing of a user's.
  if (text.starts_with("ERR Error running script")) {
    text = after(after(text, "@user_script:"), ": ");
  }
  if (text.starts_with("@user_script: ")) {
    text = after(after(text, "@user_script: "), ": ");
    if (!text.starts_with('-')) return {};  // text of Lua
    text.remove_prefix(1);
  }
  return text.substr(0, text.find(' '));
}

// All of these are Alibaba Cloud's, which checks scripts before it runs them.
const char* why_script_refused(std::string_view error) noexcept {
  const auto has = [&](std::string_view words) { return error.find(words) != error.npos; };
  if (error.starts_with("ERR bad lua script")) {
    return "the service rejects scripts that use keys other than KEYS[n]; turn this check off "
           "(script_check_enable at Alibaba Cloud)";
  }
  if (!error.starts_with("ERR ")) return nullptr;
  if (has("keys must be in same slot") || has("keys must in same slot")) {
    return "the service keeps the keys of one lock on several servers; give redis+cluster:// with "
           "the address for direct connections";
  }
  if (has("eval/evalsha number of keys can't be negative or zero")) {
    return "the service rejects scripts without a key, which a listing of locks needs; give the "
           "address of the server behind it";
  }
  return nullptr;
}

const unfitness* unfitness_of(std::string_view error) noexcept {
  const auto code = error_code(error);
  for (const auto& row : unfit) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

}  // namespace mortise::redis
