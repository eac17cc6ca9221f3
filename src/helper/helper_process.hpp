// The client's side of its helper process (option `release_on_death`). The helper has the release
// of each claim in shared memory, and a connection to each server. When this process is dead, it
// sends the releases.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/time.hpp"
#include "helper/shared_memory.hpp"

namespace mortise::helper {

// A place for the release of one claim. A forked child has the same memory, but its handles do
// nothing (hazard 21).
class claim_place {
 public:
  explicit claim_place(claim_record& record) noexcept : record_(&record) {}
  // False for a request that is too long.
  [[nodiscard]] bool write(std::string_view request) noexcept;
  void clear() noexcept;
  // The connection to the server that has the claim.
  void note_connection(std::int32_t connection) noexcept;

 private:
  friend class helper_process;

  claim_record* record_;
};

// Any thread.
class helper_process {
 public:
  helper_process() = default;
  ~helper_process();
  helper_process(const helper_process&) = delete;
  helper_process& operator=(const helper_process&) = delete;

  // Starts the helper unless it runs, which may take 2 s. Costs no system call while it runs,
  // except once a second. Not the I/O thread.
  outcome begin(time_ns now);
  // The helper ends without a release.
  void end() noexcept;

  // A number for the connection to a server; -1 if there are too many.
  std::int32_t add_connection() noexcept;
  // The descriptor of an open connection, which is copied; -1 for none. False if it cannot be
  // copied.
  bool set_connection(std::int32_t connection, int descriptor) noexcept;
  // A command that the helper sends before all releases. Throws bad_alloc.
  void add_script(std::string_view command);
  // Throws bad_alloc. nullopt if there are too many.
  [[nodiscard]] std::optional<claim_place> take_place();
  void give_back(claim_place place) noexcept;

 private:
  outcome map_memory();
  outcome start_or_check(time_ns now);
  // Sets the socket to the started helper.
  outcome start(int& control, time_ns deadline);
  outcome share_connections(int control, time_ns now, time_ns deadline);
  [[nodiscard]] bool is_running() noexcept;
  void stop() noexcept;
  void quit() noexcept;
  // Returns 0 or the error; EAGAIN: the helper has not read the messages before.
  [[nodiscard]] int send(std::int32_t what, std::int32_t connection, int descriptor) noexcept;
  void share_scripts() noexcept;

  std::atomic<time_ns> runs_until_{0};  // the time of the next check; 0: it does not run
  std::mutex start_mutex_;              // during a start, before the other mutex
  time_ns failed_at_ = 0;               // of the last start, under the mutex of the start
  outcome failure_;
  std::mutex mutex_;  // guards the members below
  shared_memory* memory_ = nullptr;
  int memory_fd_ = -1;
  int control_ = -1;
  bool is_ended_ = false;
  std::string scripts_;
  std::vector<int> connections_;  // copies of the descriptors, by number; -1 for none
  std::vector<std::uint32_t> free_places_;
};

}  // namespace mortise::helper
