#include "crowd.hpp"

#include <algorithm>

#include "harness.hpp"

namespace mortise::bench {

namespace {

constexpr std::int64_t patience_ms = 120'000;

}  // namespace

crowd::crowd(const std::string& url, std::vector<std::string> names, const request& ask)
    : names_(std::move(names)) {
  require(names_.size() == name_count, "a crowd has 20 names");
  for (int i = 0; i <= waiters_of_each; ++i) {
    clients_.push_back(open_client(url));
    queues_.push_back(make_queue(clients_.back().get(), 0));
  }
  tokens_.resize(clients_.size() * names_.size());
  for (std::size_t client = 0; client < clients_.size(); ++client) {
    for (std::size_t i = 0; i < names_.size(); ++i) begin(client, i, ask);
  }
}

void crowd::begin(std::size_t client, std::size_t number, const request& ask) {
  const auto& name = names_[number];
  locks_.push_back(make_lock(clients_[client].get(), name));
  auto* const lock = locks_.back().get();
  if (client == 0) return check(mortise_lock_acquire(lock, patience_ms, nullptr), "acquire");
  check(mortise_lock_acquire_async(lock, queues_[client].get(), static_cast<std::int64_t>(number),
                                   patience_ms, nullptr),
        "mortise_lock_acquire_async");
  const auto queue = "{mortise:" + name + "}:q";
  while (ask(queue, {"LLEN", queue}) != std::to_string(client)) {
  }
}

void crowd::release_all() {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    check(mortise_lock_unlock_async(locks_[i].get(), queues_[0].get(), static_cast<std::int64_t>(i),
                                    nullptr),
          "mortise_lock_unlock_async");
  }
}

std::int64_t crowd::await_grant() {
  fate came;
  require(take_next(1, patience_ms, came), "no grant");
  require(came.errors == 0, "not granted: " + came.message);
  return now_ns();
}

// An acquire that has ended, after which the lock is given back.
bool crowd::take_next(std::size_t client, std::int64_t timeout_ms, fate& into) {
  const event_ptr event(mortise_event_new());
  if (mortise_queue_next(queues_[client].get(), timeout_ms, event.get(), nullptr) != MORTISE_OK) {
    return false;
  }
  if (mortise_event_status(event.get()) != MORTISE_OK) {
    ++into.errors;
    into.message = mortise_event_message(event.get());
  }
  if (mortise_event_kind(event.get()) != MORTISE_EVENT_ACQUIRED) return true;
  const auto number = static_cast<std::size_t>(mortise_event_tag(event.get()));
  const auto at = client * names_.size() + number;
  tokens_[at] = std::max<std::int64_t>(mortise_event_token(event.get()), -1);
  if (mortise_event_status(event.get()) != MORTISE_OK) return true;
  check(mortise_lock_unlock_async(locks_[at].get(), queues_[client].get(),
                                  mortise_event_tag(event.get()), nullptr),
        "mortise_lock_unlock_async");
  return true;
}

crowd::fate crowd::drain() {
  fate came;
  const auto waiters = tokens_.begin() + name_count;
  while (std::count(waiters, tokens_.end(), 0) > 0) {
    for (std::size_t client = 0; client < clients_.size(); ++client) {
      while (take_next(client, client == 0 ? 0 : 1, came)) {
      }
    }
  }
  for (std::size_t at = 2 * names_.size(); at < tokens_.size(); ++at) {
    if (tokens_[at] < tokens_[at - names_.size()]) ++came.out_of_place;
  }
  return came;
}

}  // namespace mortise::bench
