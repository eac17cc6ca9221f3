// The trace of a run with one server.
#pragma once

#include <string>

#include "simulation/harness/mutex_trace.hpp"

namespace mortise::simulation {

class simulated_server;
struct world;

class lock_trace final : public mutex_trace {
 public:
  // Throws when the file cannot be written.
  lock_trace(const world& around, simulated_server& server, const std::string& file);
  ~lock_trace() override;
  lock_trace(const lock_trace&) = delete;
  lock_trace& operator=(const lock_trace&) = delete;

  // The server executes a command of a client.
  void execute(session& from, const arguments& command);

 private:
  simulated_server& server_;
  mutex_place place_;
};

}  // namespace mortise::simulation
