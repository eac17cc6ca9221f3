// Which of a client's gates wait for a word on which channel.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "deployment/deployment.hpp"

namespace mortise::client {

class subscriptions {
 public:
  // A gate begins to listen or ends it. Called under the gate's mutex.
  void add(deployment::deployment& servers, const deployment::named_key& lock,
           std::string_view channel, std::uint64_t gate_id);
  void remove(deployment::deployment& servers, const deployment::named_key& lock,
              std::string_view channel, std::uint64_t gate_id) noexcept;

  // The connection for these names is new: what was said meanwhile was missed.
  void begin_anew(const deployment::name_set& names) noexcept;
  // Who listens to a channel, one after the other: the first whose number is above this, or 0.
  std::uint64_t next_listener(std::string_view channel, std::uint64_t after) noexcept;
  // Who has not looked at the lock since nothing is missed on the channel: what was said before is.
  // Each is named once; 0 when there is none.
  std::uint64_t next_newcomer(std::string_view channel) noexcept;

 private:
  struct subscriber {
    std::uint64_t gate_id;
    std::string name;  // of its lock
    std::string key;
    bool is_new;
  };
  static bool is_before(const subscriber& item, std::uint64_t gate_id) noexcept;

  std::mutex mutex_;
  std::map<std::string, std::vector<subscriber>, std::less<>> by_channel_;  // each list by number
};

}  // namespace mortise::client
