// The trace of a run, for the model of the protocol (tests/checks/model). It has each command that
// concerns a mutex, with its reply, its messages and the keys after it. It also has the holds of
// the clients. docs/internals/models.md describes the JSON lines.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "simulation/harness/trace_file.hpp"

namespace mortise::simulation {

class simulated_server;
struct world;

class lock_trace {
 public:
  // Throws when the file cannot be written.
  lock_trace(const world& around, simulated_server& server, const std::string& file);
  ~lock_trace();
  lock_trace(const lock_trace&) = delete;
  lock_trace& operator=(const lock_trace&) = delete;

  // The server executes a command of a client.
  void execute(session& from, const arguments& command);
  // A hold of a client begins, or has a later deadline, or is over. True times.
  void note_hold(const std::string& name, std::string_view owner, std::int64_t token,
                 time_ns deadline);
  void note_deadline(const std::string& name, std::string_view owner, time_ns deadline);
  void note_end(const std::string& name, std::string_view owner, time_ns at);

 private:
  struct step {
    std::string event;  // empty: no concern of the trace
    std::string lock_key;
    std::string owner;
    std::string arguments;
  };
  [[nodiscard]] step read(const session& from, const arguments& command) const;
  [[nodiscard]] std::int64_t server_ms(time_ns truth) const;
  [[nodiscard]] std::int64_t fence() const;
  void note_listeners();
  void note_renewals(const arguments& command, std::int64_t now_us, std::int64_t fence_before);
  void write(std::string_view event, time_ns at, const std::string& fields);
  [[nodiscard]] std::string keys_of(const std::string& lock_key) const;

  const world& world_;
  simulated_server& server_;
  trace_file file_;
  std::set<std::string> listeners_;  // the inboxes that have a subscriber
  std::string run_id_;
  std::vector<std::string> messages_;  // of the present command
};

}  // namespace mortise::simulation
