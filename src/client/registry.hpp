// The gates of a client: which gate_driver serves which name. Handles share a gate_driver if they
// may. A gate_driver without handles and without open requests is removed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "lock/protocol_facts.hpp"
#include "protocol/native/inbox.hpp"

namespace mortise::client {

// In a cluster an index finds the gates of a slot. Uses only id(), kind(), key(), named(),
// is_idle(), enter(), on_message() and `handles` of a gate_driver. So the simulation can use its
// own gate drivers.
template <class GateDriver>
class registry {
 public:
  // Handles of one client pass a lock on, share it among readers and retain it, if its protocol
  // can. A `strict` handle competes by itself: no handle of this client passes the lock to it or
  // gets the lock from it.
  static bool may_share(const lock::protocol_facts& protocol, bool is_strict) noexcept {
    return protocol.can_pass && !is_strict;
  }

  // Indexes the gates by the slots of their keys. Called before the first join().
  void index_by(int (*slot_of)(std::string_view key) noexcept) noexcept { slot_of_ = slot_of; }

  // The gate_driver for one more handle of this kind, until release(). nullptr once closed.
  // `make(gate_id)` creates it if there is none, or if it is not shared. Locks of two kinds may
  // have the same key, and reject each other.
  template <class Make>
  std::shared_ptr<GateDriver> join(lock::lock_kind kind, const std::string& key, bool is_shared,
                                   Make&& make) {
    const std::lock_guard guard(mutex_);
    if (is_closed_) return nullptr;  // the new gate would never be closed
    auto& shared = shared_of(kind);
    const auto known = is_shared ? shared.find(key) : shared.end();
    if (known != shared.end()) return count(all_.at(known->second));
    const auto gate_id = next_id_++;
    const auto made = all_.emplace(gate_id, make(gate_id)).first->second;
    if (slot_of_ != nullptr) by_slot_.emplace(slot_of_(key), gate_id);
    if (is_shared) shared.emplace(key, gate_id);
    return count(made);
  }
  void release(GateDriver& used) noexcept {
    --used.handles;
    retire_if_idle(used);
  }
  // Called after each request that may have been the last open one. The caller keeps the
  // gate_driver.
  void retire_if_idle(GateDriver& used) noexcept {
    if (is_needed(used)) return;
    const std::lock_guard guard(mutex_);
    if (is_needed(used)) return;  // a handle has joined since
    auto& shared = shared_of(used.kind());
    const auto known = shared.find(used.key());
    if (known != shared.end() && known->second == used.id()) shared.erase(known);
    if (slot_of_ != nullptr) by_slot_.erase({slot_of_(used.key()), used.id()});
    all_.erase(used.id());
  }

  [[nodiscard]] std::shared_ptr<GateDriver> find(std::uint64_t gate_id) noexcept {
    auto found = next(gate_id);
    if (found && found->id() != gate_id) found.reset();
    return found;
  }
  // The first gate_driver from this number on, or nullptr. Iterates without the mutex and without
  // memory.
  [[nodiscard]] std::shared_ptr<GateDriver> next(std::uint64_t from) noexcept {
    const std::lock_guard guard(mutex_);
    const auto found = all_.lower_bound(from);
    return found == all_.end() ? nullptr : found->second;
  }
  // The same for the gates of a slot.
  [[nodiscard]] std::shared_ptr<GateDriver> next_of(int slot, std::uint64_t from) noexcept {
    const std::lock_guard guard(mutex_);
    const auto found = by_slot_.lower_bound({slot, from});
    return found == by_slot_.end() || found->first != slot ? nullptr : all_.at(found->second);
  }

  // Runs `step(gate, now)` in one gate if it still exists, in each gate, or in gates of these
  // names.
  template <class Step>
  void enter(std::uint64_t gate_id, Step&& step) noexcept {
    const auto found = find(gate_id);
    if (!found) return;
    found->enter(step);
    retire_if_idle(*found);
  }
  template <class Step>
  void enter_each(Step&& step) noexcept {
    for (auto each = next(0); each; each = next(each->id() + 1)) each->enter(step);
  }
  template <class Names, class Step>
  void enter_each_of(const Names& names, Step&& step) noexcept {
    if (const auto* const slots = names.slots()) {
      for (int slot = 0; slot < static_cast<int>(slots->size()); ++slot) {
        if (!slots->test(static_cast<std::size_t>(slot))) continue;
        for (auto each = next_of(slot, 0); each; each = next_of(slot, each->id() + 1)) {
          each->enter(step);
        }
      }
      return;
    }
    for (auto each = next(0); each; each = next(each->id() + 1)) {
      if (names.has(each->named())) each->enter(step);
    }
  }
  void deliver(const protocol::message& message) noexcept {
    const auto found = find(message.gate_id);
    if (!found) return;
    found->on_message(message);
    retire_if_idle(*found);
  }

  // Rejects further handles, and closes each gate.
  void close() noexcept {
    {
      const std::lock_guard guard(mutex_);
      is_closed_ = true;
    }
    enter_each([](auto& gate, auto now) { gate.close(now); });
  }
  // Removes all gates.
  void clear() noexcept {
    decltype(all_) removed;  // destroyed without the mutex
    const std::lock_guard guard(mutex_);
    removed.swap(all_);
    by_slot_.clear();
    for (auto& shared : shared_) shared.clear();
  }

 private:
  auto& shared_of(lock::lock_kind kind) noexcept { return shared_[static_cast<std::size_t>(kind)]; }
  static std::shared_ptr<GateDriver> count(std::shared_ptr<GateDriver> joined) noexcept {
    ++joined->handles;
    return joined;
  }
  static bool is_needed(const GateDriver& used) noexcept {
    return used.handles.load() > 0 || !used.is_idle();
  }

  std::mutex mutex_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, std::shared_ptr<GateDriver>> all_;
  // By the lock's kind and key.
  std::array<std::unordered_map<std::string, std::uint64_t>, 3> shared_;
  int (*slot_of_)(std::string_view key) noexcept = nullptr;  // in a cluster only
  std::set<std::pair<int, std::uint64_t>> by_slot_;          // gate numbers
  bool is_closed_ = false;
};

}  // namespace mortise::client
