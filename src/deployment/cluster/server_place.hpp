// The address that a server of a cluster announces, as a resolver. Another server may get the place
// later.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/address_map.hpp"
#include "deployment/cluster/routing/topology.hpp"
#include "net/dial/resolver.hpp"

namespace mortise::deployment {

class server_place final : public net::resolver {
 public:
  server_place(cluster::endpoint server, std::shared_ptr<const address_map> map);

  [[nodiscard]] cluster::endpoint at() const;
  // `found` resolves the address.
  void change(cluster::endpoint server, std::shared_ptr<net::resolver> found) noexcept;
  [[nodiscard]] std::shared_ptr<net::resolver> find(const cluster::endpoint& server) const;

  [[nodiscard]] bool is_immediate() const noexcept override;
  net::resolution resolve(time_ns deadline) override;
  [[nodiscard]] std::string text() const override;

 private:
  const std::shared_ptr<const address_map> map_;
  mutable std::mutex mutex_;
  cluster::endpoint at_;
  std::shared_ptr<net::resolver> found_;
};

}  // namespace mortise::deployment
