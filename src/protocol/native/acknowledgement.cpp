#include "protocol/native/acknowledgement.hpp"

#include <algorithm>

#include "base/text/decimal.hpp"
#include "redis/resp/command.hpp"
#include "redis/resp/info.hpp"

namespace mortise::protocol {

namespace {

// The server deletes the mark when no acknowledgement was requested for this long.
constexpr std::string_view mark_life_ms = "60000";

}  // namespace

// The first command creates the key. The second one needs no memory and extends an existing key.
// WAIT looks at the last write of this connection. Without a new write WAIT would always succeed
// (hazard 9).
void write_mark(std::string& out, const client_identity& client, std::string_view place) {
  auto key = client.prefix + "mortise:acks:";
  key.append(client.id).append(place);
  redis::command_writer writer(out);
  writer.command({"SET", key, "", "PX", mark_life_ms, "NX"});
  writer.command({"PEXPIRE", key, mark_life_ms});
}

bool is_marked(const redis::value& made, const redis::value& prolonged) noexcept {
  return made.type() == redis::kind::status || prolonged.integer() == 1;
}

void write_wait(std::string& out, const acknowledgement_terms& terms, std::int64_t replicas,
                std::int64_t timeout_ms) {
  const auto count = std::to_string(replicas);
  const auto timeout = std::to_string(timeout_ms);
  redis::command_writer writer(out);
  if (terms.is_fsynced) {
    writer.command({"WAITAOF", "1", count, timeout});
  } else {
    writer.command({"WAIT", count, timeout});
  }
}

std::int64_t read_wait(const acknowledgement_terms& terms, const redis::value& reply) noexcept {
  if (!terms.is_fsynced) return reply.integer();
  return reply.at(0).integer() == 1 ? reply.at(1).integer() : -1;
}

void write_replication(std::string& out) {
  redis::command_writer(out).command({"INFO", "replication"});
}

std::optional<replication> read_replication(std::string_view info) {
  replication result;
  result.history = redis::info_field(info, "master_replid");
  for (int i = 0;; ++i) {
    const auto one = redis::info_field(info, "slave" + std::to_string(i));
    if (one.empty()) break;
    ++result.connected;
    if (one.find("state=online") != one.npos) ++result.online;
  }
  if (result.history.empty() || redis::info_field(info, "role") != "master") return std::nullopt;
  return result;
}

void write_own_name(std::string& out) { redis::command_writer(out).command({"CLUSTER", "MYID"}); }

void write_replicas(std::string& out, std::string_view name) {
  redis::command_writer(out).command({"CLUSTER", "REPLICAS", name});
}

// "<id> 127.0.0.1:7005@17005 slave,fail <id of the master> ...". A replica is only `fail?` while
// other servers disagree, and could still be promoted.
std::optional<std::int64_t> count_replicas(const redis::value& reply) noexcept {
  if (reply.type() != redis::kind::array) return std::nullopt;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < reply.size(); ++i) {
    auto line = reply.at(i).text();
    for (int field = 0; field < 2; ++field) {
      line.remove_prefix(std::min(line.find(' '), line.size()));
      line.remove_prefix(std::min<std::size_t>(1, line.size()));
    }
    auto flags = line.substr(0, line.find(' '));
    bool is_gone = false;
    while (!flags.empty()) {
      const auto flag = flags.substr(0, flags.find(','));
      is_gone = is_gone || flag == "fail" || flag == "noaddr";
      flags.remove_prefix(std::min(flag.size() + 1, flags.size()));
    }
    if (!is_gone) ++count;
  }
  return count;
}

}  // namespace mortise::protocol
