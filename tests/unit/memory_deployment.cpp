#include "unit/memory_deployment.hpp"

#include <algorithm>
#include <utility>

#include "protocol/native/owner_token.hpp"
#include "redis/resp/resp.hpp"
#include "support/quiet_deployment.hpp"

namespace mortise::testing {

// What is to be told comes on the reactor's thread, never from inside of a question.
class memory_deployment final : public quiet_deployment, private net::task {
 public:
  memory_deployment(memory_servers& servers, net::reactor& loop, std::string client_id,
                    mortise::deployment::listener& hears)
      : servers_(servers), loop_(loop), client_id_(std::move(client_id)), hears_(hears) {}
  ~memory_deployment() override { close(0); }

  outcome begin() override {
    const std::lock_guard guard(servers_.mutex_);
    servers_.clients_[client_id_] = this;
    return {};
  }
  void close(time_ns /*linger_ns*/) noexcept override {
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
    return servers_.is_away() ? outcome::of(status::unreachable, "the servers are away")
                              : outcome();
  }
  outcome ask(const mortise::deployment::named_key& /*lock*/, const protocol::command& asked,
              time_ns /*deadline*/) override {
    if (servers_.is_away()) return problem({});
    const auto reply = servers_.take_command(asked);
    redis::parser parser;
    const bool is_read = parser.parse(reply) == redis::parse_result::complete;
    if (is_read && asked.read) asked.read(parser.reply());
    return is_read ? outcome() : outcome::of(status::unknown, "the script has no answer");
  }
  outcome ask_all(const protocol::command& asked, time_ns deadline) override {
    return ask({}, asked, deadline);
  }
  outcome converse(const protocol::dialogue_maker& begin, time_ns deadline,
                   protocol::missing_servers& /*missing*/) override {
    return mortise::deployment::hold_dialogue(
        begin, deadline, [&](const auto& said) { return ask_all(said, deadline); });
  }
  outcome check_health(protocol::health& into, time_ns /*deadline*/) override {
    if (servers_.is_away()) return problem({});
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
      const protocol::command& said) override {
    return std::make_unique<memory_broadcast>(servers_, said);
  }

  void tell(std::function<void()> what) {
    {
      const std::lock_guard guard(mutex_);
      to_tell_.push_back(std::move(what));
    }
    loop_.post(*this);
  }
  void tell_up(const std::string& name) {
    struct one_name final : mortise::deployment::name_set {
      explicit one_name(std::string name) : own(std::move(name)) {}
      [[nodiscard]] bool has(const mortise::deployment::named_key& lock) const noexcept override {
        return lock.name == own;
      }
      const std::string own;
    };
    tell([this, name] { hears_.on_up(one_name(name), boot_now()); });
  }
  void send_message(const std::string& text) {
    tell([this, text] { hears_.on_message(text, boot_now()); });
  }

 private:
  class memory_request final : public mortise::deployment::lock_request {
   public:
    memory_request(memory_deployment& of, mortise::deployment::lock_requester& who)
        : of_(of), who_(who) {}
    status send(const lock::step_request& asked, const protocol::table& /*rules*/,
                const protocol::key_set& keys, const lock::operation* /*by*/) noexcept override {
      if (of_.servers_.is_away()) return status::unreachable;
      const auto said = of_.servers_.answer(asked, keys.front());
      of_.tell([this, said] { who_.on_result(*this, said, boot_now()); });
      return status::ok;
    }

   private:
    memory_deployment& of_;
    mortise::deployment::lock_requester& who_;
  };

  class memory_broadcast final : public mortise::deployment::broadcast {
   public:
    memory_broadcast(memory_servers& servers, protocol::command said)
        : servers_(servers), said_(std::move(said)) {}
    void send() noexcept override { servers_.take_command(said_); }

