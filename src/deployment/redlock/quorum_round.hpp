// One request in flight to all servers of a quorum.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "deployment/api/deployment.hpp"
#include "deployment/redlock/votes/vote_count.hpp"
#include "deployment/sharded/server_group.hpp"
#include "lock/step.hpp"

namespace mortise::deployment {

class quorum_request;
class quorum_round;

// On the thread that reads, without a lock held.
class quorum_round_listener {
 public:
  virtual ~quorum_round_listener() = default;
  virtual void on_answer(quorum_round& round, std::size_t server, const lock::step_result& reply,
                         time_ns now) noexcept = 0;
};

// Guarded by its listener, which reuses it after all replies.
class quorum_round {
 public:
  quorum_round(const server_group& servers, quorum_round_listener& hears);

  // Sends the request to the servers in `targets`. `operation` is an operation that does not wait
  // for the replies, or nullptr for the I/O thread. A failed send counts as a reply. Returns a
  // result if no further reply can change it.
  std::optional<lock::step_result> begin(const lock::step_request& request,
                                         const protocol::table& rules,
                                         std::shared_ptr<const protocol::key_set> keys, time_ns now,
                                         const quorum::server_set& targets,
                                         const lock::operation* operation = nullptr);
  // The servers that reply, or have replied.
  [[nodiscard]] const quorum::server_set& sent_to() const noexcept { return sent_to_; }
  // Sends it again to a server that has forgotten the script. False if the send fails.
  bool send_text(std::size_t server) noexcept;

  [[nodiscard]] bool is_over() const noexcept { return !votes_ || votes_->is_answered(); }
  [[nodiscard]] quorum::vote_count& votes() noexcept { return *votes_; }
  [[nodiscard]] const quorum::vote_count& votes() const noexcept { return *votes_; }
  [[nodiscard]] const lock::step_request& asked() const noexcept { return asked_; }
  [[nodiscard]] const protocol::table& rules() const noexcept { return *rules_; }
  [[nodiscard]] const std::shared_ptr<const protocol::key_set>& keys() const noexcept {
    return keys_;
  }
  [[nodiscard]] time_ns sent() const noexcept { return sent_; }

  // For the listener.
  quorum_request* of = nullptr;  // the request that waits; nullptr after its result
  time_ns heard = 0;             // time of the first reply; 0 before
  int proposals = 0;             // number of proposals for this request
  bool is_confirming = false;    // it has the votes, and sends a higher proposal
  bool has_quorum = false;       // a quorum has granted or renewed
  quorum::server_set topped_up;
  std::size_t place = 0;  // in its pool

 private:
  // Identifies the server of each reply.
  struct ear final : lock_requester {
    void on_result(lock_request& /*answered*/, const lock::step_result& result,
                   time_ns now) noexcept override {
      round->hears_.on_answer(*round, server, result, now);
    }
    quorum_round* round = nullptr;
    std::size_t server = 0;
  };

  quorum_round_listener& hears_;
  std::vector<ear> ears_;
  std::vector<std::unique_ptr<lock_request>> requests_;
  std::optional<quorum::vote_count> votes_;
  lock::step_request asked_;
  std::string token_;  // for the request, which refers to it
  const protocol::table* rules_ = nullptr;
  std::shared_ptr<const protocol::key_set> keys_;
  time_ns sent_ = 0;
  quorum::server_set sent_to_;
};

}  // namespace mortise::deployment
