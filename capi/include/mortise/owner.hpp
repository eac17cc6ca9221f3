/** The state that a handle and its holds share: the owner in C, and the calls of its kind. */
#ifndef MORTISE_OWNER_HPP
#define MORTISE_OWNER_HPP

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "queue.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {
namespace detail {

/** The calls that all kinds of handles have. `name` and those after it are NULL for a multi. */
struct kind {
  void (*free)(void *);
  mortise_status (*extend)(void *, std::int64_t, mortise_error *);
  mortise_status (*extend_async)(void *, mortise_queue *, std::int64_t, std::int64_t,
                                 mortise_error *);
  mortise_status (*progress)(void *, mortise_error *);
  mortise_status (*cancel)(void *, mortise_error *);
  mortise_status (*interrupt)(void *, std::int32_t, mortise_error *);
  mortise_status (*set_task)(void *, std::int64_t, mortise_error *);
  mortise_status (*watch)(void *, mortise_queue *, std::int64_t, mortise_error *);
  std::int64_t (*valid_ms)(void *);
  std::int64_t (*deadline_ns)(void *);
  std::int64_t (*hold_number)(void *);
  const char *(*name)(void *, std::size_t *);
  std::int64_t (*token)(void *);
  mortise_status (*query)(void *, mortise_info *, mortise_error *);
  mortise_status (*force_release)(void *, const char *, std::size_t, mortise_error *);
  mortise_status (*set_value)(void *, const char *, std::size_t, mortise_error *);
  mortise_status (*set_value_async)(void *, mortise_queue *, std::int64_t, const char *,
                                    std::size_t, mortise_error *);
  mortise_hold_id *(*export_hold)(void *, std::int64_t, mortise_error *);
  mortise_status (*adopt)(void *, const char *, std::size_t, mortise_error *);
};

/** The calls of one mode. A read-write lock has two modes, and each other kind has one. */
struct mode {
  /** NULL for a semaphore, which also takes a number of permits. */
  mortise_status (*attempt)(void *, mortise_error *);
  mortise_status (*acquire)(void *, std::int64_t, mortise_error *);
  mortise_status (*unlock)(void *, mortise_error *);
  /** The same for one hold, by its number. */
  mortise_status (*unlock_hold)(void *, std::int64_t, mortise_error *);
  mortise_status (*unlock_hold_async)(void *, mortise_queue *, std::int64_t, std::int64_t,
                                      mortise_error *);
  std::int32_t (*is_held)(void *);
  /** The change into the other mode. NULL if there is none. */
  mortise_status (*upgrade)(void *, mortise_error *);
  mortise_status (*downgrade)(void *, mortise_error *);
  const mode *other;
};

/** A function of C for a handle of unknown type: `erased<mortise_lock_free>::call`. */
template <auto Function>
struct erased;
template <class Result, class Raw, class... Arguments, Result (*Function)(Raw *, Arguments...)>
struct erased<Function> {
  static Result call(void *raw, Arguments... arguments) {
    return Function(static_cast<Raw *>(raw), arguments...);
  }
};

/** One owner. It lives as long as its handle, a hold of it, or a multi that contains it. */
class owner {
 public:
  owner(const kind &of_kind, void *made) noexcept : calls(of_kind), raw(made) {}
  ~owner() { calls.free(raw); }
  owner(const owner &) = delete;
  owner &operator=(const owner &) = delete;

  const kind &calls;
  void *const raw;
  std::vector<std::shared_ptr<owner>> members;

  /** The user's interruption, or its end. */
  mortise_status interrupt(bool is_on) noexcept {
    const std::lock_guard<std::mutex> guard(mutex_);
    is_interrupted_ = is_on;
    return calls.interrupt(raw, is_on ? 1 : 0, nullptr);
  }
  /** Ends the interruption by a stop. That of the user stays. */
  void end_stop() noexcept {
    const std::lock_guard<std::mutex> guard(mutex_);
    calls.interrupt(raw, is_interrupted_ ? 1 : 0, nullptr);
  }

 private:
  /** Without it, `end_stop` could undo a call of `interrupt` at the same time. */
  std::mutex mutex_;
  bool is_interrupted_ = false;
};

/**
 * Makes a waiting call. A stop that is requested before or during the call interrupts it. The
 * destruction of the handle ends the call, and may also end the owner.
 */
template <class Call>
mortise_status call_until(const std::weak_ptr<owner> &observed, const timeout &wait,
                          const Call &call) {
#if MORTISE_HAS_STOP_TOKEN
  if (!wait.stop().stop_possible()) return call();
  const auto interrupt = [&observed] {
    if (const auto present = observed.lock()) present->calls.interrupt(present->raw, 1, nullptr);
  };
  mortise_status code = MORTISE_OK;
  {
    const std::stop_callback callback(wait.stop(), interrupt);
    code = call();
  }
  if (!wait.stop().stop_requested()) return code;
  // The callback has returned or never runs. From now on only the user interrupts.
  if (const auto present = observed.lock()) present->end_stop();
  return code;
#else
  static_cast<void>(observed);
  static_cast<void>(wait);
  return call();
#endif
}

/** The id of the exported hold. */
inline result<std::string> export_by(owner &of, std::int64_t lease_ms) {
  if (of.calls.export_hold == nullptr) {
    return unexpected(
        error(status::unsupported, "a multi and a leadership have no id; export a single lock"));
  }
  mortise_error *filled = error_of_thread();
  mortise_hold_id *const made = of.calls.export_hold(of.raw, lease_ms, filled);
  if (made == nullptr) return unexpected(error_from_null(filled));
  std::string id = mortise_hold_id_text(made);
  mortise_hold_id_free(made);
  return id;
}

}  // namespace detail
}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_OWNER_HPP
