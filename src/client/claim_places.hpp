// The claims of a gate that the helper process releases when this process is dead (option
// `release_on_death`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "helper/helper_process.hpp"
#include "lock/step.hpp"
#include "protocol/table.hpp"

namespace mortise::client {

// Under the gate's mutex.
class claim_places {
 public:
  // nullptr without the option.
  explicit claim_places(helper::helper_process* helper) noexcept : helper_(helper) {}
  ~claim_places();
  claim_places(const claim_places&) = delete;
  claim_places& operator=(const claim_places&) = delete;

  [[nodiscard]] bool is_on() const noexcept { return helper_ != nullptr; }
  // The place of the claim, with its release, before a request of the claim is sent. nullopt if
  // there are too many claims. Throws bad_alloc.
  std::optional<helper::claim_place> of(const lock::step_request& request,
                                        const protocol::table& rules,
                                        const protocol::key_set& keys);
  // Nothing of the claim is at the servers, or its lease decides.
  void end(std::uint64_t claim_id) noexcept;

 private:
  struct used_place {
    std::uint64_t claim_id;
    std::int64_t permits;
    helper::claim_place place;
  };

  std::vector<used_place>::iterator find(std::uint64_t claim_id) noexcept;

  helper::helper_process* const helper_;
  std::vector<used_place> all_;
  std::string release_;  // kept for its capacity
};

}  // namespace mortise::client
