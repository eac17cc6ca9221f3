#include "cli/held_by_id.hpp"

#include <string_view>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli {
namespace {

using hold_id_handle = std::unique_ptr<mortise_hold_id, handle_deleter<mortise_hold_id_free>>;

template <class... Cases>
struct overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
overloaded(Cases...) -> overloaded<Cases...>;

}  // namespace

lock_terms lock_of(const std::string& id, mortise_error* error) {
  const hold_id_handle read(mortise_hold_id_new(id.data(), id.size(), error));
  if (!read) throw failure(error);
  size_t length = 0;
  const char* const name = mortise_hold_id_name(read.get(), &length);
  return {std::string(name, length), mortise_hold_id_kind(read.get()),
          mortise_hold_id_is_exclusive(read.get()) != 0, mortise_hold_id_capacity(read.get())};
}

options_handle options_with_confirmed_release(mortise_client* client, mortise_error* error) {
  options_handle options(mortise_options_new_from(client, error));
  if (!options) throw failure(error);
  constexpr std::string_view key = MORTISE_OPTION_RELEASE;
  constexpr std::string_view value = "answered";
  mortise_options_set(options.get(), key.data(), key.size(), value.data(), value.size(), error);
  mortise_options_set_retain_ms(options.get(), 0, error);
  return options;
}

held_by_id::held_by_id(mortise_client* client, const lock_terms& lock,
                       const mortise_options* options, mortise_error* error)
    : error_(error), is_exclusive_(lock.is_exclusive) {
  const auto& name = lock.name;
  if (lock.kind == "rw") {
    handle_ = rw_handle(mortise_rw_new(client, name.data(), name.size(), options, error));
  } else if (lock.kind == "semaphore") {
    handle_ = semaphore_handle(
        mortise_semaphore_new(client, name.data(), name.size(), lock.permits, options, error));
  } else {
    handle_ = lock_handle(mortise_lock_new(client, name.data(), name.size(), options, error));
  }
  const bool is_made = std::visit([](const auto& made) { return made != nullptr; }, handle_);
  if (!is_made) throw failure(error);
}

void held_by_id::check(mortise_status status) const {
  if (status != MORTISE_OK) throw failure(error_);
}

bool held_by_id::acquire(int64_t wait_ms) const {
  const auto status = std::visit(
      overloaded{[&](const lock_handle& lock) {
                   return mortise_lock_acquire(lock.get(), wait_ms, error_);
                 },
                 [&](const rw_handle& rw) {
                   return is_exclusive_ ? mortise_rw_write_acquire(rw.get(), wait_ms, error_)
                                        : mortise_rw_read_acquire(rw.get(), wait_ms, error_);
                 },
                 [&](const semaphore_handle& semaphore) {
                   return mortise_semaphore_acquire(semaphore.get(), 1, wait_ms, error_);
                 }},
      handle_);
  if (status == MORTISE_NOT_ACQUIRED || status == MORTISE_TIMED_OUT) return false;
  check(status);
  return true;
}

void held_by_id::check_kind() const {
  const info_handle info(mortise_info_new());
  if (!info) throw failure(exit_system, "not enough memory");
  const auto status = std::visit(
      overloaded{
          [&](const lock_handle& lock) {
            return mortise_lock_query(lock.get(), info.get(), error_);
          },
          [&](const rw_handle& rw) { return mortise_rw_query(rw.get(), info.get(), error_); },
          [&](const semaphore_handle& one) {
            return mortise_semaphore_query(one.get(), info.get(), error_);
          }},
      handle_);
  if (status != MORTISE_REFUSED) return;
  const failure problem(error_);
  if (problem.code() == exit_data) throw problem;
}

void held_by_id::adopt(const std::string& id) {
  auto* const text = id.data();
  const auto size = id.size();
  check(std::visit(overloaded{[&](const lock_handle& lock) {
                                return mortise_lock_adopt(lock.get(), text, size, error_);
                              },
                              [&](const rw_handle& rw) {
                                return mortise_rw_adopt(rw.get(), text, size, error_);
                              },
                              [&](const semaphore_handle& semaphore) {
                                return mortise_semaphore_adopt(semaphore.get(), text, size, error_);
                              }},
                   handle_));
  is_adopted_ = true;
}

std::string held_by_id::give_out(int64_t lease_ms) const {
  const hold_id_handle id(std::visit(
      overloaded{[&](const lock_handle& lock) {
                   return mortise_lock_export(lock.get(), lease_ms, error_);
                 },
                 [&](const rw_handle& rw) { return mortise_rw_export(rw.get(), lease_ms, error_); },
                 [&](const semaphore_handle& semaphore) {
                   return mortise_semaphore_export(semaphore.get(), lease_ms, error_);
                 }},
      handle_));
  if (!id) throw failure(error_);
  return mortise_hold_id_text(id.get());
}

// A handle that is freed releases its hold, which belongs to the id.
held_by_id::~held_by_id() {
  if (!is_adopted_ || deadline_ns() == 0) return;
  try {
    give_out(0);
  } catch (const failure&) {
    return;  // Its lease ends it. If replicas did not acknowledge the id, the handle releases it.
  }
}

int64_t held_by_id::token() const {
  return std::visit(
      overloaded{[](const lock_handle& lock) { return mortise_lock_token(lock.get()); },
                 [](const rw_handle& rw) { return mortise_rw_token(rw.get()); },
                 [](const semaphore_handle& one) { return mortise_semaphore_token(one.get()); }},
      handle_);
}

int64_t held_by_id::valid_ms() const {
  return std::visit(
      overloaded{[](const lock_handle& lock) { return mortise_lock_valid_ms(lock.get()); },
                 [](const rw_handle& rw) { return mortise_rw_valid_ms(rw.get()); },
                 [](const semaphore_handle& one) { return mortise_semaphore_valid_ms(one.get()); }},
      handle_);
}

int64_t held_by_id::deadline_ns() const {
  return std::visit(
      overloaded{
          [](const lock_handle& lock) { return mortise_lock_deadline_ns(lock.get()); },
          [](const rw_handle& rw) { return mortise_rw_deadline_ns(rw.get()); },
          [](const semaphore_handle& one) { return mortise_semaphore_deadline_ns(one.get()); }},
      handle_);
}

void held_by_id::note_progress() const {
  std::visit(overloaded{[](const lock_handle& lock) { mortise_lock_progress(lock.get(), nullptr); },
                        [](const rw_handle& rw) { mortise_rw_progress(rw.get(), nullptr); },
                        [](const semaphore_handle& one) {
                          mortise_semaphore_progress(one.get(), nullptr);
                        }},
             handle_);
}

void held_by_id::watch(mortise_queue* queue) const {
  check(std::visit(
      overloaded{
          [&](const lock_handle& lock) { return mortise_lock_watch(lock.get(), queue, 0, error_); },
          [&](const rw_handle& rw) { return mortise_rw_watch(rw.get(), queue, 0, error_); },
          [&](const semaphore_handle& one) {
            return mortise_semaphore_watch(one.get(), queue, 0, error_);
          }},
      handle_));
}

void held_by_id::unlock() const {
  check(std::visit(
      overloaded{[&](const lock_handle& lock) { return mortise_lock_unlock(lock.get(), error_); },
                 [&](const rw_handle& rw) {
                   return is_exclusive_ ? mortise_rw_write_unlock(rw.get(), error_)
                                        : mortise_rw_read_unlock(rw.get(), error_);
                 },
                 [&](const semaphore_handle& one) {
                   return mortise_semaphore_release(one.get(), error_);
                 }},
      handle_));
}

}  // namespace mortise::cli
