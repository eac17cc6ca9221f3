#include "protocol/listing/query.hpp"

#include <algorithm>
#include <charconv>

#include "lock/gate/owner.hpp"
#include "lock/lease.hpp"
#include "protocol/native/owner_token.hpp"
#include "protocol/scripts/scripts.hpp"
#include "protocol/wire.hpp"

namespace mortise::protocol {

namespace {

lock_party party_of(std::string_view value, bool has_permits) {
  lock_party party;
  if (has_permits) {
    std::from_chars(value.data(), value.data() + value.size(), party.permits);
    value.remove_prefix(std::min(value.find(' '), value.size() - 1) + 1);
    party.is_exclusive = party.permits == lock::exclusive_permits;
    if (party.is_exclusive) party.permits = 1;
  }
  const auto parts = split_owner_token(value);
  party.owner = parts.token;
  party.client = parts.client;
  party.gate_id = parts.gate_id();
  party.may_be_retained = parts.may_retain();
  party.label = parts.label;
  return party;
}

// A script that is no step of a claim. The keys and the texts of the request belong to the caller,
// which waits. The script may be a local variable.
command call_script(const row& script, const key_set& keys, const lock::step_request& request) {
  return {[script, &keys, request](std::string& out, bool with_text) {
    auto now = request;
    now.with_text = with_text;
    write_script(out, script, now, keys);
  }};
}

void read_query(const redis::value& reply, bool has_permits, lock_info& info) {
  info.latest_token = number_in(reply.at(2).text());
  info.is_mine = reply.at(3).integer() == 1;
  info.holder_count = reply.at(4).integer();
  info.is_held = info.holder_count > 0;
  info.time_left_ms = info.is_held ? reply.at(1).integer() : -1;
  info.waiter_count = reply.at(5).integer();
  info.permits_in_use = reply.at(7).integer();
  info.permits = reply.at(8).integer();
  // A read-write lock has no number of permits.
  if (info.permits == lock::exclusive_permits) info.permits = info.permits_in_use = 0;
  for (const std::size_t list : {0U, 6U}) {
    const auto& owners = reply.at(list);
    for (std::size_t i = 0; i < owners.size(); ++i) {
      info.entries.push_back(party_of(owners.at(i).text(), has_permits));
    }
    if (list == 0) info.shown_holders = static_cast<std::int64_t>(owners.size());
  }
}

}  // namespace

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

command query(const table& rules, const key_set& keys, const lock::step_request& request,
              lock_info& info) {
  command made = call_script(rules.query, keys, request);
  made.read = [has_permits = rules.has_permits, &info](const redis::value& reply) {
    read_query(reply, has_permits, info);
  };
  made.gist = [](const redis::value& reply) {
    std::vector<std::string> holders;
    const auto& owners = reply.at(0);
    for (std::size_t i = 0; i < owners.size(); ++i) holders.emplace_back(owners.at(i).text());
    return holders;
  };
  return made;
}

command read_values(lock_info& info, std::string_view lock_key) {
  command made;
  const auto count = static_cast<std::size_t>(info.shown_holders);
  made.write = [&info, lock_key, count](std::string& out, bool) {
    redis::command_writer writer(out);
    writer.begin(1 + count).arg("MGET");
    for (std::size_t i = 0; i < count; ++i) writer.arg(value_key(lock_key, info.entries[i].owner));
  };
  made.read = [&info, count](const redis::value& reply) {
    for (std::size_t i = 0; i < count && i < reply.size(); ++i) {
      info.entries[i].value = reply.at(i).text();
    }
  };
  return made;
}

// Releases only the named hold, not a later one (hazard 17). In a quorum this includes its votes
// for later proposals.
command force_release(const table& rules, const key_set& keys, std::string_view owner,
                      const lock::step_request& request, bool& was_owner) {
  auto forced = request;
  forced.token = owner;
  forced.proposal = lock::token_limit - 1;
  command made = call_script(rules.force_release, keys, forced);
  made.is_change = true;
  made.has_changed = [](const redis::value& reply) { return reply.integer() > 0; };
  made.read = [&was_owner](const redis::value& reply) {
    was_owner = was_owner || reply.integer() > 0;
  };
  return made;
}

command export_hold(const table& rules, const key_set& keys, const lock::step_request& request,
                    bool& was_owner) {
  auto script = rules.rows.adopt;
  script.mode = "set";
  command made = call_script(script, keys, request);
  made.is_change = true;
  made.read = [&was_owner](const redis::value& reply) { was_owner = reply.at(0).integer() == 1; };
  return made;
}

command resize(const key_set& keys, std::int64_t capacity) {
  static constexpr row script{&scripts::semaphore_resize, 4, 5, "resize"};
  lock::step_request request;
  request.capacity = capacity;
  command made = call_script(script, keys, request);
  made.is_change = true;
  return made;
}

}  // namespace mortise::protocol
