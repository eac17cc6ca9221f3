// A list in the order of arrival of objects that it does not own. Each object has the link to the
// next one, so the list needs no memory. An object is in one list at most.
#pragma once

namespace mortise {

template <class Item>
class fifo;

// The base of an object that can be in a list.
template <class Item>
class fifo_link {
  friend class fifo<Item>;
  Item* next_ = nullptr;
};

template <class Item>
class fifo {
 public:
  [[nodiscard]] bool is_empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] Item* first() const noexcept { return first_; }
  [[nodiscard]] Item* last() const noexcept { return last_; }
  [[nodiscard]] static Item* next(const Item& item) noexcept { return link(item).next_; }

  void push(Item& item) noexcept {
    link(item).next_ = nullptr;
    (last_ == nullptr ? first_ : link(*last_).next_) = &item;
    last_ = &item;
  }
  // nullptr if the list is empty.
  Item* pop() noexcept {
    Item* const item = first_;
    if (item == nullptr) return nullptr;
    first_ = next(*item);
    if (first_ == nullptr) last_ = nullptr;
    return item;
  }
  // Appends all items of `other`, which is empty afterwards.
  void take_all(fifo& other) noexcept {
    if (other.is_empty()) return;
    (last_ == nullptr ? first_ : link(*last_).next_) = other.first_;
    last_ = other.last_;
    other = {};
  }
  // The item is in the list. Looks at all items before it.
  void remove(const Item& item) noexcept {
    Item* before = nullptr;
    for (Item* at = first_; at != &item; at = next(*at)) before = at;
    (before == nullptr ? first_ : link(*before).next_) = next(item);
    if (last_ == &item) last_ = before;
  }

 private:
  static fifo_link<Item>& link(Item& item) noexcept { return item; }
  static const fifo_link<Item>& link(const Item& item) noexcept { return item; }

  Item* first_ = nullptr;
  Item* last_ = nullptr;
};

}  // namespace mortise
