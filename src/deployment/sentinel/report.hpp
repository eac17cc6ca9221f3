// The report of one Sentinel about a master, and the result of several reports. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "redis/login/url.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::sentinel {

// The number of a master's replicas, and of those that the Sentinel does not consider down.
struct replica_count {
  std::int64_t all = 0;
  std::int64_t up = 0;
};

class report {
 public:
  // Appends the requests about this master. take() receives as many replies, in order.
  static std::size_t write_requests(std::string& out, std::string_view master);
  void take(const redis::value& reply);

  // Whether the Sentinel knows the master's address.
  [[nodiscard]] bool has_master() const noexcept { return !master_.host.empty(); }
  [[nodiscard]] const redis::host_port& master() const noexcept { return master_; }
  // The number of the failover that has made this server the master. Later failovers have higher
  // numbers.
  [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }
  // nullopt if it is not reported.
  [[nodiscard]] std::optional<replica_count> replicas() const noexcept { return replicas_; }
  // The number of Sentinels that watch the master, including this one.
  [[nodiscard]] std::int64_t sentinels() const noexcept { return sentinels_; }
  // Whether the Sentinel replies, but watches no master of that name.
  [[nodiscard]] bool is_unwatched() const noexcept { return is_unwatched_; }
  // The report, or why there is none, as the end of a sentence that begins with the Sentinel's
  // address.
  [[nodiscard]] std::string text() const;

 private:
  void take_error(std::string_view error);
  void take_master(const redis::value& reply);
  void take_replicas(const redis::value& reply);

  std::size_t taken_ = 0;
  redis::host_port master_;
  std::int64_t epoch_ = 0;
  std::optional<replica_count> replicas_;
  std::int64_t sentinels_ = std::numeric_limits<std::int64_t>::max();  // unless it is reported
  bool is_unwatched_ = false;
  std::vector<std::string> other_masters_;  // other masters that it watches
  std::string error_;
};

// The report of a Sentinel about a master, or why there is none.
struct sentinel_result {
  std::string sentinel;  // the Sentinel: "host:port"
  report content;
  outcome problem;  // ok if it has replied
  bool is_definite = false;
};

// Addresses of the master from the Sentinels that know the latest failover. Several if they
// disagree.
std::vector<redis::host_port> latest(const std::vector<sentinel_result>& results);
// The number of the master's replicas, and of those that could become the master, from the same
// Sentinels. nullopt if none reports it.
std::optional<replica_count> most_replicas(const std::vector<sentinel_result>& results);
// Why no Sentinel reports the address.
outcome why_unreported(const std::vector<sentinel_result>& results, std::string_view master);
// Why none of several addresses is chosen.
outcome why_undecided(const std::vector<sentinel_result>& results, std::string_view master);

}  // namespace mortise::sentinel
