#include "redis/service/service_gaps.hpp"

#include <algorithm>
#include <array>

namespace mortise::redis {

namespace {

// The other commands have substitutes. HELLO: RESP2 and a second connection. SCRIPT: EVAL with the
// text of the script. CLIENT: the old connection ends by itself.
constexpr std::array<std::string_view, 3> needed{"MULTI", "EVAL", "SUBSCRIBE"};

bool is_needed(std::string_view command) noexcept {
  return std::find(needed.begin(), needed.end(), command) != needed.end();
}

std::string list_of(const std::vector<const char*>& commands) {
  std::string list;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (i > 0) list += i + 1 < commands.size() ? ", " : " and ";
    list += commands[i];
  }
  return list;
}

}  // namespace

// Redis, Valkey and derived servers; Envoy, in two ways; Alibaba Cloud, with the command in the
// middle.
bool is_unknown_command(std::string_view error) noexcept {
  constexpr std::string_view alibaba = "ERR command ";
  return error.starts_with("ERR unknown command") || error.starts_with("unsupported command") ||
         error.ends_with("is not supported by the proxy") ||
         (error.starts_with(alibaba) && error.find(" not support") != std::string_view::npos);
}

void service_gaps::note(const char* command) {
  const std::string_view name = command;
  const auto is_same = [&](const char* known) { return known == name; };
  if (std::none_of(commands_.begin(), commands_.end(), is_same)) commands_.push_back(command);
}

bool service_gaps::excludes_locks() const noexcept {
  return std::any_of(commands_.begin(), commands_.end(), is_needed);
}

std::string service_gaps::text() const { return list_of(commands_); }

std::string service_gaps::remedy() const {
  std::vector<const char*> lacking;
  std::copy_if(commands_.begin(), commands_.end(), std::back_inserter(lacking), is_needed);
  return "locks need " + list_of(lacking) +
         ": give the address of the server behind it, or use a service that has them";
}

}  // namespace mortise::redis
