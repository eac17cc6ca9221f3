// One step on its way to one server, in the words that the server is known to understand.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "deployment/acknowledgements.hpp"
#include "deployment/deployment.hpp"
#include "redis/compare_and_delete.hpp"
#include "redis/connection.hpp"

namespace mortise::deployment {

// What the present session's server is known to do without a script. It is only ever a guess: the
// server may change behind the connection, and then says so.
using known_commands = std::atomic<redis::compare_and_delete>;

class server_request : public lock_request, private redis::request {
 public:
  explicit server_request(lock_requester& asker);
  ~server_request() override;

 protected:
  // Who says whether replicas have what the server has answered, and for locks of which place
  // (protocol::place_of; it outlives this); nobody where it counts without them.
  struct witness {
    acknowledgements* replicas = nullptr;
    std::string_view place = {};
  };
  // Notes what is asked; ok or no_memory. `is_moving`: the other keys of the lock may be at another
  // server, so a renewal touches the lock's own only where it can (hazard 29).
  status write(const lock::step_request& asked, const protocol::table& rules,
               const protocol::key_set& keys, const known_commands& known,
               bool is_moving = false) noexcept;
  // Whether what was noted names one key only.
  [[nodiscard]] bool is_of_one_key() const noexcept { return is_of_one_key_; }
  // Sends it, as redis::connection::submit, for an operation whose caller lends its thread for the
  // answer; nullptr for nobody's.
  status submit(redis::connection& server, known_commands& known, const lock::operation* by,
                witness of) noexcept;
  // Sends it once more, to a server that a slot is being moved to; for nobody's thread.
  status submit_asking(redis::connection& server, known_commands& known) noexcept;
  // It is not sent at once, so that its answer says nothing of the server.
  void leave_unmeasured() noexcept { asked_at_ = 0; }
  virtual void tell(const lock::step_result& said, time_ns now) noexcept {
    asker_.on_result(*this, said, now);
  }

 private:
  // Whether the question was sent on to another server, because of this error.
  virtual bool is_sent_on(std::string_view /*error*/) noexcept { return false; }
  // Whether the error is about where the step_request went; then `said` is what is told of it.
  virtual bool is_astray(std::string_view /*error*/, lock::step_result& /*said*/) noexcept {
    return false;
  }
  bool note_witness(witness of) noexcept;
  static redis::flush flush_for(const lock::operation* by) noexcept;
  void on_reply(const redis::value& reply, time_ns now) noexcept final;
  void on_broken(bool was_sent) noexcept final;

  lock_requester& asker_;
  redis::connection* server_ = nullptr;
  known_commands* known_ = nullptr;
  const protocol::table* rules_ = nullptr;
  lock::step what_ = lock::step::try_take;
  bool is_without_script_ = false;
  bool is_of_one_key_ = false;
  std::int64_t lease_ms_ = 0;
  time_ns asked_at_ = 0;
  // What waits for replicas, where these are asked; most locks have none.
  class acknowledgement;
  std::unique_ptr<acknowledgement> acknowledgement_;
  std::string bytes_;  // kept for its capacity
};

}  // namespace mortise::deployment
