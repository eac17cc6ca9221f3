// The gates that an event of a slot reaches.
#include "client/registry.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "deployment/api/deployment.hpp"

namespace mortise::testing {
namespace {

struct counted_gate {
  [[nodiscard]] std::uint64_t id() const { return number; }
  [[nodiscard]] lock::lock_kind kind() const { return lock::lock_kind::mutex; }
  [[nodiscard]] const std::string& key() const { return name; }
  [[nodiscard]] deployment::named_key named() const { return {name, name}; }
  [[nodiscard]] bool is_idle() const { return true; }
  template <class Step>
  void enter(Step&& step) {
    step(*this, time_ns{0});
  }

  const std::uint64_t number;
  const std::string name;
  std::atomic<int> handles{0};
};

// Fails the test if a walk asks about a single name.
struct names_of_slots final : deployment::name_set {
  explicit names_of_slots(const std::vector<std::string>& keys) {
    for (const auto& key : keys) all.set(static_cast<std::size_t>(cluster::slot_of(key)));
  }
  [[nodiscard]] bool has(const deployment::named_key& lock) const noexcept override {
    ADD_FAILURE() << "asked about " << lock.name;
    return false;
  }
  [[nodiscard]] const cluster::slot_set* slots() const noexcept override { return &all; }
  cluster::slot_set all;
};

class registry_test : public ::testing::Test {
 protected:
  registry_test() { gates.index_by(cluster::slot_of); }
  std::shared_ptr<counted_gate> join(const std::string& key) {
    return gates.join(lock::lock_kind::mutex, key, true, [&](std::uint64_t number) {
      return std::shared_ptr<counted_gate>(new counted_gate{number, key});
    });
  }
  std::vector<std::string> entered(const std::vector<std::string>& keys) {
    std::vector<std::string> found;
    gates.enter_each_of(names_of_slots(keys),
                        [&](counted_gate& gate, time_ns) { found.push_back(gate.name); });
    return found;
  }
  client::registry<counted_gate> gates;
};

TEST_F(registry_test, an_event_of_a_slot_reaches_only_its_gates) {
  for (const auto* const key : {"{a}1", "{b}1", "{a}2", "{c}1"}) join(key);
  EXPECT_EQ(entered({"{a}"}), (std::vector<std::string>{"{a}1", "{a}2"}));
  EXPECT_EQ(entered({"{b}", "{c}"}).size(), 2U);
  EXPECT_TRUE(entered({"{d}"}).empty());
}

TEST_F(registry_test, a_released_gate_leaves_its_slot) {
  const auto first = join("{a}1");
  join("{a}2");
  gates.release(*first);
  EXPECT_EQ(entered({"{a}"}), std::vector<std::string>{"{a}2"});
  gates.clear();
  EXPECT_TRUE(entered({"{a}"}).empty());
}

}  // namespace
}  // namespace mortise::testing
