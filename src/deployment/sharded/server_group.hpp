// Several deployments that run the same operation at the same time with one deadline: open, close,
// health checks and commands. An error names its member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deployment/api/deployment.hpp"

namespace mortise::deployment {

// Several broadcasts as one.
class group_broadcast final : public broadcast {
 public:
  explicit group_broadcast(std::vector<std::unique_ptr<broadcast>> parts)
      : parts_(std::move(parts)) {}
  void send() noexcept override {
    for (const auto& part : parts_) part->send();
  }

 private:
  const std::vector<std::unique_ptr<broadcast>> parts_;
};

class server_group {
 public:
  static constexpr std::size_t all = SIZE_MAX;

  // `noun` is what messages call a member. An operation succeeds if `needed` members succeed.
  explicit server_group(const char* noun, std::size_t needed = all)
      : noun_(noun), needed_(needed) {}

  void add(std::string name, std::unique_ptr<deployment> servers) {
    members_.push_back({std::move(name), std::move(servers)});
  }
  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
  [[nodiscard]] deployment& at(std::size_t index) const noexcept {
    return *members_[index].servers;
  }

  // An error lists the problem of each member that failed.
  outcome ask(const protocol::command& command, time_ns deadline);
  // These continue without a member that does not reply.
  outcome ask_present(const protocol::command& command, time_ns deadline,
                      protocol::missing_servers& missing);
  outcome converse(const protocol::dialogue_maker& begin, time_ns deadline,
                   protocol::missing_servers& missing);
  outcome check_health(protocol::health& target, time_ns deadline);
  // These need all members. No member stays open when one did not open.
  outcome open(time_ns deadline);
  outcome begin();
  outcome set_credentials(const redis::login& offered, time_ns deadline);
  void close(time_ns linger_ns) noexcept;
  // The findings of all checked members; nullptr if there are none.
  [[nodiscard]] std::shared_ptr<const protocol::health> last_health() const;
  void add_statistics(statistics::snapshot& target) const;
  std::unique_ptr<broadcast> new_broadcast(const protocol::command& command);

  // Adds the name of the member to an error.
  [[nodiscard]] outcome named(std::size_t index, outcome result) const noexcept;

 private:
  struct member {
    std::string name;
    std::unique_ptr<deployment> servers;
  };
  using step = std::function<outcome(deployment&, std::size_t)>;
  outcome each(std::size_t needed, const step& call);
  outcome each_present(protocol::missing_servers& missing, const step& call);
  std::vector<outcome> results_of(const step& call);
  outcome total_of(std::vector<outcome> results) const;

  const char* const noun_;
  const std::size_t needed_;
  std::vector<member> members_;
};

}  // namespace mortise::deployment
