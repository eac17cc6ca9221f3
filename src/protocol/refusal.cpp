#include "protocol/refusal.hpp"

#include <array>
#include <string>

#include "redis/server_error.hpp"

namespace mortise::protocol {

namespace {

struct refusal {
  std::string_view code;
  bool is_retryable;
  bool is_passing;
  std::string_view mend;
};

// Errors that mean "not executed". UNBLOCKED and everything else are unknown.
constexpr std::array<refusal, 14> refusals{{
    {"BUSY", true, true, "the server is busy running a script"},
    {"TRYAGAIN", true, true, "the keys' slot is being moved"},
    {"OOM", true, false, "the server is out of memory; raise maxmemory or free some"},
    {"MISCONF", true, false, "the server cannot persist and refuses writes; mend its disk"},
    {"NOREPLICAS", true, false, "the server has too few replicas to accept writes"},
    {"NOPERM", false, false,
     "the user lacks a right; allow ~{mortise:* ~mortise:* &mortise:* and the commands used"},
    {"NOAUTH", false, false, "the server wants a password; put it into the URL"},
    {"WRONGPASS", false, false, "the user or password is wrong; mend the URL"},
    {"WRONGTYPE", false, false,
     "a key under this lock's name has another type; choose another name or remove the key"},
    {"FOREIGN", false, false,
     "a key under this lock's name belongs to another protocol, kind of lock or program; choose "
     "another name or the same protocol"},
    {"LIMIT", false, false,
     "the weight is above the permits that the server knows; ask for fewer or resize the "
     "semaphore"},
    {"MOVED", false, false, "the server is part of a cluster; use a cluster URL"},
    {"CROSSSLOT", false, false, "the server is part of a cluster; use a cluster URL"},
    {"EXECABORT", true, false, "the server refused the transaction"},
}};

const refusal* find_refusal(std::string_view text) {
  // Our scripts can only fail before their first write, so what one met was not carried out either.
  const auto code = redis::error_code(text);
  for (const auto& row : refusals) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

}  // namespace

lock::verdict read_error(std::string_view text) {
  lock::verdict result;
  result.details.server_text = joined({text});
  if (text.substr(0, 8) == "NOSCRIPT") {
    result.what = lock::answer::no_script;
    return result;
  }
  if (const auto* const unfit = redis::unfitness_of(text); unfit != nullptr) {
    // The connection ends, and the next one's server is asked.
    result.what = lock::answer::unsent;
    result.details.code = status::refused;
    result.details.say(unfit->told);
    result.details.is_retryable = true;
    return result;
  }
  const auto* row = find_refusal(text);
  if (row == nullptr) {
    result.what = lock::answer::unknown;
    result.details.code = status::unknown;
    result.details.say("the server answered with an unexpected error: ", text);
    result.details.is_ambiguous = true;
    return result;
  }
  result.what = lock::answer::refused;
  result.details.code = status::refused;
  result.details.say(row->mend);
  result.details.is_retryable = row->is_retryable;
  result.is_passing = row->is_passing;
  return result;
}

}  // namespace mortise::protocol
