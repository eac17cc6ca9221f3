// The acquisition of one lock by one owner, as a state machine without I/O: the Redlock algorithm.
// Source: S. Sanfilippo, Distributed Locks with Redis,
// https://redis.io/docs/latest/develop/use/patterns/distributed-locks/. Its five steps:
//
//   1. read the clock                begin(): the lease counts from before the requests
//   2. ask all N servers for a vote  begin(), at once; on_timeout() stops waiting for slow servers
//   3. N/2+1 votes are the lock      on_reply()
//   4. its time is what is left      lock::hold
//   5. or return all votes           refuse(): also those without a reply
//
// Fencing tokens are added. Each round of requests proposes a higher token, which a quorum of votes
// grants. A server does not vote below a token that it knows, so another round follows. Servers
// vote for readers nevertheless. Their quorum confirms a proposal above all these tokens (hazard
// 30).
//
// An upgrade is a round that asks each server to raise the owner's vote. A quorum of raised votes
// excludes all other holders. Without a quorum the servers lower the votes again. A downgrade is a
// renewal with less weight.
//
//   state       event                                       next state
//   idle        begin() of a request for votes              collecting
//   collecting  a quorum                                    granted
//               a quorum that knows a higher token          confirming
//               no quorum, because of a higher token        collecting
//               no quorum is possible, or on_timeout()      returning
//   confirming  as collecting, but a quorum always grants
//   granted     begin() of an upgrade                       granted
//               a quorum, or none: the upgrade is undone    granted
//               begin() of a release                        returning
//               on_timeout() of a renewal                   granted, with requests for lost votes
//   returning   begin() of a request for votes              collecting
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "base/time.hpp"
#include "deployment/redlock/votes/vote_count.hpp"
#include "deployment/redlock/votes/vote_record.hpp"
#include "deployment/redlock/votes/voters.hpp"
#include "lock/amount.hpp"
#include "lock/step.hpp"

namespace mortise::quorum {

// One request to all servers, until the last reply.
struct round {
  lock::step_request request;
  vote_count votes;
  time_ns first_reply = 0;  // 0 before
  bool has_quorum = false;  // a quorum has granted or renewed
};

// What the transport does after an event.
struct action {
  std::optional<lock::step_result> result;  // of the owner's request, unless a proposal is sent
  lock::step_request request;
  bool is_proposal = false;         // the request begins the next round
  server_set servers{};             // or it is sent to these, in the background
  time_ns timeout_at = time_never;  // when on_timeout() is due
};

// The longest `command_timeout`. No forced release succeeds later.
constexpr time_ns longest_force_ns = 60 * ns_per_s;

enum class acquisition_state : std::uint8_t { idle, collecting, confirming, granted, returning };

class acquisition {
 public:
  explicit acquisition(voters& servers) noexcept : voters_(servers) {}

  // ---- requests ---------------------------------------------------------------------------

  // Begins a round for the owner's request, whose token outlives this.
  round& begin(const lock::step_request& request, time_ns now);
  // Begins the round of a proposal.
  round& propose(const lock::step_request& request);
  // A request was sent to the server. A reply always follows.
  void on_sent(std::size_t server, lock::step what) noexcept { votes_.note_sent(server, what); }
  // A request of the round could not be sent. Returns true if no reply can change the result.
  static bool on_unsent(round& current, std::size_t server, status error) noexcept;
  // Too few requests of a new round could be sent.
  action on_unreachable(const lock::step_request& request, time_ns now) noexcept;
  // The last reply has arrived.
  void end(const round& last) noexcept {
    rounds_.remove_if([&](const round& other) { return &other == &last; });
  }

  // ---- replies and time ---------------------------------------------------------------------

  action on_reply(round& current, std::size_t server, const lock::step_result& reply,
                  time_ns now) noexcept;
  // The reply to a request in the background.
  void on_background_reply(std::size_t server, const lock::step_request& request,
                           const lock::step_result& reply) noexcept {
    votes_.note_answer(server, request.what, reply, request.proposal >= proposal_);
  }
  action on_timeout(round& current, time_ns now) noexcept;
  // Ends a round without a quorum, or whose next proposal could not be sent.
  action refuse(const round& lost, lock::step_result result, time_ns now) noexcept;
  // A forced release takes its votes, one server after the other.
  void on_forced(time_ns now) noexcept { forced_until_ = now + longest_force_ns; }

