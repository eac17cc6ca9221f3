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

// Not in the heap itself, `item` shares the place of a timer of the same time.
void timer_heap::join_ring(timer& item, timer& other) noexcept {
  item.is_in_heap_ = false;
  item.ring_next_ = other.ring_next_;
  item.ring_previous_ = &other;
  other.ring_next_->ring_previous_ = &item;
  other.ring_next_ = &item;
}

void timer_heap::leave_ring(timer& item) noexcept {
  item.ring_previous_->ring_next_ = item.ring_next_;
  item.ring_next_->ring_previous_ = item.ring_previous_;
  item.ring_next_ = item.ring_previous_ = &item;
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

timer*& timer_heap::recent_of(time_ns at_ns, time_ns share) noexcept {
  return recent_[static_cast<std::size_t>(at_ns / share) % recent_.size()];
}

void timer_heap::insert(timer& item, time_ns at_ns, time_ns slack_ns) noexcept {
  remove(item);
  const time_ns share = slack_ns / shares;
  item.slack_ns_ = share == 0 ? 0 : slack_ns;
  item.at_ns_ = share == 0 ? at_ns : at_ns - at_ns % share;
  item.is_scheduled_ = item.is_in_heap_ = true;
  item.ring_next_ = item.ring_previous_ = &item;
  if (share > 0) {
    timer* const other = std::exchange(recent_of(item.at_ns_, share), &item);
    if (other != nullptr && other->at_ns_ == item.at_ns_) return join_ring(item, *other);
  }
  root_ = merge(root_, &item);
}

// Gives the node's place in the heap to another timer of its ring.
void timer_heap::replace(timer& node, timer& heir) noexcept {
  heir.is_in_heap_ = true;
  heir.child_ = std::exchange(node.child_, nullptr);
  heir.next_ = node.next_;
  heir.previous_ = node.previous_;
  if (heir.child_ != nullptr) heir.child_->previous_ = &heir;
  if (heir.next_ != nullptr) heir.next_->previous_ = &heir;
  if (root_ == &node) {
    root_ = &heir;
  } else if (heir.previous_->child_ == &node) {
    heir.previous_->child_ = &heir;
  } else {
    heir.previous_->next_ = &heir;
  }
}

void timer_heap::remove_node(timer& node) noexcept {
  timer* children = merge_siblings(std::exchange(node.child_, nullptr));
  if (root_ == &node) {
    root_ = children;
    return;
  }
  if (node.previous_->child_ == &node) {
    node.previous_->child_ = node.next_;
  } else {
    node.previous_->next_ = node.next_;
  }
  if (node.next_ != nullptr) node.next_->previous_ = node.previous_;
  root_ = merge(root_, children);
}

void timer_heap::remove(timer& item) noexcept {
  if (!item.is_scheduled_) return;
  item.is_scheduled_ = false;
  timer* const heir = item.ring_next_;
  leave_ring(item);
  if (item.slack_ns_ > 0) {
    auto& recent = recent_of(item.at_ns_, item.slack_ns_ / shares);
    if (recent == &item) recent = heir == &item ? nullptr : heir;
  }
  if (!std::exchange(item.is_in_heap_, false)) return;
  if (heir != &item) {
    replace(item, *heir);
  } else {
    remove_node(item);
  }
  item.next_ = item.previous_ = nullptr;
}

timer* timer_heap::take_due(time_ns now, bool may_be_early) noexcept {
  if (root_ == nullptr) return nullptr;
  timer* const due = root_->ring_next_;  // the root itself last
  // Rounding has used up to one share of its slack.
  const time_ns early = may_be_early ? due->slack_ns_ - due->slack_ns_ / shares : 0;
  if (due->at_ns_ - early > now) return nullptr;
  remove(*due);
  return due;
}

}  // namespace mortise::net
