/** Why a call did not do what its name says: as a value, and as what is thrown. */
#ifndef MORTISE_ERROR_HPP
#define MORTISE_ERROR_HPP

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "status.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

namespace detail {

struct failure {
  std::string message, server_text, lock_name;
  mortise::reason reason = mortise::reason::none;
  bool is_retryable = false, is_ambiguous = false;
};

}  // namespace detail

/**
 * A status other than status::ok, with its details. Copying it copies a pointer. Any thread.
 * @since 1.2
 */
class error {
 public:
  /** A failure with these details; without any, the message is the status' name. @since 1.2 */
  explicit error(status code, std::shared_ptr<const detail::failure> details = nullptr) noexcept
      : code_(code), details_(std::move(details)) {}
  /** A failure with this message. @since 1.2 */
  error(status code, std::string message) : code_(code) {
    auto details = std::make_shared<detail::failure>();
    details->message = std::move(message);
    details_ = std::move(details);
  }

  /** Which it is; never status::ok. @since 1.2 */
  status code() const noexcept { return code_; }
  /** As `mortise_error_message`: what was wrong and how to mend it; ends in NUL. @since 1.2 */
  std::string_view message() const noexcept {
    return details_ && !details_->message.empty() ? std::string_view(details_->message)
                                                  : text(code_);
  }
  /** The server's own words; empty when it had none. @since 1.2 */
  std::string_view server_text() const noexcept {
    return details_ ? std::string_view(details_->server_text) : std::string_view();
  }
  /** The name of the lock that it is about, any bytes; empty when about none. @since 1.2 */
  std::string_view lock_name() const noexcept {
    return details_ ? std::string_view(details_->lock_name) : std::string_view();
  }
  /** Why the hold was lost, for status::lost; else reason::none. @since 1.2 */
  mortise::reason reason() const noexcept {
    return details_ ? details_->reason : mortise::reason::none;
  }
  /** Whether the same call may succeed later without any change. @since 1.2 */
  bool is_retryable() const noexcept { return details_ && details_->is_retryable; }
  /** Whether the request may have been carried out although the call failed. @since 1.2 */
  bool is_ambiguous() const noexcept { return details_ && details_->is_ambiguous; }

 private:
  status code_;
  std::shared_ptr<const detail::failure> details_;
};

#if MORTISE_HAS_EXCEPTIONS
/** What the throwing forms throw: an error; `what()` is its message. @since 1.2 */
class __attribute__((visibility("default"))) exception : public std::runtime_error {
 public:
  explicit exception(mortise::error why)
      : std::runtime_error(std::string(why.message())), error_(std::move(why)) {}
  /** The details. @since 1.2 */
  const mortise::error &error() const noexcept { return error_; }
  /** Its status. @since 1.2 */
  status code() const noexcept { return error_.code(); }

 private:
  mortise::error error_;
};
#endif

namespace detail {

/**
 * What calls of this thread fill when they fail, so that one that succeeds allocates nothing. NULL,
 * which C takes, when memory ran out and while the thread's own objects are being destroyed.
 */
inline mortise_error *error_of_thread() noexcept {
  struct keeper {
    mortise_error *&kept;
    ~keeper() { mortise_error_free(std::exchange(kept, nullptr)); }
  };
  // A plain pointer may be looked at even after the thread's objects are gone.
  static thread_local mortise_error *kept = nullptr;
  static thread_local bool is_made = false;
  if (!is_made) {
    is_made = true;
    kept = mortise_error_new();
    static thread_local keeper keeps{kept};
    static_cast<void>(keeps);
  }
  return kept;
}

inline status to_status(mortise_status code) noexcept { return static_cast<status>(code); }

/** The error of a call that gave this status and filled this. */
inline error error_from(mortise_status code, const mortise_error *filled) {
  if (filled == nullptr || mortise_error_code(filled) != code) return error(to_status(code));
  auto details = std::make_shared<failure>();
  std::size_t size = 0;
  details->message = mortise_error_message(filled);
  details->server_text = mortise_error_server_text(filled);
  const char *name = mortise_error_lock_name(filled, &size);
  details->lock_name.assign(name, size);
  details->reason = static_cast<reason>(mortise_error_reason(filled));
  details->is_retryable = mortise_error_is_retryable(filled) != 0;
  details->is_ambiguous = mortise_error_is_ambiguous(filled) != 0;
  return error(to_status(code), std::move(details));
}

/** The same where a constructor of C gave NULL. */
inline error error_from_null(const mortise_error *filled) {
  const mortise_status code =
      filled != nullptr ? mortise_error_code(filled) : mortise_status{MORTISE_NO_MEMORY};
  return error_from(code != MORTISE_OK ? code : mortise_status{MORTISE_NO_MEMORY}, filled);
}

}  // namespace detail

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_ERROR_HPP
