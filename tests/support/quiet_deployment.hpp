// What a deployment of a test does that the test is not about: nothing.
#pragma once

#include <memory>
#include <string_view>

#include "deployment/api/deployment.hpp"
#include "net/threads/caller.hpp"

namespace mortise::testing {

class quiet_deployment : public deployment::deployment {
 public:
  outcome open(time_ns /*deadline*/) override { return begin(); }
  outcome begin() override { return {}; }
  void close(time_ns /*linger_ns*/) noexcept override {}
  bool await(const mortise::deployment::named_key& /*lock*/, net::caller& who,
             time_ns deadline) noexcept override {
    return who.wait(deadline);
  }
  bool await_any(net::caller& who, time_ns deadline) noexcept override {
    return who.wait(deadline);
  }
  void expect_messages(const mortise::deployment::named_key& /*lock*/,
                       int /*change*/) noexcept override {}
  void note_token(const mortise::deployment::named_key& /*lock*/,
                  std::int64_t /*token*/) noexcept override {}
  void listen(const mortise::deployment::named_key& /*lock*/,
              std::string_view /*channel*/) override {}
  void unlisten(const mortise::deployment::named_key& /*lock*/,
                std::string_view /*channel*/) noexcept override {}
  [[nodiscard]] outcome problem(const mortise::deployment::named_key& /*lock*/) const override {
    return {};
  }
  outcome ask(const mortise::deployment::named_key& /*lock*/, const protocol::command& /*request*/,
              time_ns /*deadline*/) override {
    return {};
  }
  outcome ask_all(const protocol::command& /*request*/, time_ns /*deadline*/) override {
    return {};
  }
  outcome converse(const protocol::dialogue_maker& /*begin*/, time_ns /*deadline*/,
                   protocol::missing_servers& /*missing*/) override {
    return {};
  }
  outcome check_health(protocol::health& /*into*/, time_ns /*deadline*/) override { return {}; }
  [[nodiscard]] std::shared_ptr<const protocol::health> last_health() const override {
    return nullptr;
  }
  outcome set_credentials(redis::login /*offered*/, time_ns /*deadline*/) override { return {}; }
  std::unique_ptr<mortise::deployment::broadcast> new_broadcast(
      const protocol::command& /*command*/) override {
    return nullptr;
  }
};

}  // namespace mortise::testing
