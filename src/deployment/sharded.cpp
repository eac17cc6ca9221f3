#include "deployment/sharded.hpp"

#include <utility>

#include "deployment/rendezvous.hpp"
#include "deployment/server_group.hpp"
#include "net/caller.hpp"

namespace mortise::deployment {

namespace {

// Hears one shard, which speaks for its own names only.
class shard_listener final : public listener {
 public:
  shard_listener(const rendezvous& places, std::size_t index, listener& hears)
      : places_(places), index_(index), hears_(hears) {}

  void on_up(const name_set& names, time_ns now) noexcept override {
    hears_.on_up(own_names(*this, names), now);
  }
  void on_message(std::string_view text, time_ns now) noexcept override {
    hears_.on_message(text, now);
  }
  void on_said(std::string_view channel) noexcept override { hears_.on_said(channel); }
  void on_listening(std::string_view channel) noexcept override { hears_.on_listening(channel); }

 private:
  class own_names final : public name_set {
   public:
    own_names(const shard_listener& of, const name_set& names) : of_(of), names_(names) {}
    [[nodiscard]] bool has(std::string_view name) const noexcept override {
      return of_.places_.shard_of(name) == of_.index_ && names_.has(name);
    }

   private:
    const shard_listener& of_;
    const name_set& names_;
  };

  const rendezvous& places_;
  const std::size_t index_;
  listener& hears_;
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
          std::string_view client_id, listener& hears)
      : places_(places_of(shards)) {
    for (const auto& url : shards) {
      listeners_.push_back(std::make_unique<shard_listener>(places_, listeners_.size(), hears));
      all_.add(url.shard, url.make(loop, terms, client_id, *listeners_.back()));
    }
  }

  outcome open(time_ns deadline) override { return all_.open(deadline); }
  outcome begin() override { return all_.begin(); }
  void close(time_ns linger_ns) noexcept override { all_.close(linger_ns); }
  std::unique_ptr<inquiry> new_inquiry(inquirer& asker, std::string_view name) override {
    return shard_of(name).new_inquiry(asker, name);
  }
  bool await(std::string_view name, net::caller& caller, time_ns deadline) noexcept override {
    return shard_of(name).await(name, caller, deadline);
  }
  // A caller can read one connection only, so the I/O thread reads all of them for this one.
  bool await_any(net::caller& caller, time_ns deadline) noexcept override {
    return caller.wait(deadline);
  }
  void expect_messages(std::string_view name, int change) noexcept override {
    shard_of(name).expect_messages(name, change);
  }
  void note_token(std::string_view name, std::int64_t token) noexcept override {
    shard_of(name).note_token(name, token);
  }
  void listen(std::string_view name, std::string_view channel) override {
    shard_of(name).listen(name, channel);
  }
  void unlisten(std::string_view name, std::string_view channel) noexcept override {
    shard_of(name).unlisten(name, channel);
  }
  [[nodiscard]] outcome problem(std::string_view name) const override {
    const auto index = places_.shard_of(name);
    return all_.named(index, all_.at(index).problem(name));
  }
  outcome ask(std::string_view name, const protocol::command& asked, time_ns deadline) override {
    const auto index = places_.shard_of(name);
    return all_.named(index, all_.at(index).ask(name, asked, deadline));
  }
  outcome ask_all(const protocol::command& asked, time_ns deadline) override {
    return all_.ask(asked, deadline);
  }
  outcome examine(protocol::examination& into, time_ns deadline) override {
    return all_.examine(into, deadline);
  }
  [[nodiscard]] std::shared_ptr<const protocol::examination> last_examination() const override {
    return all_.last_examination();
  }
  outcome set_credentials(redis::login offered, time_ns deadline) override {
    return all_.set_credentials(offered, deadline);
  }
  std::unique_ptr<announcement> new_announcement(const protocol::command& said) override {
    return all_.new_announcement(said);
  }

 private:
  [[nodiscard]] deployment& shard_of(std::string_view name) const noexcept {
    return all_.at(places_.shard_of(name));
  }

  const rendezvous places_;
  std::vector<std::unique_ptr<shard_listener>> listeners_;
  server_group all_{"shard"};
};

}  // namespace

std::unique_ptr<deployment> make_sharded(const std::vector<single_url>& shards, net::reactor& loop,
                                         const settings& terms, std::string_view client_id,
                                         listener& hears) {
  return std::make_unique<sharded>(shards, loop, terms, client_id, hears);
}

}  // namespace mortise::deployment
