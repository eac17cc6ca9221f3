// Sends requests to a quorum of servers: rounds of votes, renewals and releases. Completes the work
// on servers without waiting for their replies.
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
#include "deployment/redlock/quorum_round.hpp"
#include "deployment/redlock/votes/answer_times.hpp"
#include "deployment/redlock/votes/delivery.hpp"
#include "deployment/redlock/votes/proposals.hpp"
#include "deployment/redlock/votes/vote_count.hpp"
#include "deployment/redlock/votes/vote_record.hpp"
#include "deployment/requests/background_request.hpp"
#include "deployment/requests/object_pool.hpp"
#include "deployment/sharded/server_group.hpp"
#include "net/reactor.hpp"

namespace mortise::deployment {

class redlock_coordinator;

class quorum_request final : public lock_request {
 public:
  quorum_request(redlock_coordinator& all, lock_requester& requester, const named_key& lock);
  ~quorum_request() override;
  status send(const lock::step_request& request, const protocol::table& rules,
              const protocol::key_set& keys, const lock::operation* operation) noexcept override;

 private:
  friend class redlock_coordinator;
  redlock_coordinator& all_;
  lock_requester& asker_;
  const std::string name_;
  std::shared_ptr<const protocol::key_set> keys_;  // shared, because rounds may outlive this
  quorum_round* round_ = nullptr;                  // the round of its result
};

// The votes for one owner token.
struct acquisition {
  std::string name;  // of the lock
  const protocol::table* rules = nullptr;
  std::shared_ptr<const protocol::key_set> keys;
  std::int64_t proposal = 0;      // the highest one in a request for votes
  bool is_kept = false;           // votes are requested or held
  bool is_forced = false;         // a forced release runs: no vote is requested again
  quorum::vote_record votes;      // each needs a release, unless it is kept
  std::size_t rounds = 0;         // number of open rounds
  time_ns lapses_at = 0;          // all votes for it have ended by then
  time_ns retry_at = time_never;  // when a failed request can be retried
  int failures = 0;               // consecutive failed requests
  lock::step give_back = lock::step::release_alone;  // a release notifies waiters, this does not
};

class redlock_coordinator final : private quorum_round_listener,
                                  private background_request_listener,
                                  private net::timer {
 public:
  // On the I/O thread: failed requests for these names can be retried.
  class listener {
   public:
    virtual ~listener() = default;
    virtual void on_worth_asking(const name_set& names, time_ns now) noexcept = 0;
  };

  // `count` is the number of servers at the first request.
  redlock_coordinator(const server_group& servers, std::size_t count, net::reactor& loop,
                      listener& hears);
  ~redlock_coordinator() override;

  // Like lock_request::send(). Only an operation that does not wait sends on its own thread.
  status ask(quorum_request& requester, const lock::step_request& request,
             const protocol::table& rules, const lock::operation* sends);
  // The request ends before its result.
  void forget(const quorum_request& request) noexcept;
  // Pending releases can be delivered to this server now.
  void on_server_up(std::size_t server, time_ns now) noexcept;
  // A forced release takes its votes, one server after the other.
  void on_forced(std::string_view token) noexcept;
  // Notes a fencing token that this client has seen. All later proposals are higher.
  void note_token(std::int64_t token) noexcept;
  // Stops the timer.
  void close() noexcept { loop_.cancel(static_cast<net::timer&>(*this)); }

 private:
  friend class quorum_request;
  using lock_type = std::unique_lock<std::mutex>;

  void on_answer(quorum_round& round, std::size_t server, const lock::step_result& reply,
                 time_ns now) noexcept override;
  void on_timer(time_ns now) noexcept override;
  void on_background_result(background_request& which, const lock::step_result& reply,
                            time_ns now) noexcept override;

  quorum_round& take_round();
  std::optional<lock::step_result> begin(quorum_round& round, const lock::step_request& made,
                                         acquisition& about, time_ns now,
                                         const lock::operation* sends = nullptr);
  [[nodiscard]] time_ns end_of_patience(const quorum_round& round) const noexcept;
  void end_if_over(quorum_round& round) noexcept;
  [[nodiscard]] quorum::server_set whom_to_ask(const lock::step_request& made,
                                               const acquisition& about) const noexcept;
  lock::step_request request_for(const lock::step_request& request, acquisition& about,
                                 time_ns now);
  void follow_up(quorum_round& round, acquisition& about, std::optional<lock::step_result>& result,
                 time_ns now);
  void follow_round(quorum_round& round, acquisition& about,
                    std::optional<lock::step_result>& result, time_ns now);
  bool propose_again(quorum_round& round, acquisition& about, time_ns now, bool is_confirming);
  void refuse(quorum_round& round, acquisition& about, lock::step_result& result, time_ns now);
  void give_back(const quorum_round& round, acquisition& about, time_ns now);
  void deliver(std::size_t server, time_ns now) noexcept;
  void deliver_later(std::size_t server, time_ns now) noexcept;
  void note_step(acquisition& about, std::size_t server, const lock::step_request& request,
                 const lock::step_result& reply, time_ns now) noexcept;
  [[nodiscard]] lock::step_result counted_as(const acquisition* about, std::size_t server,
                                             lock::step what, const lock::step_result& reply,
                                             time_ns now) const noexcept;
  void retry(acquisition& about, const lock::step_request& request, std::int64_t wait_ms,
             time_ns now) noexcept;
  void top_up(quorum_round& round, acquisition& about, time_ns now);
  status send_release(std::size_t server, std::string_view token, acquisition& about,
                      bool is_of_batch, time_ns now) noexcept;
  status send_in_background(std::size_t server, const lock::step_request& request,
                            acquisition& about, bool is_of_batch, time_ns now) noexcept;
  [[nodiscard]] bool is_wanted(const lock::step_request& request) const noexcept;
  void tell(lock_type& lock, quorum_round& round, const std::optional<lock::step_result>& result,
            time_ns now);
  void drop_if_over(std::string_view token) noexcept;
  void end_patience(lock_type& lock, time_ns now);
  void tell_worth_asking(lock_type& lock, time_ns now) noexcept;
  void sweep(time_ns now) noexcept;
  void plan_sweep(time_ns now) noexcept;
  void plan_look(time_ns at) noexcept;
  [[nodiscard]] std::uint64_t chance() noexcept;
  [[nodiscard]] time_ns below(time_ns limit) noexcept {
    return static_cast<time_ns>(chance() % static_cast<std::uint64_t>(limit));
  }

  const server_group& servers_;
  net::reactor& loop_;
  listener& hears_;
  std::mutex mutex_;
  quorum::proposals proposals_;
  quorum::answer_times times_;
  std::map<std::string, acquisition, std::less<>> acquisitions_;  // by owner token
  object_pool<quorum_round> rounds_;
  // The state of one server: its background requests, its pending releases, and the number of its
  // unanswered requests for votes.
  struct server_state {
    object_pool<background_request> background_requests;
    quorum::delivery owed;
    std::size_t takes = 0;
  };
  std::vector<server_state> states_;
  std::atomic<std::size_t> requests_{0};  // number of requests, one for each lock in use
  time_ns look_at_ = time_never;
  time_ns retries_at_ = time_never;
  time_ns sweep_at_ = time_never;
  std::uint64_t chance_;
};

}  // namespace mortise::deployment
