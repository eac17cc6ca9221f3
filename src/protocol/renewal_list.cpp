#include "protocol/renewal_list.hpp"

#include <new>

#include "protocol/refusal.hpp"

namespace mortise::protocol {

using lock::answer;
using lock::step_result;

namespace {

// A request of its own finds out more about one lock. The claim sends it, because it must not ask
// for less than a later request that the server may have executed already (hazard 17).
step_result not_executed() {
  step_result result;
  result.what = answer::no_script;
  return result;
}

}  // namespace

void renewal_list::add(const lock::step_request& request, const key_set& keys) {
  const auto before = keys_.size();
  const auto arguments_before = arguments_.size();
  try {
    redis::command_writer(keys_).arg(keys.front());
    redis::command_writer(arguments_).arg(request.token).arg(request.ttl_ms);
  } catch (const std::bad_alloc&) {
    // A part of a lock would make the server read all following requests wrongly.
    keys_.resize(before);
    arguments_.resize(arguments_before);
    throw;
  }
  ++size_;
}

void renewal_list::write(std::string& out, const redis::script& code, bool with_text) const {
  redis::command_writer writer(out);
  writer.begin(3 + 3 * size_);
  writer.arg(with_text ? "EVAL" : "EVALSHA").arg(with_text ? code.text : code.sha1);
  writer.arg(static_cast<std::int64_t>(size_));
  out.append(keys_).append(arguments_);
}

step_result renewal_list::read(const redis::value& reply, std::size_t index, std::size_t count) {
  if (reply.is_error()) {
    auto result = read_error(reply.text());
    return result.what == answer::unsent ? result : not_executed();
  }
  if (reply.type() != redis::kind::array || reply.size() != count) return unreadable();
  const auto& code = reply.at(index);
  if (code.type() != redis::kind::integer) return unreadable();
  step_result result;
  switch (code.integer()) {
    case 1:
    case 2:
      result.what = answer::renewed;
      result.others_wait = code.integer() == 2;
      return result;
    case 0:
    case -1:
      result.what = answer::not_owner;
      result.is_replaced = code.integer() == -1;
      return result;
    case -2:
      return not_executed();
    default:
      return unreadable();
  }
}

}  // namespace mortise::protocol
