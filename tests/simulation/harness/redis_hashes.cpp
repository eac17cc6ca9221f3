// The hashes of the simulated Redis, each command as Redis 7.0 does it with small ones.
#include <algorithm>

#include "simulation/harness/redis_replies.hpp"

namespace mortise::simulation {

namespace {

auto field_of(simulated_redis::entry& hash, const std::string& name) {
  return std::find_if(hash.fields.begin(), hash.fields.end(),
                      [&](const auto& field) { return field.first == name; });
}

}  // namespace

reply simulated_redis::hset(const arguments& command) {
  if (command.size() % 2 != 0) {
    return reply::error("ERR wrong number of arguments for 'hset' command");
  }
  auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::hash)) return wrong_type;
  if (found == nullptr) {
    found = &entries_[command[1]];
    found->type = entry::kind::hash;
  }
  std::int64_t added = 0;
  for (std::size_t i = 2; i < command.size(); i += 2) {
    const auto field = field_of(*found, command[i]);
    if (field != found->fields.end()) {
      field->second = command[i + 1];
      continue;
    }
    found->fields.emplace_back(command[i], command[i + 1]);
    ++added;
  }
  return reply::number(added);
}

reply simulated_redis::hdel(const arguments& command) {
  auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::hash)) return wrong_type;
  if (found == nullptr) return reply::number(0);
  std::int64_t removed = 0;
  for (std::size_t i = 2; i < command.size(); ++i) {
    const auto field = field_of(*found, command[i]);
    if (field == found->fields.end()) continue;
    found->fields.erase(field);
    ++removed;
  }
  if (found->fields.empty()) entries_.erase(command[1]);
  return reply::number(removed);
}

reply simulated_redis::hgetall(const arguments& command) {
  const auto* found = live(command[1]);
  if (is_wrong_type(found, entry::kind::hash)) return wrong_type;
  std::vector<reply> items;
  if (found != nullptr) {
    for (const auto& [name, value] : found->fields) {
      items.push_back(reply::bulk(name));
      items.push_back(reply::bulk(value));
    }
  }
  return reply::list(std::move(items));
}

}  // namespace mortise::simulation