   private:
    memory_servers& servers_;
    const protocol::command said_;
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
  mortise::deployment::listener& hears_;
  std::shared_ptr<const protocol::health> last_health_;
  std::mutex mutex_;
  std::deque<std::function<void()>> to_tell_;
};

deployment::maker memory_servers::maker() {
  return [this](net::reactor& loop, const settings& /*terms*/, std::string_view client_id,
                deployment::listener& hears) {
    return std::make_unique<memory_deployment>(*this, loop, std::string(client_id), hears);
  };
}

lock::step_result memory_servers::answer(const lock::step_request& asked, const std::string& key) {
  const std::lock_guard guard(mutex_);
  steps_.push_back(asked.what);
  auto& lock = locks_[key];
  lock::step_result said;
  said.server_us = last_token_;
  switch (asked.what) {
    case lock::step::try_take:
    case lock::step::acquire:
    case lock::step::reacquire:
    case lock::step::retake:
      if (lock.owner.empty() || lock.owner == asked.token) return grant(lock, asked.token);
      said.what = lock::answer::not_free;
      said.ttl_ms = 30'000;
      if (asked.what == lock::step::acquire || asked.what == lock::step::reacquire) {
        said.what = lock::answer::queued;
        said.place = static_cast<std::int64_t>(lock.waiters.size());
        lock.waiters.emplace_back(asked.token);
      }
      return said;
    case lock::step::renew:
    case lock::step::raise:
      said.what = lock.owner == asked.token ? lock::answer::renewed : lock::answer::not_owner;
      return said;
    case lock::step::release_alone:
    case lock::step::release:
    case lock::step::cancel:
      return release(lock, asked.token);
  }
  return said;
}

lock::step_result memory_servers::grant(mutex_state& to, std::string_view token) {
  to.owner = token;
  lock::step_result said;
  said.what = lock::answer::granted;
  said.last_token = ++last_token_;
  said.token_count = 1;
  said.server_us = last_token_;
  said.others_wait = !to.waiters.empty();
  return said;
}

lock::step_result memory_servers::release(mutex_state& from, std::string_view token) {
  lock::step_result said;
  if (from.owner != token) {
    const auto gone = std::erase(from.waiters, token);
    said.what = gone > 0 ? lock::answer::cancelled : lock::answer::not_owner;
    return said;
  }
  from.owner.clear();
  said.what = lock::answer::released;
  if (from.waiters.empty()) return said;
  said.what = lock::answer::handed_over;
  const auto next = from.waiters.front();
  from.waiters.pop_front();
  const auto told = grant(from, next);
  const auto client = clients_.find(std::string(protocol::split_owner_token(next).client));
  if (client != clients_.end()) {
    client->second->send_message("G " + std::to_string(told.last_token) + " " +
                                 std::to_string(told.server_us) +
                                 (told.others_wait ? " 1 " : " 0 ") + next);
  }
  return said;
}

std::string memory_servers::take_command(const protocol::command& said) {
  std::string bytes;
  said.write(bytes, false);
  redis::parser parser;
  static_cast<void>(parser.parse(bytes));
  const auto& words = parser.reply();
  std::string line(words.at(0).text());
  for (std::size_t i = 1; i < words.size(); ++i) line.append(" ").append(words.at(i).text());
  const std::lock_guard guard(mutex_);
  commands_.push_back(line);
  return replies_[std::string(words.at(0).text())];
}

std::vector<lock::step> memory_servers::asked_steps() {
  const std::lock_guard guard(mutex_);
  return steps_;
}

std::int64_t memory_servers::noted_token(const std::string& name) {
  const std::lock_guard guard(mutex_);
  return noted_[name];
}

std::vector<std::string> memory_servers::said_commands() {
  const std::lock_guard guard(mutex_);
  return commands_;
}

void memory_servers::come_up(const std::string& name) {
  const std::lock_guard guard(mutex_);
  for (const auto& [id, client] : clients_) client->tell_up(name);
}

void memory_servers::reply(std::string word, std::string resp) {
  const std::lock_guard guard(mutex_);
  replies_[std::move(word)] = std::move(resp);
}

}  // namespace mortise::testing
