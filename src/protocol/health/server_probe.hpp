// The requests of a health check to a server, in two rounds, and the reading of the replies.
// Changes nothing at the server. No socket and no clock: bytes out, replies and times in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "protocol/health/server_facts.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::protocol {

// A right that Mortise uses, as an ACL names it.
struct used_right {
  std::string_view name;
  bool is_essential;  // some lock needs it
};
// All rights.
std::span<const used_right> used_rights() noexcept;

// The keys of the health check.
struct probe_keys {
  std::string prefix = {};       // see settings::key_prefix
  std::string place = {};        // place of all keys except the fence counter (see place_of)
  std::string fence_place = {};  // place of the fence counter
  time_ns lifted_ns = 0;         // since when the client lifts the counter; 0: never
};

class server_probe {
 public:
  explicit server_probe(std::int64_t database, const probe_keys& keys = {});

  // Appends the next round and returns its number of replies. Each reply goes to take().
  int write_round(std::string& out, time_ns now);
  // Takes the next reply, received at this time of the two clocks.
  void take(const redis::value& reply, time_ns now, std::int64_t wall_us);

  // Whether the last round has been written.
  [[nodiscard]] bool is_over() const noexcept { return round_ == 2; }
  [[nodiscard]] const server_facts& facts() const noexcept { return facts_; }

 private:
  // The reader of a reply, and its subject: a right or a parameter.
  struct step_request {
    void (*read)(server_facts& facts, const redis::value& reply, std::string_view about);
    std::string_view about;
  };

  void ask(std::string& out, step_request what, std::span<const std::string_view> words);
  void begin(std::string& out);
  void look_around(std::string& out);
  void try_rights(std::string& out);
  void note_time(const redis::value& reply, time_ns now, std::int64_t wall_us);

  const std::int64_t database_;
  const std::string key_;
  const std::string channel_;
  const std::string fence_;
  int round_ = 0;
  std::vector<step_request> requests_;
  std::size_t answered_ = 0;
  time_ns sent_ns_ = 0;
  server_facts facts_;
};

}  // namespace mortise::protocol
