// Reusable objects. Taking one, returning one and a walk over the used ones do not visit others.
// Objects that stay spare for a whole period are freed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace mortise::deployment {

// T has a member `place`, which belongs to the pool.
template <class T>
class object_pool {
 public:
  // A spare object, or the result of `make`.
  template <class Make>
  T& take(Make&& make) {
    if (used_ == all_.size()) {
      all_.push_back(std::forward<Make>(make)());
      all_.back()->place = used_;
    }
    T& item = *all_[used_++];
    least_spare_ = std::min(least_spare_, all_.size() - used_);
    return item;
  }
  void put(T& item) noexcept {
    const auto place = item.place;
    --used_;
    std::swap(all_[place], all_[used_]);
    all_[place]->place = place;
    all_[used_]->place = used_;
  }
  [[nodiscard]] bool is_used(const T& item) const noexcept { return item.place < used_; }
  // Frees the objects that were spare since the last call.
  void trim() noexcept {
    all_.resize(all_.size() - least_spare_);
    least_spare_ = all_.size() - used_;
  }
  // Used objects come first. Their order changes with each put().
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  [[nodiscard]] T& at(std::size_t place) noexcept { return *all_[place]; }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

 private:
  std::vector<std::unique_ptr<T>> all_;
  std::size_t used_ = 0;
  std::size_t least_spare_ = 0;
};

}  // namespace mortise::deployment
