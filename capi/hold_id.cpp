// mortise_hold_id.
#include <array>

#include "handle_calls.hpp"

using mortise::outcome;
using namespace mortise::capi;  // the ABI's own file

mortise_hold_id* mortise_hold_id_new(const char* id, size_t id_len, mortise_error* error) {
  std::unique_ptr<mortise_hold_id> made;
  const auto read = [&]() -> outcome {
    const argument::id given{id, id_len};
    if (auto checked = given.check(); !checked.ok()) return checked;
    auto fresh = std::make_unique<mortise_hold_id>();
    fresh->text = given.value();
    auto result = mortise::protocol::read_exported_hold(fresh->text, fresh->content);
    if (result.ok()) made = std::move(fresh);
    return result;
  };
  return guard(error, read) == MORTISE_OK ? made.release() : nullptr;
}

void mortise_hold_id_free(mortise_hold_id* hold_id) { delete hold_id; }

const char* mortise_hold_id_text(const mortise_hold_id* hold_id) {
  return hold_id == nullptr ? "" : hold_id->text.c_str();
}

const char* mortise_hold_id_name(const mortise_hold_id* hold_id, size_t* name_len) {
  return text_of(hold_id == nullptr ? nullptr : &hold_id->content.name, name_len);
}

const char* mortise_hold_id_kind(const mortise_hold_id* hold_id) {
  static constexpr std::array kinds = {"mutex", "rw", "semaphore"};
  return hold_id == nullptr ? "" : kinds.at(static_cast<std::size_t>(hold_id->content.kind));
}

int32_t mortise_hold_id_is_exclusive(const mortise_hold_id* hold_id) {
  using mortise::lock::hold_mode;
  return hold_id != nullptr && hold_id->content.amount.mode == hold_mode::exclusive ? 1 : 0;
}

int64_t mortise_hold_id_capacity(const mortise_hold_id* hold_id) {
  using mortise::lock::lock_kind;
  const bool is_known = hold_id != nullptr && hold_id->content.kind == lock_kind::semaphore;
  return is_known ? hold_id->content.amount.capacity : 0;
}

int64_t mortise_hold_id_valid_until_ms(const mortise_hold_id* hold_id) {
  return hold_id == nullptr ? 0 : hold_id->content.valid_until_ms;
}
