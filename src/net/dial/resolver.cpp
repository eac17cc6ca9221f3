#include "net/dial/resolver.hpp"

#include <netdb.h>

#include <cerrno>
#include <cstring>

#include "base/text/decimal.hpp"

namespace mortise::net {

namespace {

class known_address final : public resolver {
 public:
  explicit known_address(const address& where) : where_(where) {}
  [[nodiscard]] bool is_immediate() const noexcept override { return true; }
  resolution resolve(time_ns) override { return {{}, {where_}}; }
  [[nodiscard]] std::string text() const override { return where_.text(); }

 private:
  address where_;
};

class unusable_path final : public resolver {
 public:
  explicit unusable_path(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] bool is_immediate() const noexcept override { return true; }
  resolution resolve(time_ns) override {
    return {outcome::of(status::invalid_argument, "unix://", path_,
                        ": a unix socket's path has 1 to 107 bytes, this one has ",
                        decimal(path_.size()), "; give a shorter path"),
            {}};
  }
  [[nodiscard]] std::string text() const override { return "unix://" + path_; }

 private:
  std::string path_;
};

class host_name final : public resolver {
 public:
  host_name(std::string host, int port) : host_(std::move(host)), port_(port) {}
  [[nodiscard]] bool is_immediate() const noexcept override { return false; }
  [[nodiscard]] std::string text() const override { return host_ + ":" + std::to_string(port_); }

  resolution resolve(time_ns) override {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* first = nullptr;
    const int error = ::getaddrinfo(host_.c_str(), std::to_string(port_).c_str(), &hints, &first);
    if (error != 0) return {failure(error, errno), {}};
    const std::unique_ptr<addrinfo, free_list> list(first);
    resolution found;
    for (const addrinfo* item = first; item != nullptr; item = item->ai_next) {
      found.addresses.push_back(address::from_raw(item->ai_addr, item->ai_addrlen));
    }
    return found;
  }

 private:
  struct free_list {
    void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
  };
  [[nodiscard]] outcome failure(int error, int system_error) const {
    const char* reason = error == EAI_SYSTEM ? std::strerror(system_error) : ::gai_strerror(error);
    // Even for an unknown name it may only be too early.
    return outcome::of(status::unreachable, "host name \"", host_,
                       "\" cannot be resolved: ", reason,
                       "; correct the name in the URL or the system's name service");
  }

  std::string host_;
  int port_;
};

class mapped_address final : public resolver {
 public:
  mapped_address(std::string name, std::shared_ptr<resolver> reached_at)
      : name_(std::move(name)), reached_at_(std::move(reached_at)) {}
  [[nodiscard]] bool is_immediate() const noexcept override { return reached_at_->is_immediate(); }
  [[nodiscard]] std::string text() const override { return name_; }

  resolution resolve(time_ns deadline) override {
    auto found = reached_at_->resolve(deadline);
    found.hint = "; address_map gives " + reached_at_->text() + " for " + name_;
    return found;
  }

 private:
  const std::string name_;
  const std::shared_ptr<resolver> reached_at_;
};

}  // namespace

std::shared_ptr<resolver> resolver_for_server(const std::string& host, int port,
                                              const address_map& map) {
  auto own = resolver_for_host(host, port);
  const auto* const other = map.find(host, port);
  if (other == nullptr) return own;
  return std::make_shared<mapped_address>(own->text(),
                                          resolver_for_host(other->first, other->second));
}

std::shared_ptr<resolver> resolver_for_host(std::string host, int port) {
  address where;
  if (address::from_literal(host, port, where)) return std::make_shared<known_address>(where);
  return std::make_shared<host_name>(std::move(host), port);
}

std::shared_ptr<resolver> resolver_for_path(std::string path) {
  address where;
  if (address::from_path(path, where)) return std::make_shared<known_address>(where);
  return std::make_shared<unusable_path>(std::move(path));
}

}  // namespace mortise::net
