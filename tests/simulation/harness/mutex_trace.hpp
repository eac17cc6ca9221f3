// The trace of a run, for the model of the protocol (tests/checks/model). It has each command that
// concerns a mutex, with its reply, its messages and the keys after it. It also has the holds of
// the clients. docs/internals/models.md describes the JSON lines.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "simulation/harness/simulated_redis.hpp"
#include "simulation/harness/trace_file.hpp"
#include "simulation/harness/virtual_time.hpp"

namespace mortise::simulation {

// The only server, or a slot of a cluster.
struct mutex_place {
  // The first executes the command. Each key is at one of them.
  std::vector<simulated_redis*> servers;
  std::string tag;                  // of the slot
  std::string fields;               // of each event that concerns the place
  std::set<std::string> listeners;  // the clients with a subscriber to their inbox
  std::string run_id;               // of the server that the latest handshake has met
};

class mutex_trace : public hold_trace {
 public:
  void note_hold(const std::string& name, std::string_view owner, std::int64_t token,
                 time_ns deadline) override;
  void note_deadline(const std::string& name, std::string_view owner, time_ns deadline) override;
  void note_end(const std::string& name, std::string_view owner, time_ns at) override;

 protected:
  // `clock` is that of all servers. The header has these fields too. Throws when the file cannot be
  // written.
  mutex_trace(const virtual_time& time, const drifting_clock& clock, const std::string& file,
              const std::string& fields);

  // A server executes a command of a client, by `run`.
  void execute(mutex_place& at, session& from, const arguments& command,
               const std::function<void()>& run);
  // A client has received a message.
  void note_message(const std::string& text) { messages_.push_back(text); }

 private:
  struct step {
    std::string event;  // empty: no concern of the trace
    std::string lock_key;
    std::string owner;
    std::string arguments;
  };
  [[nodiscard]] static step read(const session& from, const arguments& command);
  void note(const mutex_place& at, std::string_view event, const std::string& fields);
  void note_listeners(mutex_place& at);
  void note_run(mutex_place& at);
  void note_renewals(const mutex_place& at, const arguments& command, const std::string& before);
  [[nodiscard]] std::int64_t server_ms(time_ns truth) const;
  void write(std::string_view event, time_ns at, const std::string& fields);

  const virtual_time& time_;
  const drifting_clock& clock_;
  trace_file file_;
  std::vector<std::string> messages_;  // of the present command
};

}  // namespace mortise::simulation
