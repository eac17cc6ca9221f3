#include "protocol/refusal.hpp"

#include <array>
#include <charconv>
#include <new>
#include <string>

#include "protocol/scripts/scripts.hpp"
#include "redis/resp/server_error.hpp"

namespace mortise::protocol {

namespace {

struct refusal {
  std::string_view code;
  bool is_retryable;
  bool is_passing;
  std::string_view remedy;
};

// Errors that mean "not executed". UNBLOCKED and all other errors are unknown.
constexpr std::array<refusal, 15> refusals{{
    {"BUSY", true, true, "the server is busy running a script"},
    {"TRYAGAIN", true, true, "the keys' slot is being moved"},
    {"OOM", true, false, "the server is out of memory; raise maxmemory or free some"},
    {"MISCONF", true, false, "the server cannot persist and refuses writes; fix its disk"},
    {"NOREPLICAS", true, false, "the server has too few replicas to accept writes"},
    {"NOPERM", false, false, "the user lacks a right"},
    {"WRONGPASS", false, false, "the user or the password is wrong; correct them"},
    {"WRONGTYPE", false, false,
     "a key under this lock's name has another type; choose another name or remove the key"},
    {"FOREIGN", false, false,
     "a key under this lock's name belongs to another protocol, kind of lock or program; choose "
     "another name or the same protocol"},
    {"LIMIT", false, false,
     "the request exceeds the semaphore's capacity at the server; request fewer permits or resize "
     "the semaphore"},
    {"MOVED", false, false, "the server is part of a cluster; use a cluster URL"},
    {"CROSSSLOT", false, false, "the server is part of a cluster; use a cluster URL"},
    {"EXECABORT", true, false, "the server refused the transaction"},
    {"QUARANTINE", true, true,
     "the server has run for less than the option quarantine and may have lost locks"},
    {"CLOCK", true, false,
     "a fencing token is more than an hour ahead of the server's clock; correct the clocks"},
}};

const refusal* find_refusal(std::string_view text) {
  // Mortise's scripts can fail only before their first write, so an error in a script means "not
  // executed", too.
  const auto code = redis::error_code(text);
  for (const auto& row : refusals) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

// The rest of a server's quarantine, as the error reports it; 0 when unreadable.
std::int64_t wait_of(std::string_view text) noexcept {
  constexpr std::string_view code = "QUARANTINE ";
  std::int64_t left_ms = 0;
  if (text.substr(0, code.size()) != code) return 0;
  std::from_chars(text.data() + code.size(), text.data() + text.size(), left_ms);
  return left_ms > 0 ? left_ms : 0;
}

// The text of the script with this SHA-1; empty for a foreign script.
std::string_view text_of(std::string_view sha1) noexcept {
  for (const auto* script : scripts::all()) {
    if (script->sha1 == sha1) return script->text;
  }
  return {};
}

// Without memory the details stay empty.
void say(outcome& details, std::string_view text, const redis::missing_right* lacking,
         const refusal* row) noexcept try {
  if (lacking != nullptr) {
    details.say(redis::say_missing_right(*lacking, text_of(lacking->script_sha1)));
  } else if (row != nullptr) {
    details.say(row->remedy);
  } else {
    details.say("the server answered with an unexpected error: ", redis::without_secrets(text));
  }
  details.server_text = redis::without_secrets(text);
} catch (const std::bad_alloc&) {
  details.server_text.clear();
}

}  // namespace

lock::step_result read_error(std::string_view text) {
  lock::step_result result;
  if (text.substr(0, 8) == "NOSCRIPT") {
    result.what = lock::answer::no_script;
    return result;
  }
  if (const auto* const unfit = redis::unfitness_of(text); unfit != nullptr) {
    // The connection ends. The client retries with the server of the next connection.
    result.what = lock::answer::unsent;
    result.details.code = status::refused;
    result.details.say(unfit->message);
    result.details.server_text = redis::without_secrets(text);
    result.details.is_retryable = true;
    return result;
  }
  const auto lacking = redis::find_missing_right(text);
  // A script that lacked a right may have written before (hazard 28).
  const refusal* row = nullptr;
  if (!lacking || !lacking->is_in_script) row = find_refusal(lacking ? "NOPERM" : text);
  refusal unread{"ERR", false, false, {}};
  if (const auto* const why = redis::why_script_refused(text); why != nullptr) {
    unread.remedy = why;
    row = &unread;
  }
  result.what = row == nullptr ? lock::answer::unknown : lock::answer::refused;
  result.details.code = row == nullptr ? status::unknown : status::refused;
  say(result.details, text, lacking ? &*lacking : nullptr, row);
  result.details.is_ambiguous = row == nullptr;
  if (row == nullptr) return result;
  result.details.is_retryable = row->is_retryable;
  result.is_passing = row->is_passing;
  result.wait_ms = wait_of(text);
  return result;
}

lock::step_result unreadable() {
  lock::step_result result;
  result.details = outcome::of(status::unknown, "cannot parse the server's reply");
  result.details.is_ambiguous = true;
  return result;
}

}  // namespace mortise::protocol
