#include "local/local_resolver.hpp"

#include <string>
#include <utility>

#include "local/local_server.hpp"

namespace mortise::local {

namespace {

class local_resolver final : public net::resolver {
 public:
  explicit local_resolver(local_settings settings) : settings_(std::move(settings)) {}
  [[nodiscard]] bool is_immediate() const noexcept override { return false; }
  [[nodiscard]] std::string text() const override { return "local:"; }

  net::resolution resolve(time_ns deadline) override {
    net::resolution found;
    std::string path;
    found.result = ensure_local_server(settings_, deadline, path);
    net::address where;
    if (found.result.ok() && net::address::from_path(path, where)) {
      found.addresses.push_back(where);
    }
    return found;
  }

 private:
  const local_settings settings_;
};

}  // namespace

std::shared_ptr<net::resolver> resolver_for_local() {
  return std::make_shared<local_resolver>(local_settings::from_environment());
}

}  // namespace mortise::local
