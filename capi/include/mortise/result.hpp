/** The result of a call that does not throw: a value or the error. */
#ifndef MORTISE_RESULT_HPP
#define MORTISE_RESULT_HPP

#include <cstdlib>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "error.hpp"
#if MORTISE_HAS_EXPECTED
#include <expected>
#endif

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

#if MORTISE_HAS_EXPECTED

/** A value or the error: std::expected itself. */
template <class Value>
using result = std::expected<Value, error>;
/** The error from which a result without a value is made. */
using unexpected = std::unexpected<error>;

#else

/** The error from which a result without a value is made. */
class unexpected {
 public:
  explicit unexpected(mortise::error why) noexcept : error_(std::move(why)) {}
  const mortise::error &error() const noexcept { return error_; }

 private:
  mortise::error error_;
};

/**
 * A value or the error. It replaces `std::expected<Value, error>` of C++23 and has a part of its
 * functions. As there, `*` and `->` need a value, and `error()` needs an error.
 */
template <class Value>
class [[nodiscard]] result {
 public:
  using value_type = Value;
  using error_type = mortise::error;

  template <class From = Value,
            class = std::enable_if_t<std::is_constructible_v<Value, From &&> &&
                                     !std::is_same_v<std::decay_t<From>, result> &&
                                     !std::is_same_v<std::decay_t<From>, unexpected> > >
  result(From &&from) : either_(std::in_place_index<0>, std::forward<From>(from)) {}
  result(const unexpected &why) : either_(std::in_place_index<1>, why.error()) {}

  bool has_value() const noexcept { return either_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  Value &operator*() &noexcept { return *std::get_if<0>(&either_); }
  const Value &operator*() const &noexcept { return *std::get_if<0>(&either_); }
  Value &&operator*() &&noexcept { return std::move(*std::get_if<0>(&either_)); }
  Value *operator->() noexcept { return std::get_if<0>(&either_); }
  const Value *operator->() const noexcept { return std::get_if<0>(&either_); }
  const mortise::error &error() const noexcept { return *std::get_if<1>(&either_); }
  /** The value. Throws the error as an exception, or aborts in a program without exceptions. */
  Value &value() & { return check(), **this; }
  const Value &value() const & { return check(), **this; }
  Value &&value() && { return check(), *std::move(*this); }
  template <class Other>
  Value value_or(Other &&other) && {
    return has_value() ? *std::move(*this) : static_cast<Value>(std::forward<Other>(other));
  }

 private:
  void check() const {
#if MORTISE_HAS_EXCEPTIONS
    if (!has_value()) throw exception(error());
#else
    if (!has_value()) std::abort();
#endif
  }

  std::variant<Value, mortise::error> either_;
};

/** Success or the error. */
template <>
class [[nodiscard]] result<void> {
 public:
  using value_type = void;
  using error_type = mortise::error;

  result() noexcept = default;
  result(const unexpected &why) noexcept : error_(why.error()) {}

  bool has_value() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return has_value(); }
  void operator*() const noexcept {}
  const mortise::error &error() const noexcept { return *error_; }
  /** Nothing. Throws the error as an exception, or aborts in a program without exceptions. */
  void value() const {
#if MORTISE_HAS_EXCEPTIONS
    if (error_) throw exception(*error_);
#else
    if (error_) std::abort();
#endif
  }

 private:
  std::optional<mortise::error> error_;
};

#endif

namespace detail {

/** The result of a call of C that only has a status. */
inline result<void> done(mortise_status code, const mortise_error *filled) {
  if (code == MORTISE_OK) return {};
  return unexpected(error_from(code, filled));
}

#if MORTISE_HAS_EXCEPTIONS
/** The value of a result. Throws the error as an exception. */
template <class Value>
Value checked(result<Value> given) {
  if (!given) throw exception(given.error());
  return *std::move(given);
}
inline void checked(const result<void> &given) {
  if (!given) throw exception(given.error());
}
#endif

/** Whether a status only says that the lock was not granted. */
inline bool is_denial(status code) noexcept {
  return code == status::not_acquired || code == status::timed_out || code == status::cancelled;
}

}  // namespace detail

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_RESULT_HPP