  // ---- state --------------------------------------------------------------------------------

  [[nodiscard]] acquisition_state state() const noexcept { return state_; }
  // When on_timeout() of the round is due.
  [[nodiscard]] time_ns timeout_at(const round& current) const noexcept;
  // When a failed request can be sent again. time_never if none has failed.
  [[nodiscard]] time_ns retry_at() const noexcept { return retry_at_; }
  void end_retry() noexcept { retry_at_ = time_never; }
  // Whether a request may be sent again. No release would follow a vote that comes after the
  // release, and a renewal of before a change of the mode would undo the change (hazard 16).
  [[nodiscard]] bool is_current(const lock::step_request& request) const noexcept {
    if (is_grantable(request.what)) return is_kept() && proposal_ == request.proposal;
    return request.what != lock::step::renew || request.permits == weight_;
  }
  // The request for a server that has forgotten its script. A renewal asks for no less than later
  // ones, which the server may have executed already, with the script of another client (hazard
  // 17).
  [[nodiscard]] lock::step_request with_text(lock::step_request request,
                                             time_ns now) const noexcept;
  // Whether a round goes to the server.
  [[nodiscard]] bool is_recipient(std::size_t server, lock::step what) const noexcept {
    return !is_release(what) || votes_.may_know(server);
  }
  // Whether the server may have a vote that is not kept, and no release is in flight.
  [[nodiscard]] bool lacks_release(std::size_t server) const noexcept {
    return !is_kept() && votes_.lacks_release(server);
  }
  [[nodiscard]] lock::step_request release() const noexcept;
  // Whether nothing is left to do or to remember.
  [[nodiscard]] bool is_over() const noexcept {
    return !is_kept() && rounds_.empty() && retry_at_ == time_never && votes_.is_empty();
  }
  // Whether all votes have ended with their leases.
  [[nodiscard]] bool is_lapsed(time_ns now) const noexcept {
    return now >= lapses_at_ && rounds_.empty() && retry_at_ == time_never;
  }

 private:
  // Whether votes are requested or held.
  [[nodiscard]] bool is_kept() const noexcept {
    return state_ != acquisition_state::idle && state_ != acquisition_state::returning;
  }
  // Whether some votes are, or may be, those of a writer.
  [[nodiscard]] bool is_exclusive() const noexcept { return weight_ == lock::exclusive_permits; }
  void propose_higher(time_ns now, std::int64_t tokens = 1) noexcept;
  lock::step_request next_request(lock::step_request request, time_ns now) noexcept;
  [[nodiscard]] lock::step_result counted_as(std::size_t server, lock::step what,
                                             const lock::step_result& reply,
                                             time_ns now) const noexcept;
  action decide(round& current, std::optional<lock::step_result> result, time_ns now) noexcept;
  void note_quorum(const lock::step_request& request) noexcept;
  action miss(const round& current, lock::step_result result, time_ns now) noexcept;
  action propose_again(const round& former, acquisition_state next, lock::step_result result,
                       time_ns now) noexcept;
  action top_up(round& current, time_ns now) noexcept;
  action give_back() noexcept;
  action lower(const lock::step_request& lost, time_ns now) noexcept;
  action complete(action next, const round& ended, lock::step_result result, time_ns now) noexcept;
  void plan_retry(const lock::step_request& request, std::int64_t wait_ms, time_ns now) noexcept;

  voters& voters_;
  std::string_view token_;
  acquisition_state state_ = acquisition_state::idle;
  std::list<round> rounds_;    // those with replies in flight
  vote_record votes_;          // each needs a release, unless it is kept
  std::int64_t proposal_ = 0;  // the highest one in a request for votes
  int proposals_ = 0;          // number of proposals for the present request
  std::int64_t weight_ = 0;    // of the latest request: 1 for a reader, and all for a writer
  std::int64_t upgrade_ = 0;   // the proposal of the latest upgrade
  time_ns held_until_ = 0;     // the end of the lease that a quorum has granted; 0 without one
  time_ns forced_until_ = 0;   // a forced release may run: no vote is requested again; 0 if none
  lock::step release_ = lock::step::release_alone;  // one that notifies waiters, or not
  time_ns lapses_at_ = 0;                           // all votes have ended by then
  time_ns retry_at_ = time_never;
  int failures_ = 0;  // consecutive failed requests
};

}  // namespace mortise::quorum
