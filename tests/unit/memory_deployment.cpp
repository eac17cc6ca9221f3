#include "unit/memory_deployment.hpp"

#include <algorithm>
#include <utility>

#include "base/atomic_max.hpp"
#include "protocol/native/owner_token.hpp"
#include "redis/resp/resp.hpp"
#include "support/quiet_deployment.hpp"

namespace mortise::testing {

// Results and events are posted to the reactor's thread. A request never returns them directly.
class memory_deployment final : public quiet_deployment, private net::task {
 public:
  memory_deployment(memory_servers& servers, net::reactor& loop, std::string client_id,
                    mortise::deployment::listener& listener)
      : servers_(servers), loop_(loop), client_id_(std::move(client_id)), listener_(listener) {}
  ~memory_deployment() override { close(0); }

  outcome begin() override {
    const std::lock_guard guard(servers_.mutex_);
    servers_.clients_[client_id_] = this;
    return {};
  }
  void close(time_ns linger_ns) noexcept override {
    raise_to(servers_.longest_linger_, linger_ns);
    {
      const std::lock_guard guard(servers_.mutex_);
      servers_.clients_.erase(client_id_);
    }
    loop_.cancel(*this);
    run();
  }
  std::unique_ptr<mortise::deployment::lock_request> new_request(
      mortise::deployment::lock_requester& who,
      const mortise::deployment::named_key& /*lock*/) override {
    return std::make_unique<memory_request>(*this, who);
  }
  [[nodiscard]] outcome problem(const mortise::deployment::named_key& /*lock*/) const override {
    return servers_.is_unreachable() ? outcome::of(status::unreachable, "the servers are down")
                                     : outcome();
  }
  outcome ask(const mortise::deployment::named_key& /*lock*/, const protocol::command& command,
              time_ns /*deadline*/) override {
    if (servers_.is_unreachable()) return problem({});
    const auto reply = servers_.take_command(command);
    redis::parser parser;
    const bool is_read = parser.parse(reply) == redis::parse_result::complete;
    if (is_read && command.read) command.read(parser.reply());
    return is_read ? outcome() : outcome::of(status::unknown, "the script has no answer");
  }
  outcome ask_all(const protocol::command& command, time_ns deadline) override {
    return ask({}, command, deadline);
  }
  outcome converse(const protocol::dialogue_maker& begin, time_ns deadline,
                   protocol::missing_servers& /*missing*/) override {
    return mortise::deployment::hold_dialogue(
        begin, deadline, [&](const auto& command) { return ask_all(command, deadline); });
  }
  outcome check_health(protocol::health& into, time_ns /*deadline*/) override {
    if (servers_.is_unreachable()) return problem({});
    into.findings.push_back(
        {"persistence", protocol::finding_severity::warn, "memory", "none", "", ""});
    last_health_ = std::make_shared<const protocol::health>(into);
    return {};
  }
  [[nodiscard]] std::shared_ptr<const protocol::health> last_health() const override {
    return last_health_;
  }
  outcome set_credentials(redis::login offered, time_ns /*deadline*/) override {
    if (offered.user == "guest") return {};
    return outcome::of(status::refused, offered.user, " is not known");
  }
  void note_token(const mortise::deployment::named_key& lock,
                  std::int64_t token) noexcept override {
    const std::lock_guard guard(servers_.mutex_);
    servers_.noted_[std::string(lock.name)] = token;
  }
  std::unique_ptr<mortise::deployment::broadcast> new_broadcast(
      const protocol::command& command) override {
    return std::make_unique<memory_broadcast>(servers_, command);
  }

  void notify(std::function<void()> what) {
    {
      const std::lock_guard guard(mutex_);
      to_tell_.push_back(std::move(what));
    }
    loop_.post(*this);
  }
  void notify_up(const std::string& name) {
    struct one_name final : mortise::deployment::name_set {
      explicit one_name(std::string name) : own(std::move(name)) {}
      [[nodiscard]] bool has(const mortise::deployment::named_key& lock) const noexcept override {
        return lock.name == own;
      }
      const std::string own;
    };
    notify([this, name] { listener_.on_up(one_name(name), boot_now()); });
  }
  void send_message(const std::string& text) {
    notify([this, text] { listener_.on_message(text, boot_now()); });
  }

 private:
  class memory_request final : public mortise::deployment::lock_request {
   public:
    memory_request(memory_deployment& of, mortise::deployment::lock_requester& who)
        : of_(of), owner_(who) {
      ++of_.servers_.request_count_;
    }
    ~memory_request() override { --of_.servers_.request_count_; }
    status send(const lock::step_request& request, const protocol::table& /*rules*/,
                const protocol::key_set& keys, const lock::operation* /*by*/) noexcept override {
      if (of_.servers_.is_unreachable()) return status::unreachable;
      const auto result = of_.servers_.answer(request, keys.front());
      of_.notify([this, result] { owner_.on_result(*this, result, boot_now()); });
      return status::ok;
    }

   private:
    memory_deployment& of_;
    mortise::deployment::lock_requester& owner_;
  };

  class memory_broadcast final : public mortise::deployment::broadcast {
   public:
    memory_broadcast(memory_servers& servers, protocol::command command)
        : servers_(servers), dialogue_(std::move(command)) {}
    void send() noexcept override { servers_.take_command(dialogue_); }

