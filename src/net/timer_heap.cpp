#include "net/timer_heap.hpp"

#include <utility>

namespace mortise::net {

// Makes the later one the first child of the earlier one.
timer* timer_heap::merge(timer* left, timer* right) noexcept {
  if (left == nullptr) return right;
  if (right == nullptr) return left;
  if (right->at_ns_ < left->at_ns_) std::swap(left, right);
  right->previous_ = left;
  right->next_ = left->child_;
  if (left->child_ != nullptr) left->child_->previous_ = right;
  left->child_ = right;
  return left;
}

// Pairs them from the left, then merges the pairs from the right, which keeps removal O(log n)
// amortized.
timer* timer_heap::merge_siblings(timer* first) noexcept {
  timer* pairs = nullptr;  // a stack, linked through next_
  while (first != nullptr) {
    timer* left = first;
    timer* right = left->next_;
    first = right == nullptr ? nullptr : right->next_;
    left->next_ = left->previous_ = nullptr;
    if (right != nullptr) right->next_ = right->previous_ = nullptr;
    timer* pair = merge(left, right);
    pair->next_ = pairs;
    pairs = pair;
  }
  timer* result = nullptr;
  while (pairs != nullptr) {
    timer* pair = pairs;
    pairs = pair->next_;
    pair->next_ = nullptr;
    result = merge(result, pair);
  }
  return result;
}

void timer_heap::insert(timer& item, time_ns at_ns) noexcept {
  remove(item);
  item.at_ns_ = at_ns;
  item.is_scheduled_ = true;
  root_ = merge(root_, &item);
}

void timer_heap::remove(timer& item) noexcept {
  if (!item.is_scheduled_) return;
  timer* children = merge_siblings(std::exchange(item.child_, nullptr));
  if (root_ == &item) {
    root_ = children;
  } else {
    if (item.previous_->child_ == &item) {
      item.previous_->child_ = item.next_;
    } else {
      item.previous_->next_ = item.next_;
    }
    if (item.next_ != nullptr) item.next_->previous_ = item.previous_;
    root_ = merge(root_, children);
  }
  item.next_ = item.previous_ = nullptr;
  item.is_scheduled_ = false;
}

timer* timer_heap::take_due(time_ns now) noexcept {
  if (root_ == nullptr || root_->at_ns_ > now) return nullptr;
  timer* due = root_;
  remove(*due);
  return due;
}

}  // namespace mortise::net
