// Renewals of many locks of one server, as one request.
#pragma once

#include <cstddef>
#include <string>

#include "protocol/table.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::protocol {

class renewal_list {
 public:
  // Whether this step can be one of them. A request with the script's text follows a list that the
  // server has not executed.
  static bool admits(const table& protocol, const lock::step_request& request) noexcept {
    return protocol.renew_many != nullptr && request.what == lock::step::renew &&
           request.reserve == 0 && !request.with_text;
  }
  // Throws bad_alloc, and is unchanged then.
  void add(const lock::step_request& request, const key_set& keys);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // Appends the command, with the text of the script or its hash. It has one reply.
  void write(std::string& out, const redis::script& code, bool with_text) const;
  // The result of one of `count` renewals.
  static lock::step_result read(const redis::value& reply, std::size_t index, std::size_t count);

 private:
  std::string keys_;
  std::string arguments_;
  std::size_t size_ = 0;
};

}  // namespace mortise::protocol
