/** A health check: whether a server's settings, rights and clock are safe for locks. */
#ifndef MORTISE_EXAMINATION_HPP
#define MORTISE_EXAMINATION_HPP

#include <memory>
#include <vector>

#include "error.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * One finding at one server. docs/examination.md lists the findings. The strings are valid as long
 * as the health check.
 */
struct finding {
  /** The name, such as "maxmemory_policy". Later versions keep it. */
  std::string_view name;
  /** The severity. */
  mortise::verdict verdict;
  /** The server's address, without user and password. */
  std::string_view server;
  /** The value at the server, in printable ASCII. */
  std::string_view value;
  /** What the finding can lead to, and the remedy. Empty if nothing is wrong. */
  std::string_view consequence, mend;
};

/** A health check of the servers. Move-only. It never changes. Any thread. */
class examination {
 public:
  /** Takes ownership of a health check of C. */
  explicit examination(mortise_examination *raw) noexcept : raw_(raw) {}

  /** The worst severity of all findings, or verdict::unknown without findings. */
  verdict worst() const noexcept {
    return static_cast<verdict>(mortise_examination_worst(raw_.get()));
  }
  /** All findings. Every server has the same ones. */
  std::vector<finding> findings() const {
    const mortise_examination *raw = raw_.get();
    std::vector<finding> found;
    for (std::int64_t i = 0; i < mortise_examination_count(raw); ++i) {
      found.push_back({mortise_examination_name(raw, i),
                       static_cast<verdict>(mortise_examination_verdict(raw, i)),
                       mortise_examination_server(raw, i), mortise_examination_value(raw, i),
                       mortise_examination_consequence(raw, i), mortise_examination_mend(raw, i)});
    }
    return found;
  }
  /** The whole health check as one JSON text, as `mortise_examination_json`. */
  std::string_view json() const noexcept { return mortise_examination_json(raw_.get()); }

 private:
  struct deleter {
    void operator()(mortise_examination *raw) const noexcept { mortise_examination_free(raw); }
  };
  std::unique_ptr<mortise_examination, deleter> raw_;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_EXAMINATION_HPP
