#include "deployment/sharded/server_group.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "base/text/printable.hpp"
#include "net/dial/at_once.hpp"
#include "protocol/command.hpp"

namespace mortise::deployment {

namespace {

// Adds the next outcome to the total.
void note(outcome& total, const outcome& next) noexcept {
  if (next.ok()) return;
  if (total.ok()) {
    total = next;
    return;
  }
  total.is_ambiguous = total.is_ambiguous || next.is_ambiguous;
  total.is_retryable = total.is_retryable && next.is_retryable;
  total.say(total.words(), "; ", next.words());
}

}  // namespace

outcome server_group::named(std::size_t index, outcome result) const noexcept try {
  if (result.ok()) return result;
  const auto name = printable(members_[index].name);
  if (result.code == status::invalid_argument) {
    result.say(result.words(), " (", noun_, " ", name, ")");  // the argument stays first
  } else {
    result.say(noun_, " ", name, ": ", result.words());
  }
  return result;
} catch (const std::bad_alloc&) {
  return result;  // without the name
}

std::vector<outcome> server_group::results_of(const step& call) {
  std::vector<outcome> results(members_.size());
  net::at_once(members_.size(), [&](std::size_t i) {
    try {
      results[i] = call(at(i), i);
    } catch (const std::bad_alloc&) {
      results[i] = outcome::of(status::no_memory);
    }
  });
  return results;
}

outcome server_group::total_of(std::vector<outcome> results) const {
  outcome total;
  for (std::size_t i = 0; i < results.size(); ++i) note(total, named(i, std::move(results[i])));
  return total;
}

outcome server_group::each(std::size_t needed, const step& call) {
  auto results = results_of(call);
  const auto done =
      std::count_if(results.begin(), results.end(), [](const auto& result) { return result.ok(); });
  return static_cast<std::size_t>(done) >= needed ? outcome() : total_of(std::move(results));
}

outcome server_group::each_present(protocol::missing_servers& missing, const step& call) {
  const auto before = missing;
  auto results = results_of([&](deployment& one, std::size_t i) {
    return before.has(members_[i].name) ? outcome() : call(one, i);
  });
  bool has_answered = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].ok()) missing.add(members_[i].name, results[i]);
    has_answered = has_answered || !missing.has(members_[i].name);
  }
  return has_answered ? outcome() : total_of(std::move(results));
}

outcome server_group::open(time_ns deadline) {
  auto opened = each(all, [&](deployment& one, std::size_t) { return one.open(deadline); });
  if (!opened.ok()) close(0);
  return opened;
}

outcome server_group::begin() {
  outcome begun;
  for (std::size_t i = 0; begun.ok() && i < members_.size(); ++i) begun = named(i, at(i).begin());
  if (!begun.ok()) close(0);
  return begun;
}

void server_group::close(time_ns linger_ns) noexcept {
  net::at_once(members_.size(), [&](std::size_t i) { at(i).close(linger_ns); });
}

outcome server_group::ask(const protocol::command& command, time_ns deadline) {
  return each(needed_,
              [&](deployment& one, std::size_t) { return one.ask_all(command, deadline); });
}

outcome server_group::ask_present(const protocol::command& command, time_ns deadline,
                                  protocol::missing_servers& missing) {
  return each_present(missing,
                      [&](deployment& one, std::size_t) { return one.ask_all(command, deadline); });
}

outcome server_group::converse(const protocol::dialogue_maker& begin, time_ns deadline,
                               protocol::missing_servers& missing) {
  return each_present(missing, [&](deployment& one, std::size_t) {
    protocol::missing_servers of_one;
    return one.converse(begin, deadline, of_one);
  });
}

outcome server_group::check_health(protocol::health& target, time_ns deadline) {
  std::vector<protocol::health> found(members_.size());
  // If all members are needed, each has its own locks.
  const bool is_spare = needed_ != all;
  auto result = each(is_spare ? needed_ : 1, [&](deployment& one, std::size_t i) {
    auto error = one.ask_all(protocol::ping(), deadline);  // waits for the connection
    if (error.ok()) error = one.check_health(found[i], deadline);
    if (!error.ok()) protocol::judge_unreachable(error, members_[i].name, is_spare, found[i]);
    return error;
  });
  for (auto& part : found) {
    target.findings.insert(target.findings.end(), std::make_move_iterator(part.findings.begin()),
                           std::make_move_iterator(part.findings.end()));
  }
  return result;
}

outcome server_group::set_credentials(const redis::login& offered, time_ns deadline) {
  return each(all,
              [&](deployment& one, std::size_t) { return one.set_credentials(offered, deadline); });
}

void server_group::add_statistics(statistics::snapshot& target) const {
  for (const auto& one : members_) one.servers->add_statistics(target);
}

std::shared_ptr<const protocol::health> server_group::last_health() const {
  std::shared_ptr<protocol::health> found;
  for (const auto& one : members_) {
    const auto part = one.servers->last_health();
    if (!part) continue;
    if (!found) found = std::make_shared<protocol::health>();
    found->findings.insert(found->findings.end(), part->findings.begin(), part->findings.end());
  }
  return found;
}

std::unique_ptr<broadcast> server_group::new_broadcast(const protocol::command& command) {
  std::vector<std::unique_ptr<broadcast>> parts;
  for (const auto& one : members_) parts.push_back(one.servers->new_broadcast(command));
  return std::make_unique<group_broadcast>(std::move(parts));
}

}  // namespace mortise::deployment
