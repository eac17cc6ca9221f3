/** A health check: whether a server's settings, rights and clock are safe for locks. */
#ifndef MORTISE_HEALTH_HPP
#define MORTISE_HEALTH_HPP

#include <memory>
#include <vector>

#include "error.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * One finding at one server. docs/health_check.md lists the findings. The strings are valid as long
 * as the health check.
 */
struct finding {
  /** The name, such as "maxmemory_policy". Later versions keep it. */
  std::string_view name;
  /** The severity. */
  mortise::severity severity;
  /** The server's address, without user and password. */
  std::string_view server;
  /** The value at the server, in printable ASCII. */
  std::string_view value;
  /** What the finding can lead to, and the remedy. Empty if nothing is wrong. */
  std::string_view consequence, remedy;
};

/** A health check of the servers. Move-only. It never changes. Any thread. */
class health {
 public:
  /** Takes ownership of a health check of C. */
  explicit health(mortise_health *raw) noexcept : raw_(raw) {}

  /** The worst severity of all findings, or severity::unknown without findings. */
  severity worst() const noexcept {
    return static_cast<severity>(mortise_health_worst(raw_.get()));
  }
  /** All findings. Every server has the same ones. */
  std::vector<finding> findings() const {
    const mortise_health *raw = raw_.get();
    std::vector<finding> found;
    for (std::int64_t i = 0; i < mortise_health_count(raw); ++i) {
      found.push_back({mortise_health_name(raw, i),
                       static_cast<severity>(mortise_health_severity(raw, i)),
                       mortise_health_server(raw, i), mortise_health_value(raw, i),
                       mortise_health_consequence(raw, i), mortise_health_remedy(raw, i)});
    }
    return found;
  }
  /** The whole health check as one JSON text, as `mortise_health_json`. */
  std::string_view json() const noexcept { return mortise_health_json(raw_.get()); }

 private:
  struct deleter {
    void operator()(mortise_health *raw) const noexcept { mortise_health_free(raw); }
  };
  std::unique_ptr<mortise_health, deleter> raw_;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_HEALTH_HPP