   private:
    memory_servers& servers_;
    const protocol::command dialogue_;
  };

  void run() noexcept override {
    for (;;) {
      std::function<void()> next;
      {
        const std::lock_guard guard(mutex_);
        if (to_tell_.empty()) return;
        next = std::move(to_tell_.front());
        to_tell_.pop_front();
      }
      next();
    }
  }

  memory_servers& servers_;
  net::reactor& loop_;
  const std::string client_id_;
  mortise::deployment::listener& listener_;
  std::shared_ptr<const protocol::health> last_health_;
  std::mutex mutex_;
  std::deque<std::function<void()>> to_tell_;
};

void memory_servers::hold_results(std::latch& until) {
  const std::lock_guard guard(mutex_);
  for (const auto& client : clients_) client.second->notify([&until] { until.wait(); });
}

deployment::maker memory_servers::maker() {
  return [this](net::reactor& loop, const settings& /*terms*/, std::string_view client_id,
                deployment::listener& listener) {
    return std::make_unique<memory_deployment>(*this, loop, std::string(client_id), listener);
  };
}

lock::step_result memory_servers::answer(const lock::step_request& request,
                                         const std::string& key) {
  const std::lock_guard guard(mutex_);
  steps_.push_back(request.what);
  auto& lock = locks_[key];
  lock::step_result result;
  result.server_us = last_token_;
  switch (request.what) {
    case lock::step::try_take:
    case lock::step::acquire:
    case lock::step::reacquire:
    case lock::step::retake:
      if (lock.owner.empty() || lock.owner == request.token) return grant(lock, request.token);
      result.what = lock::answer::not_free;
      result.ttl_ms = 30'000;
      if (request.what == lock::step::acquire || request.what == lock::step::reacquire) {
        result.what = lock::answer::queued;
        result.place = static_cast<std::int64_t>(lock.waiters.size());
        lock.waiters.push_back(std::string(request.token).append(" ").append(request.secret));
      }
      return result;
    case lock::step::adopt:
    case lock::step::restore:
      if (lock.owner == request.adopted) return grant(lock, request.token);
      result.what = lock::answer::not_owner;
      return result;
    case lock::step::renew:
    case lock::step::raise:
      result.what = lock.owner == request.token ? lock::answer::renewed : lock::answer::not_owner;
      return result;
    case lock::step::release_alone:
    case lock::step::release:
    case lock::step::cancel:
      return release(lock, request.token);
    case lock::step::set_value:
      result.what = lock.owner == request.token ? lock::answer::value_set : lock::answer::not_owner;
      return result;
  }
  return result;
}

lock::step_result memory_servers::grant(mutex_state& to, std::string_view token) {
  to.owner = token;
  lock::step_result result;
  result.what = lock::answer::granted;
  result.last_token = ++last_token_;
  result.token_count = 1;
  result.server_us = last_token_;
  result.others_wait = !to.waiters.empty();
  return result;
}

lock::step_result memory_servers::release(mutex_state& from, std::string_view token) {
  lock::step_result result;
  if (from.owner != token) {
    const auto gone = std::erase_if(from.waiters, [&](const auto& waiter) {
      return protocol::split_owner_token(waiter).token == token;
    });
    result.what = gone > 0 ? lock::answer::cancelled : lock::answer::not_owner;
    return result;
  }
  from.owner.clear();
  result.what = lock::answer::released;
  if (from.waiters.empty()) return result;
  result.what = lock::answer::handed_over;
  const auto next = from.waiters.front();
  from.waiters.pop_front();
  const auto message = grant(from, protocol::split_owner_token(next).token);
  const auto client = clients_.find(std::string(protocol::split_owner_token(next).client));
  if (client != clients_.end()) {
    client->second->send_message("G " + std::to_string(message.last_token) + " " +
                                 std::to_string(message.server_us) +
                                 (message.others_wait ? " 1 " : " 0 ") + next);
  }
  return result;
}

std::string memory_servers::take_command(const protocol::command& command) {
  std::string bytes;
  command.write(bytes, false);
  redis::parser parser;
  static_cast<void>(parser.parse(bytes));
  const auto& words = parser.reply();
  std::string line(words.at(0).text());
  for (std::size_t i = 1; i < words.size(); ++i) line.append(" ").append(words.at(i).text());
  const std::lock_guard guard(mutex_);
  commands_.push_back(line);
  return replies_[std::string(words.at(0).text())];
}

std::vector<lock::step> memory_servers::step_log() {
  const std::lock_guard guard(mutex_);
  return steps_;
}

std::int64_t memory_servers::noted_token(const std::string& name) {
  const std::lock_guard guard(mutex_);
  return noted_[name];
}

std::vector<std::string> memory_servers::command_log() {
  const std::lock_guard guard(mutex_);
  return commands_;
}

void memory_servers::come_up(const std::string& name) {
  const std::lock_guard guard(mutex_);
  for (const auto& [id, client] : clients_) client->notify_up(name);
}

void memory_servers::reply(std::string word, std::string resp) {
  const std::lock_guard guard(mutex_);
  replies_[std::move(word)] = std::move(resp);
}

}  // namespace mortise::testing
