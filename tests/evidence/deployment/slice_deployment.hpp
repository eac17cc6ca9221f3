// The servers of one slice of evidence, the ways of recorders to them, and the faults of servers
// and networks that can be injected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/server.hpp"

namespace mortise::evidence {

struct fault {
  // Of the network, recorders may keep what they hold.
  enum class part : std::uint8_t { server, network };
  part of;
  std::string name;
  // Returns after the end of the fault, when the deployment is whole again. False if the fault was
  // not injected, which is observed where the servers show it.
  std::function<bool()> inject;
};

// How a recorder reaches the servers: a URL with the word OPTIONS, for "" or "&fair=strict", and
// the network namespace of its host, if it has one.
struct entrance {
  std::string url;
  std::string host;
};

struct slice_settings {
  std::string kind;
  unsigned seed = 1;
  std::vector<std::string> locks;  // names
};

class slice_deployment {
 public:
  explicit slice_deployment(const slice_settings& chosen)
      : locks_(chosen.locks), chance_(chosen.seed) {}
  virtual ~slice_deployment() = default;
  slice_deployment(const slice_deployment&) = delete;
  slice_deployment& operator=(const slice_deployment&) = delete;

  // Recorders take turns with these.
  [[nodiscard]] virtual std::vector<entrance> entrances() = 0;
  // Whether all faults are inside the promise, so that no two exclusive holds overlap.
  [[nodiscard]] virtual bool is_exclusive() const = 0;
  [[nodiscard]] virtual bool has_semaphores() const { return true; }
  [[nodiscard]] const std::vector<fault>& faults() const { return faults_; }
  // Locks that are taken, and keys that never expire. None is left after the recorders have ended.
  [[nodiscard]] std::vector<std::string> leftovers();

 protected:
  using server_choice = std::function<testing::test_server&()>;

  [[nodiscard]] std::size_t random_below(std::size_t limit) { return chance_() % limit; }
  [[nodiscard]] const std::string& random_lock() { return locks_.at(random_below(locks_.size())); }
  void rest_ms(std::size_t least, std::size_t most);
  void add(fault::part of, std::string name, std::function<bool()> inject) {
    faults_.push_back({of, std::move(name), std::move(inject)});
  }
  // Those that a server withstands without a restart, in any deployment.
  void add_common(const server_choice& server);
  // The server's clock is set back, or runs 0.5 % too fast or too slow for two seconds. It never
  // returns, because a step ahead would end leases.
  void add_clocks(const server_choice& server);

  // Those that hold keys now.
  [[nodiscard]] virtual std::vector<testing::test_server*> keepers() = 0;

 private:
  bool pause_clients(testing::test_server& server);
  bool fill_memory(testing::test_server& server);
  bool stop(testing::test_server& server);
  bool repeat_messages(testing::test_server& server);
  bool move_clock(testing::test_server& server, std::int64_t by_ms);

  const std::vector<std::string> locks_;
  std::vector<fault> faults_;
  std::mt19937 chance_;
  std::vector<std::pair<testing::test_server*, std::int64_t>> clocks_;  // how far ahead, in us
};

[[nodiscard]] inline std::string key_of(const std::string& lock) {
  return "{mortise:" + lock + "}";
}

// Throws std::invalid_argument for a kind that is none, and lists all.
std::unique_ptr<slice_deployment> open_deployment(const slice_settings& chosen);
// One per family of deployments. None for a kind of another family.
std::unique_ptr<slice_deployment> open_servers(const slice_settings& chosen);
std::unique_ptr<slice_deployment> open_quorum(const slice_settings& chosen);
std::unique_ptr<slice_deployment> open_sentinels(const slice_settings& chosen);
std::unique_ptr<slice_deployment> open_cluster(const slice_settings& chosen);

}  // namespace mortise::evidence
