#include "redis/endpoint_tracker.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace mortise::redis {

namespace {

// Running out of memory for a text must not end the connection.
std::string text_or_nothing(const net::address& place) noexcept try {
  return place.text();
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace

endpoint_tracker::endpoint_tracker(net::reactor& loop, const std::shared_ptr<net::resolver>& name,
                                   check_listener& listener)
    : name_(name->text()),
      is_fixed_(name->is_immediate()),
      listener_(listener),
      lookup_(loop, name, *this) {}

std::string endpoint_tracker::text() const noexcept {
  if (!address_) return joined({name_});
  auto now = text_or_nothing(*address_);
  if (now == name_) return now;
  if (!previous_ || is_back()) return joined({name_, " (", now, ")"});
  return joined({name_, " moved from ", text_or_nothing(*previous_), " (", reason_, ") to ", now});
}

std::string endpoint_tracker::text_disconnected() const noexcept {
  if (!previous_) return joined({name_});
  const auto before = text_or_nothing(*previous_);
  if (before == name_) return joined({name_, " (", reason_, ")"});
  return joined({name_, " was ", before, " (", reason_, ")"});
}

void endpoint_tracker::change_name(std::string name, bool is_fixed) noexcept {
  name_ = std::move(name);
  is_fixed_ = is_fixed;
  lookup_.forget();
  address_.reset();
  previous_.reset();
}

void endpoint_tracker::note_connected(const net::address& at) noexcept { address_ = at; }

void endpoint_tracker::note_disconnected(const char* why) noexcept {
  previous_ = address_;
  reason_ = why;
}

void endpoint_tracker::look(time_ns deadline, const char* why) noexcept try {
  lookup_reason_ = why;
  if (!is_fixed_) lookup_.start(deadline);
} catch (const std::bad_alloc&) {
  // Another look follows, as long as the server is silent.
}

// A failed lookup changes nothing.
void endpoint_tracker::on_resolved(net::resolution found) noexcept {
  if (!found.result.ok() || found.addresses.empty() || !address_) return;
  const auto& all = found.addresses;
  if (std::find(all.begin(), all.end(), *address_) != all.end()) return;
  auto why = outcome::of(status::unreachable, name_, " moved from ", text_or_nothing(*address_),
                         " (", lookup_reason_, ") to ", text_or_nothing(all.front()));
  why.cause = lookup_reason_;
  listener_.on_moved(std::move(why));
}

}  // namespace mortise::redis
