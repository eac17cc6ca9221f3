// The transport of acquisitions: sends their requests to a quorum of servers, passes replies and
// timeouts, and reports results. Completes the work on servers without waiting for their replies.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "deployment/api/deployment.hpp"
#include "deployment/redlock/background_request.hpp"
#include "deployment/redlock/quorum_round.hpp"
#include "deployment/redlock/votes/acquisition.hpp"
#include "deployment/redlock/votes/delivery.hpp"
#include "deployment/redlock/votes/voters.hpp"
#include "deployment/requests/object_pool.hpp"
#include "deployment/sharded/server_group.hpp"
#include "net/reactor.hpp"

namespace mortise::deployment {

class redlock_coordinator;

class quorum_request final : public lock_request {
 public:
  quorum_request(redlock_coordinator& coordinator, lock_requester& requester,
                 const named_key& lock);
  ~quorum_request() override;
  status send(const lock::step_request& request, const protocol::table& rules,
              const protocol::key_set& keys, const lock::operation* operation) noexcept override;

 private:
  friend class redlock_coordinator;
  redlock_coordinator& coordinator_;
  lock_requester& requester_;
  const std::string lock_;                         // its name
  std::shared_ptr<const protocol::key_set> keys_;  // shared, because owners may outlive this
  quorum_round* round_ = nullptr;                  // the round of its result
};

class redlock_coordinator final : private net::timer {
 public:
  // On the I/O thread: failed requests for these names can be retried.
  class listener {
   public:
    virtual ~listener() = default;
    virtual void on_retry_due(const name_set& names, time_ns now) noexcept = 0;
  };

  // `count` is the number of servers at the first request.
  redlock_coordinator(const server_group& servers, std::size_t count, net::reactor& loop,
                      listener& receiver);
  ~redlock_coordinator() override;

  // Like lock_request::send(). Only an operation that does not wait sends on its own thread.
  status ask(quorum_request& requester, const lock::step_request& request,
             const protocol::table& rules, const lock::operation* operation);
  // From the servers, on the thread that reads.
  void on_reply(quorum_round& round, std::size_t server, const lock::step_result& reply,
                time_ns now) noexcept;
  void on_background_reply(background_request& request, const lock::step_result& reply,
                           time_ns now) noexcept;
  // The request ends before its result.
  void forget(const quorum_request& request) noexcept;
  // Pending releases can be delivered to this server now.
  void on_server_up(std::size_t server, time_ns now) noexcept;
  // A forced release takes its votes, one server after the other.
  void on_forced(std::string_view token, time_ns now) noexcept;
  // Notes a fencing token that this client has seen. All later proposals are higher.
  void note_token(std::int64_t token) noexcept;
  // Stops the timer.
  void close() noexcept { loop_.cancel(static_cast<net::timer&>(*this)); }

 private:
  friend class quorum_request;
  using lock_type = std::unique_lock<std::mutex>;

  void on_timer(time_ns now) noexcept override;
  bool start(quorum_owner& owner, quorum::round& progress, quorum_request& requester,
             const lock::operation* operation);
  bool propose(quorum_round& round, const lock::step_request& proposal) noexcept;
  std::optional<lock::step_result> perform(quorum_round& round, quorum::action next,
                                           time_ns now) noexcept;
  void send(quorum_owner& owner, const quorum::action& next, time_ns now) noexcept;
  void end_if_over(quorum_round& round) noexcept;
  void complete(lock_type& lock, quorum_round& round,
                const std::optional<lock::step_result>& result, time_ns now) noexcept;
  void deliver(std::size_t server, time_ns now) noexcept;
  void deliver_later(std::size_t server, time_ns now) noexcept;
  void note_release(const quorum_owner& owner, std::size_t server, lock::step what,
                    const lock::step_result& reply, time_ns now) noexcept;
  status send_in_background(std::size_t server, const lock::step_request& request,
                            quorum_owner& owner, bool is_of_batch, time_ns now) noexcept;
  void drop_if_over(std::string_view token) noexcept;
  void end_patience(lock_type& lock, time_ns now) noexcept;
  void report_due_retries(lock_type& lock, time_ns now) noexcept;
  void sweep(time_ns now) noexcept;
  void plan_sweep(time_ns now) noexcept;
  void plan_timer(time_ns at) noexcept;

  const server_group& servers_;
  net::reactor& loop_;
  listener& listener_;
  std::mutex mutex_;
  quorum::voters voters_;
  std::map<std::string, quorum_owner, std::less<>> owners_;  // by owner token
  object_pool<quorum_round> rounds_;
  // The state of one server: its background requests, its pending releases, and the number of its
  // unanswered requests for votes.
  struct server_state {
    object_pool<background_request> background_requests;
    quorum::delivery releases;
    std::size_t takes = 0;
  };
  std::vector<server_state> states_;
  std::atomic<std::size_t> requests_{0};  // number of requests, one for each lock in use
  time_ns timer_at_ = time_never;
  time_ns retries_at_ = time_never;
  time_ns sweep_at_ = time_never;
};

}  // namespace mortise::deployment
