#include "client/claim_places.hpp"

#include <algorithm>

#include "protocol/wire.hpp"

namespace mortise::client {

claim_places::~claim_places() {
  for (const auto& one : all_) helper_->give_back(one.place);
}

helper::claim_place* claim_places::of(const lock::step_request& request,
                                      const protocol::table& rules, const protocol::key_set& keys) {
  const auto find = [&](std::uint64_t claim_id) {
    return std::find_if(all_.begin(), all_.end(),
                        [&](const used_place& one) { return one.claim_id == claim_id; });
  };
  auto found = find(request.claim_id);
  if (found != all_.end() && found->permits == request.permits) return &found->place;
  if (found == all_.end()) found = find(0);
  if (found == all_.end()) {
    all_.reserve(all_.size() + 1);
    const auto place = helper_->take_place();
    if (!place) return nullptr;
    found = all_.insert(all_.end(), {0, 0, *place});
  }
  release_.clear();
  protocol::write_release_of_dead(release_, rules, request, keys);
  if (!found->place.write(release_)) return nullptr;
  found->claim_id = request.claim_id;
  found->permits = request.permits;
  return &found->place;
}

void claim_places::end(std::uint64_t claim_id) noexcept {
  for (auto& one : all_) {
    if (one.claim_id != claim_id) continue;
    one.place.clear();
    one.claim_id = 0;
  }
}

}  // namespace mortise::client
