// One step request in flight to one server, in commands that the server is known to support.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "deployment/api/deployment.hpp"
#include "deployment/replication/acknowledgements.hpp"
#include "deployment/replication/helper_connection.hpp"
#include "redis/connection.hpp"
#include "redis/service/compare_and_delete.hpp"

namespace mortise::deployment {

// The commands without a script that the server of this session supports. This is only a guess: the
// server may change behind the connection, and then returns an error.
using known_commands = std::atomic<redis::compare_and_delete>;

class server_request : public lock_request, private redis::request {
 public:
  explicit server_request(lock_requester& requester);
  ~server_request() override;

  // For renewal_batches. Writes a gathered request, and sends it on its own. Both return a status
  // as write() and redis::pipeline::submit do.
  status write_gathered(const lock::step_request& step) noexcept;
  status submit_gathered(redis::connection& server) noexcept;
  // The result of a gathered request. `is_first`: of its batch, which is one request.
  void on_batch_result(lock::step_result result, time_ns now, bool is_first) noexcept;
  void on_batch_broken(bool was_sent) noexcept { on_broken(was_sent); }

 protected:
  // The acknowledgements that the reply needs, and the place of the lock (protocol::place_of, which
  // outlives this). nullptr if the reply counts without replicas.
  struct witness {
    acknowledgements* replicas = nullptr;
    std::string_view place = {};
  };
  // Writes the request, which reads the rules and keys until its reply. Returns ok or no_memory.
  // `is_moving`: the other keys of the lock may be on another server. A renewal then touches only
  // the lock's own key if possible (hazard 29).
  status write(const lock::step_request& step, const protocol::table& rules,
               const protocol::key_set& keys, const known_commands& commands,
               bool is_moving = false) noexcept;
  // Whether the request names only one key.
  [[nodiscard]] bool is_of_one_key() const noexcept { return is_of_one_key_; }
  // Sends it, as redis::pipeline::submit, for an operation whose caller lends its thread for the
  // reply, or nullptr.
  status submit(redis::connection& server, known_commands& commands,
                const lock::operation* operation, witness source) noexcept;
  // Sends it again, to the target server of a slot's move, without a caller's thread.
  status submit_asking(redis::connection& server, known_commands& commands) noexcept;
  // Instead of write() and submit(): for a renewal that renewal_batches sends. Returns ok or
  // no_memory.
  status gather(const lock::step_request& step, const protocol::table& rules,
                const protocol::key_set& keys, redis::connection& server, known_commands& commands,
                witness source) noexcept;
  // The claim is at this server, as far as the helper process has to know.
  void note_server(const helper_connection* of_server) noexcept {
    if (place && of_server != nullptr) place->note_connection(of_server->number());
  }
  // Excludes the reply from the statistics, because the request is not sent at once.
  void leave_unmeasured() noexcept { sent_at_ = 0; }
  virtual void report(const lock::step_result& result, time_ns now) noexcept {
    requester_.on_result(*this, result, now);
  }

 private:
  // Whether the request was forwarded to another server because of this error.
  virtual bool is_forwarded(std::string_view /*error*/) noexcept { return false; }
  // Whether the error means that the request went to the wrong server. Then it sets `result`.
  virtual bool is_misrouted(std::string_view /*error*/, lock::step_result& /*result*/) noexcept {
    return false;
  }
  void begin(const lock::step_request& step, const protocol::table& rules,
             const protocol::key_set& keys) noexcept;
  bool note_witness(witness source) noexcept;
  static redis::flush flush_for(const lock::operation* operation) noexcept;
  void on_reply(const redis::value& reply, time_ns now) noexcept final;
  void on_broken(bool was_sent) noexcept final;
  void conclude(lock::step_result result, time_ns now) noexcept;
  void drop_long_text() noexcept;

  lock_requester& requester_;
  redis::connection* server_ = nullptr;
  known_commands* commands_ = nullptr;
  const protocol::table* rules_ = nullptr;
  const protocol::key_set* keys_ = nullptr;
  lock::step what_ = lock::step::try_take;
  bool is_without_script_ = false;
  bool is_of_one_key_ = false;
  std::int64_t lease_ms_ = 0;
  time_ns sent_at_ = 0;
  // Waits for replicas, if they must acknowledge. Most locks have none.
  class acknowledgement;
  std::unique_ptr<acknowledgement> acknowledgement_;
  std::string bytes_;  // kept for its capacity
};

}  // namespace mortise::deployment
