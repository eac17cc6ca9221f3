// The part of the coordinator that releases votes, at once or when a server is reachable again.
#include <new>
#include <utility>

#include "deployment/redlock/redlock_coordinator.hpp"

namespace mortise::deployment {

using lock::answer;
using lock::step_request;
using lock::step_result;
using quorum::is_release;
using quorum::is_take;

// A server without a reply gets the release after its request. An unreachable server gets it after
// the reconnect.
void redlock_coordinator::give_back(const quorum_round& round, acquisition& about, time_ns now) {
  about.is_kept = false;
  for (std::size_t server = 0; server < states_.size(); ++server) {
    if (!about.votes.may_have(server)) continue;
    const auto sent = send_release(server, round.asked().token, about, false, now);
    if (sent != status::ok && sent != status::unreachable) deliver_later(server, now);
  }
}

status redlock_coordinator::send_release(std::size_t server, std::string_view token,
                                         acquisition& about, bool is_of_batch,
                                         time_ns now) noexcept {
  step_request back;
  back.what = about.give_back;
  back.token = token;
  back.proposal = about.proposal;
  return send_in_background(server, back, about, is_of_batch, now);
}

// Only this code releases these votes before their leases end. A release that a server has no room
// for stays pending. Only the end of the lease, or a permanent rejection, ends it.
void redlock_coordinator::deliver(std::size_t server, time_ns now) noexcept {
  auto& owed = states_[server].owed;
  if (!owed.is_due(now)) return;
  bool is_any = false;
  for (auto& [token, about] : acquisitions_) {
    if (about.is_kept || !about.votes.lacks_release(server)) continue;
    if (owed.is_full()) return;  // the last reply sends the next batch
    const auto sent = send_release(server, token, about, true, now);
    if (sent == status::unreachable) return owed.end();
    if (sent != status::ok) return deliver_later(server, now);
    owed.note_sent();
    is_any = true;
  }
  if (!is_any) owed.end();
}

void redlock_coordinator::deliver_later(std::size_t server, time_ns now) noexcept {
  auto& owed = states_[server].owed;
  owed.postpone(now, chance());
  plan_look(owed.due_at());
}

// Applies a server's reply to its vote. A server that has not carried out a release gets another
// one. After a broken connection the release follows the reconnect.
void redlock_coordinator::note_step(acquisition& about, std::size_t server,
                                    const step_request& request, const step_result& reply,
                                    time_ns now) noexcept {
  about.votes.note_answer(server, request.what, reply, request.proposal >= about.proposal);
  const bool is_cut = reply.what == answer::broken || reply.what == answer::unsent;
  if (!is_release(request.what) || about.is_kept || is_cut) return;
  if (about.votes.lacks_release(server)) deliver_later(server, now);
}

status redlock_coordinator::send_in_background(std::size_t server, const step_request& request,
                                               acquisition& about, bool is_of_batch,
                                               time_ns now) noexcept try {
  auto& state = states_[server];
  auto& item = state.background_requests.take([&] {
    auto& self = static_cast<background_request_listener&>(*this);
    return std::make_unique<background_request>(servers_.at(server), server, self);
  });
  auto sent = status::no_memory;
  try {
    sent = item.send(request, *about.rules, about.keys, now);
  } catch (const std::bad_alloc&) {
  }
  if (sent != status::ok) {
    state.background_requests.put(item);
    return sent;
  }
  item.is_of_batch = is_of_batch;
  about.votes.note_sent(server, request.what);
  if (is_take(request.what)) ++state.takes;
  return status::ok;
} catch (const std::bad_alloc&) {
  return status::no_memory;
}

void redlock_coordinator::on_background_result(background_request& which, const step_result& reply,
                                               time_ns now) noexcept {
  const lock_type lock(mutex_);
  const auto server = which.server();
  auto& state = states_[server];
  // A repeated reply counts once.
  if (!state.background_requests.is_used(which)) return;
  const auto& request = which.step();
  const bool is_again = reply.what == answer::no_script && is_wanted(request);
  if (is_again && which.send_text(now)) return;
  if (reply.what == answer::not_free) proposals_.note_token(server, reply.last_token);
  if (is_take(request.what)) --state.takes;
  if (const auto known = acquisitions_.find(request.token); known != acquisitions_.end()) {
    note_step(known->second, server, request, reply, now);
    drop_if_over(request.token);
  }
  state.background_requests.put(which);
  if (!std::exchange(which.is_of_batch, false)) return;
  state.owed.note_answered();
  deliver(server, now);
  if (state.owed.is_on()) plan_look(state.owed.due_at());
}

}  // namespace mortise::deployment
