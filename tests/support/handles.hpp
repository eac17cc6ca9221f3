// The C ABI with owners, for the safety tests. They use the library as its users do, and nothing of
// its inside.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "mortise/mortise.h"

namespace mortise::testing {

// Far longer than anything takes, so that only a hang hits it.
constexpr std::int64_t patience_ms = 20'000;
constexpr std::int64_t second_ms = 1'000;

struct free_handle {
  void operator()(mortise_client* handle) const { mortise_client_free(handle); }
  void operator()(mortise_lock* handle) const { mortise_lock_free(handle); }
  void operator()(mortise_rw* handle) const { mortise_rw_free(handle); }
  void operator()(mortise_semaphore* handle) const { mortise_semaphore_free(handle); }
  void operator()(mortise_queue* handle) const { mortise_queue_free(handle); }
  void operator()(mortise_event* handle) const { mortise_event_free(handle); }
  void operator()(mortise_error* handle) const { mortise_error_free(handle); }
  void operator()(mortise_info* handle) const { mortise_info_free(handle); }
  void operator()(mortise_options* handle) const { mortise_options_free(handle); }
  void operator()(mortise_hold_id* handle) const { mortise_hold_id_free(handle); }
};

using client_handle = std::unique_ptr<mortise_client, free_handle>;
using lock_handle = std::unique_ptr<mortise_lock, free_handle>;
using rw_handle = std::unique_ptr<mortise_rw, free_handle>;
using semaphore_handle = std::unique_ptr<mortise_semaphore, free_handle>;
using queue_handle = std::unique_ptr<mortise_queue, free_handle>;
using event_handle = std::unique_ptr<mortise_event, free_handle>;
using error_handle = std::unique_ptr<mortise_error, free_handle>;
using info_handle = std::unique_ptr<mortise_info, free_handle>;
using options_handle = std::unique_ptr<mortise_options, free_handle>;
using hold_id_handle = std::unique_ptr<mortise_hold_id, free_handle>;

inline error_handle new_error() { return error_handle(mortise_error_new()); }

// The client of a URL such as server.url() + "?lease=500ms&renewal=off". Throws with the reason.
inline client_handle open_client(const std::string& url) {
  const auto error = new_error();
  client_handle client(mortise_client_new(url.data(), url.size(), nullptr, error.get()));
  if (!client) throw std::runtime_error(mortise_error_message(error.get()));
  return client;
}

// Why there is no client of this URL.
inline std::string problem_of(const std::string& url, mortise_status expected) {
  const auto error = new_error();
  const client_handle client(mortise_client_new(url.data(), url.size(), nullptr, error.get()));
  EXPECT_FALSE(client);
  EXPECT_EQ(expected, mortise_error_status(error.get())) << mortise_error_message(error.get());
  return mortise_error_message(error.get());
}

inline lock_handle open_lock(const client_handle& client, std::string_view name,
                             const mortise_options* options = nullptr) {
  const auto error = new_error();
  lock_handle lock(mortise_lock_new(client.get(), name.data(), name.size(), options, error.get()));
  if (!lock) throw std::runtime_error(mortise_error_message(error.get()));
  return lock;
}

inline rw_handle open_rw(const client_handle& client, std::string_view name,
                         const mortise_options* options = nullptr) {
  const auto error = new_error();
  rw_handle rw(mortise_rw_new(client.get(), name.data(), name.size(), options, error.get()));
  if (!rw) throw std::runtime_error(mortise_error_message(error.get()));
  return rw;
}

inline semaphore_handle open_semaphore(const client_handle& client, std::string_view name,
                                       std::int64_t permits) {
  const auto error = new_error();
  semaphore_handle semaphore(
      mortise_semaphore_new(client.get(), name.data(), name.size(), permits, nullptr, error.get()));
  if (!semaphore) throw std::runtime_error(mortise_error_message(error.get()));
  return semaphore;
}

inline queue_handle open_queue(const client_handle& client) {
  return queue_handle(mortise_queue_new(client.get(), 0, nullptr));
}

inline std::string status_name(mortise_status code) { return mortise_status_text(code); }

// One event, as "kind status tag token"; "nothing" when none came in time.
struct seen_event {
  mortise_kind kind = MORTISE_EVENT_NONE;
  mortise_status status = MORTISE_OK;
  std::int64_t tag = 0;
  std::int64_t token = 0;
  mortise_reason reason = MORTISE_REASON_NONE;
};

inline seen_event next_event(const queue_handle& queue, std::int64_t timeout_ms = patience_ms) {
  const event_handle event(mortise_event_new());
  seen_event seen;
  if (mortise_queue_next(queue.get(), timeout_ms, event.get(), nullptr) != MORTISE_OK) return seen;
  seen.kind = mortise_event_kind(event.get());
  seen.status = mortise_event_status(event.get());
  seen.tag = mortise_event_tag(event.get());
  seen.token = mortise_event_token(event.get());
  seen.reason = mortise_event_reason(event.get());
  return seen;
}

// The next event of a loss. Events of risk before it are skipped.
inline seen_event next_loss(const queue_handle& queue) {
  auto seen = next_event(queue);
  while (seen.kind == MORTISE_EVENT_AT_RISK) seen = next_event(queue);
  return seen;
}

inline void watch_log(const client_handle& client, const queue_handle& queue) {
  EXPECT_EQ(MORTISE_OK, mortise_client_watch_log(client.get(), queue.get(), 0,
                                                 MORTISE_LOG_LEVEL_INFO, nullptr));
}
// The next line of the log about this subject. Other lines are skipped.
inline std::string next_line(const queue_handle& queue, mortise_log_subject subject) {
  const event_handle event(mortise_event_new());
  while (mortise_queue_next(queue.get(), patience_ms, event.get(), nullptr) == MORTISE_OK) {
    if (mortise_event_log_subject(event.get()) == subject) {
      return mortise_event_message(event.get());
    }
  }
  ADD_FAILURE() << "no line is about " << mortise_log_subject_text(subject);
  return {};
}

inline std::string lock_key(std::string_view name) { return "{mortise:" + std::string(name) + "}"; }
inline std::string queue_key(std::string_view name) { return lock_key(name) + ":q"; }

inline std::int64_t ms_since(time_ns begin) { return (boot_now() - begin) / ns_per_ms; }

inline void expect_acquired(const lock_handle& lock) {
  const auto error = new_error();
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, error.get()))
      << mortise_error_message(error.get());
}
inline void expect_released(const lock_handle& lock) {
  const auto error = new_error();
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), error.get()))
      << mortise_error_message(error.get());
}

