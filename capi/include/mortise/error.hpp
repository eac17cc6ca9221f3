/** The error of a call, as a value and as an exception. */
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

/** A status other than status::ok, with its details. A copy copies a pointer. Any thread. */
class error {
 public:
  /** A failure with these details. Without details, the message is the status' name. */
  explicit error(status code, std::shared_ptr<const detail::failure> details = nullptr) noexcept
      : code_(code), details_(std::move(details)) {}
  /** A failure with this message. */
  error(status code, std::string message) : code_(code) {
    auto details = std::make_shared<detail::failure>();
    details->message = std::move(message);
    details_ = std::move(details);
  }

  /** The status. Never status::ok. */
  status code() const noexcept { return code_; }
  /** The cause and the remedy, as `mortise_error_message`. It ends in NUL. */
  std::string_view message() const noexcept {
    return details_ && !details_->message.empty() ? std::string_view(details_->message)
                                                  : text(code_);
  }
  /** The server's own text, or empty if it sent none. */
  std::string_view server_text() const noexcept {
    return details_ ? std::string_view(details_->server_text) : std::string_view();
  }
  /** The name of the lock that the error is about, any bytes, or empty. */
  std::string_view lock_name() const noexcept {
    return details_ ? std::string_view(details_->lock_name) : std::string_view();
  }
  /** The reason of a loss if the status is status::lost, otherwise reason::none. */
  mortise::reason reason() const noexcept {
    return details_ ? details_->reason : mortise::reason::none;
  }
  /** Whether the same call may succeed later without any change. */
  bool is_retryable() const noexcept { return details_ && details_->is_retryable; }
  /** Whether the server may have executed the request although the call failed. */
  bool is_ambiguous() const noexcept { return details_ && details_->is_ambiguous; }

 private:
  status code_;
  std::shared_ptr<const detail::failure> details_;
};

#if MORTISE_HAS_EXCEPTIONS
/** The exception of the throwing forms. `what()` is the error's message. */
class __attribute__((visibility("default"))) exception : public std::runtime_error {
 public:
  explicit exception(mortise::error why)
      : std::runtime_error(std::string(why.message())), error_(std::move(why)) {}
  /** The details. */
  const mortise::error &error() const noexcept { return error_; }
  /** The status. */
  status code() const noexcept { return error_.code(); }

 private:
  mortise::error error_;
};
#endif

namespace detail {

/**
 * The error that calls of this thread fill when they fail, so that a successful call allocates
 * nothing. It is NULL, which C accepts, when memory ran out and while the thread's own objects are
 * destroyed.
 */
inline mortise_error *error_of_thread() noexcept {
  struct keeper {
    mortise_error *&kept;
    ~keeper() { mortise_error_free(std::exchange(kept, nullptr)); }
  };
  // A plain pointer may be read even after the thread's objects are destroyed.
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

/** The error of a call that returned this status and filled this object. */
inline error error_from(mortise_status code, const mortise_error *filled) {
  if (filled == nullptr || mortise_error_status(filled) != code) return error(to_status(code));
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

/** The error of a constructor of C that returned NULL. */
inline error error_from_null(const mortise_error *filled) {
  const mortise_status code =
      filled != nullptr ? mortise_error_status(filled) : mortise_status{MORTISE_NO_MEMORY};
  return error_from(code != MORTISE_OK ? code : mortise_status{MORTISE_NO_MEMORY}, filled);
}

}  // namespace detail

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_ERROR_HPP
