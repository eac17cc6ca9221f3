// What one Sentinel says of a master, and what several come to together. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "redis/resp.hpp"
#include "redis/url.hpp"

namespace mortise::sentinel {

// How many replicas a master has, and how many of them are not held to be down.
struct replica_count {
  std::int64_t all = 0;
  std::int64_t up = 0;
};

class report {
 public:
  // Appends the questions about this master; take() is given as many answers, in order.
  static std::size_t write_questions(std::string& out, std::string_view master);
  void take(const redis::value& answer);

  // Whether it knows where the master is.
  [[nodiscard]] bool has_master() const noexcept { return !master_.host.empty(); }
  [[nodiscard]] const redis::host_port& master() const noexcept { return master_; }
  // Which of all failovers of this master has made it one: each has a higher number.
  [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }
  // Nothing where it does not say.
  [[nodiscard]] std::optional<replica_count> replicas() const noexcept { return replicas_; }
  // How many Sentinels watch it, with this one.
  [[nodiscard]] std::int64_t sentinels() const noexcept { return sentinels_; }
  // Whether it answers, but watches no master of that name.
  [[nodiscard]] bool is_stranger() const noexcept { return is_stranger_; }
  // What it says of the master, or why it cannot say anything, as the end of a sentence that begins
  // with its address.
  [[nodiscard]] std::string text() const;

 private:
  void take_error(std::string_view error);
  void take_master(const redis::value& answer);
  void take_replicas(const redis::value& answer);

  std::size_t taken_ = 0;
  redis::host_port master_;
  std::int64_t epoch_ = 0;
  std::optional<replica_count> replicas_;
  std::int64_t sentinels_ = std::numeric_limits<std::int64_t>::max();  // unless it says how many
  bool is_stranger_ = false;
  std::vector<std::string> others_;  // that it watches
  std::string error_;
};

// What is told of a master by one of them, or why nothing is.
struct word {
  std::string from;  // the Sentinel: "host:port"
  report said;
  outcome problem;  // ok where it has answered
  bool is_definite = false;
};

// The places that those name who know of the latest failover: one, or several where they disagree.
std::vector<redis::host_port> latest(const std::vector<word>& words);
// How many replicas the master has and how many of them could become the master, by those; nothing
// where none says so.
std::optional<replica_count> most_replicas(const std::vector<word>& words);
// Why nobody can say where it is.
outcome why_nowhere(const std::vector<word>& words, std::string_view master);
// Why it cannot be told which of several places is right.
outcome why_undecided(const std::vector<word>& words, std::string_view master);

}  // namespace mortise::sentinel