// Looks every few milliseconds until the condition is true; false when it never was.
template <class Condition>
bool eventually(Condition&& condition, std::int64_t within_ms = patience_ms,
                std::int64_t every_ms = 2) {
  const auto begin = boot_now();
  while (!condition()) {
    if (ms_since(begin) > within_ms) return false;
    const timespec pause{0, static_cast<long>(every_ms * ns_per_ms)};
    nanosleep(&pause, nullptr);
  }
  return true;
}

// Watches for this long that a condition stays true. It looks every 10 ms, because such a condition
// often asks servers, and a tight loop would starve other threads.
template <class Condition>
bool always(Condition&& condition, std::int64_t for_ms) {
  constexpr std::int64_t every_ms = 10;
  return !eventually([&] { return !condition(); }, for_ms, every_ms);
}

// A client as of open_client(), for a short `command_timeout`, which an attempt may miss where the
// machine is slow.
inline client_handle open_client_patiently(const std::string& url) {
  const auto error = new_error();
  client_handle client;
  eventually([&] {
    client.reset(mortise_client_new(url.data(), url.size(), nullptr, error.get()));
    return client || mortise_error_status(error.get()) != MORTISE_UNREACHABLE;
  });
  if (!client) throw std::runtime_error(mortise_error_message(error.get()));
  return client;
}

// Whether its server answers at last.
inline bool answers(const client_handle& client) {
  return eventually([&] { return mortise_client_ping(client.get(), nullptr) == MORTISE_OK; });
}

}  // namespace mortise::testing
