// The trace of a run, for the model of the votes (tests/checks/model). It has each command that
// concerns the vote for a mutex, with its reply and the keys after it. It also has the restarts of
// the servers, and the holds of the clients. docs/internals/models.md describes the JSON lines.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/harness/trace_file.hpp"
#include "simulation/redlock/redlock_node.hpp"

namespace mortise::redlock_simulation {

class vote_trace final : public process_simulation::hold_trace {
 public:
  using nodes = std::vector<std::unique_ptr<node>>;
  // Throws when the file cannot be written.
  vote_trace(const world& around, const nodes& servers, std::int64_t quarantine_ms,
             const std::string& file);

  // A server executes a command.
  simulation::reply execute(std::size_t server, const simulation::arguments& command);
  // It writes its snapshot, or restarts with what the event says.
  void note_snapshot(std::size_t server);
  void note_restart(std::size_t server, std::string_view with);

  void note_hold(const std::string& name, std::string_view owner, std::int64_t token,
                 time_ns deadline) override;
  void note_deadline(const std::string& name, std::string_view owner, time_ns deadline) override;
  void note_end(const std::string& name, std::string_view owner, time_ns at) override;

 private:
  void write(std::size_t server, std::string_view event, const std::string& fields);
  [[nodiscard]] std::string keys_of(std::size_t server, const simulation::arguments& command,
                                    bool is_of_lock) const;
  [[nodiscard]] std::string deadlines(time_ns deadline) const;

  const world& world_;
  const nodes& nodes_;
  simulation::trace_file file_;
};

}  // namespace mortise::redlock_simulation
