// The value of a hold at the servers: a text of its owner that queries show. Nothing depends on it.
//
// The servers keep it under the owner token, so no reader takes the value of an earlier hold for
// that of the present one, and no late request changes the value of another owner (hazards 16 and
// 17). It ends with the lease that it was set in. So each renewal is followed by a request for the
// value, which also repairs a lost one.
#pragma once

#include <cstdint>
#include <string>

#include "lock/claim_event.hpp"
#include "lock/gate/step_requests.hpp"

namespace mortise::lock {

class hold_value {
 public:
  explicit hold_value(step_requests& requests) : requests_(requests) {}

  // Sets the value, or removes it with an empty text. False if no request was sent.
  bool set(std::string text, const operation* requester, time_ns now);
  // The lease has a new end at the servers.
  void on_renewed(time_ns now) {
    if (exists()) ask(nullptr, now);
  }
  // A reply to one of its requests. The claim decides what a missing owner means.
  claim_event on_answer(const open_request& request, const step_result& result, time_ns now);
  // Before the release. Without a reply the value ends with its lease.
  void remove(time_ns now);

  // Whether the servers have a value, or may have one.
  [[nodiscard]] bool exists() const noexcept { return may_exist_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  bool ask(const operation* requester, time_ns now, bool with_text = false);

  step_requests& requests_;
  std::string text_;
  bool may_exist_ = false;
  std::uint32_t serial_ = 0;  // of the last request
};

}  // namespace mortise::lock
