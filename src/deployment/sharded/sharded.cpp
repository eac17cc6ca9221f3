#include "deployment/sharded/sharded.hpp"

#include <utility>

#include "deployment/api/rendezvous.hpp"
#include "deployment/sharded/server_group.hpp"
#include "net/threads/caller.hpp"

namespace mortise::deployment {

namespace {

// Forwards the events of one shard for its own names only.
class shard_listener final : public listener {
 public:
  shard_listener(const rendezvous& places, std::size_t index, listener& events)
      : places_(places), index_(index), listener_(events) {}

  void on_up(const name_set& names, time_ns now) noexcept override {
    listener_.on_up(own_names(*this, names), now);
  }
  void on_unacknowledged(const name_set& names, time_ns now) noexcept override {
    listener_.on_unacknowledged(own_names(*this, names), now);
  }
  void on_message(std::string_view text, time_ns now) noexcept override {
    listener_.on_message(text, now);
  }
  void on_channel_message(std::string_view channel) noexcept override {
    listener_.on_channel_message(channel);
  }
  void on_listening(std::string_view channel) noexcept override { listener_.on_listening(channel); }
  void on_note(log_subject what, const outcome& details) noexcept override {
    listener_.on_note(what, details);
  }
  [[nodiscard]] helper::helper_process* helper() noexcept override { return listener_.helper(); }

 private:
  class own_names final : public name_set {
   public:
    own_names(const shard_listener& owner, const name_set& names) : owner_(owner), names_(names) {}
    [[nodiscard]] bool has(const named_key& lock) const noexcept override {
      return owner_.places_.shard_of(lock.name) == owner_.index_ && names_.has(lock);
    }

   private:
    const shard_listener& owner_;
    const name_set& names_;
  };

  const rendezvous& places_;
  const std::size_t index_;
  listener& listener_;
};

std::vector<rendezvous::shard> places_of(const std::vector<single_url>& shards) {
  std::vector<rendezvous::shard> places;
  places.reserve(shards.size());
  for (const auto& url : shards) places.push_back({url.shard, url.weight == 0 ? 1 : url.weight});
  return places;
}

class sharded final : public deployment {
 public:
  sharded(const std::vector<single_url>& shards, net::reactor& loop, const settings& terms,
          std::string_view client_id, listener& events)
      : places_(places_of(shards)) {
    for (const auto& url : shards) {
      listeners_.push_back(std::make_unique<shard_listener>(places_, listeners_.size(), events));
      all_.add(url.shard, url.make(loop, terms, client_id, *listeners_.back()));
    }
  }

  outcome open(time_ns deadline) override { return all_.open(deadline); }
  outcome begin() override { return all_.begin(); }
  void close(time_ns linger_ns) noexcept override { all_.close(linger_ns); }
  std::unique_ptr<lock_request> new_request(lock_requester& requester,
                                            const named_key& lock) override {
    return shard_of(lock).new_request(requester, lock);
  }
  [[nodiscard]] bool is_granted_by_message(const named_key& lock) const noexcept override {
    return shard_of(lock).is_granted_by_message(lock);
  }
  bool await(const named_key& lock, net::caller& caller, time_ns deadline) noexcept override {
    return shard_of(lock).await(lock, caller, deadline);
  }
  // A caller can read only one connection, so the I/O thread reads for this caller.
  bool await_any(net::caller& caller, time_ns deadline) noexcept override {
    return caller.wait(deadline);
  }
  void expect_messages(const named_key& lock, int change) noexcept override {
    shard_of(lock).expect_messages(lock, change);
  }
  void note_token(const named_key& lock, std::int64_t token) noexcept override {
    shard_of(lock).note_token(lock, token);
  }
  void listen(const named_key& lock, std::string_view channel) override {
    shard_of(lock).listen(lock, channel);
  }
  void unlisten(const named_key& lock, std::string_view channel) noexcept override {
    shard_of(lock).unlisten(lock, channel);
  }
  [[nodiscard]] std::int64_t database_of(const named_key& lock) const override {
    if (!lock.name.empty()) return shard_of(lock).database_of(lock);
    const auto first = all_.at(0).database_of(lock);
    for (std::size_t i = 1; i < all_.size(); ++i) {
      if (all_.at(i).database_of(lock) != first) return -1;
    }
    return first;
  }
  [[nodiscard]] outcome problem(const named_key& lock) const override {
    const auto index = places_.shard_of(lock.name);
    return all_.named(index, all_.at(index).problem(lock));
  }
  outcome ask(const named_key& lock, const protocol::command& command, time_ns deadline) override {
    const auto index = places_.shard_of(lock.name);
    return all_.named(index, all_.at(index).ask(lock, command, deadline));
  }
  outcome ask_all(const protocol::command& command, time_ns deadline) override {
    return all_.ask(command, deadline);
  }
  outcome ask_present(const protocol::command& command, time_ns deadline,
                      protocol::missing_servers& missing) override {
    return all_.ask_present(command, deadline, missing);
  }
  outcome converse(const protocol::dialogue_maker& begin, time_ns deadline,
                   protocol::missing_servers& missing) override {
    return all_.converse(begin, deadline, missing);
  }
  outcome check_health(protocol::health& target, time_ns deadline) override {
    return all_.check_health(target, deadline);
  }
  [[nodiscard]] std::shared_ptr<const protocol::health> last_health() const override {
    return all_.last_health();
  }
  void add_statistics(statistics::snapshot& target) const override { all_.add_statistics(target); }
  outcome set_credentials(redis::login offered, time_ns deadline) override {
    return all_.set_credentials(offered, deadline);
  }
  std::unique_ptr<broadcast> new_broadcast(const protocol::command& command) override {
    return all_.new_broadcast(command);
  }

 private:
  [[nodiscard]] deployment& shard_of(const named_key& lock) const noexcept {
    return all_.at(places_.shard_of(lock.name));
  }

  const rendezvous places_;
  std::vector<std::unique_ptr<shard_listener>> listeners_;
  server_group all_{"shard"};
};

}  // namespace

std::unique_ptr<deployment> make_sharded(const std::vector<single_url>& shards, net::reactor& loop,
                                         const settings& terms, std::string_view client_id,
                                         listener& events) {
  return std::make_unique<sharded>(shards, loop, terms, client_id, events);
}

}  // namespace mortise::deployment
