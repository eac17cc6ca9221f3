// The last connected address of a server, for a second connection to the same server. Its name may
// lead to a different server the next time.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "net/dial/resolver.hpp"
#include "redis/connection_config.hpp"

namespace mortise::deployment {

class followed_server final : public net::resolver {
 public:
  explicit followed_server(std::string name);

  void follow(const redis::session_facts& server);
  // The server has this name from now on.
  void rename(std::shared_ptr<const std::string> name) noexcept;
  [[nodiscard]] net::address address() const;
  [[nodiscard]] std::shared_ptr<const std::string> name() const noexcept;

  [[nodiscard]] bool is_immediate() const noexcept override { return true; }
  net::resolution resolve(time_ns deadline) override;
  [[nodiscard]] std::string text() const override { return *name(); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const std::string> name_;
  net::address at_;
  std::string host_;
};

}  // namespace mortise::deployment
