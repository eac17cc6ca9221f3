#include "client/claim_places.hpp"

#include <algorithm>

#include "protocol/wire.hpp"

namespace mortise::client {

claim_places::~claim_places() {
  for (const auto& one : all_) helper_->give_back(one.place);
}

std::vector<claim_places::used_place>::iterator claim_places::find(
    std::uint64_t claim_id) noexcept {
  return std::find_if(all_.begin(), all_.end(),
                      [&](const used_place& one) { return one.claim_id == claim_id; });
}

std::optional<helper::claim_place> claim_places::of(const lock::step_request& request,
                                                    const protocol::table& rules,
                                                    const protocol::key_set& keys) {
  auto found = find(request.claim_id);
  if (found != all_.end() && found->permits == request.permits) return found->place;
  release_.clear();
  protocol::write_release_of_dead(release_, rules, request, keys);
  if (found == all_.end()) {
    all_.reserve(all_.size() + 1);
    const auto place = helper_->take_place();
    if (!place) return std::nullopt;
    found = all_.insert(all_.end(), {request.claim_id, request.permits, *place});
  }
  found->permits = request.permits;
  return found->place.write(release_) ? std::optional(found->place) : std::nullopt;
}

// The place is for claims of all gates, so an idle gate has none.
void claim_places::end(std::uint64_t claim_id) noexcept {
  const auto found = find(claim_id);
  if (found == all_.end()) return;
  helper_->give_back(found->place);
  all_.erase(found);
}

}  // namespace mortise::client
