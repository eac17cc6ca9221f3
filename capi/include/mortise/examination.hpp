/** Whether a server's settings, rights and clock are safe for locks. */
#ifndef MORTISE_EXAMINATION_HPP
#define MORTISE_EXAMINATION_HPP

#include <memory>
#include <vector>

#include "error.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * What was found of one matter at one server; see docs/examination.md. The texts live as long
 * as the examination.
 * @since 1.2
 */
struct finding {
  /** Such as "maxmemory_policy"; stays the same in later versions. */
  std::string_view name;
  /** What was found. */
  mortise::verdict verdict;
  /** The server's address, without user and password. */
  std::string_view server;
  /** The value that was seen, in printable ASCII. */
  std::string_view value;
  /** What could happen, and what to do about it; empty where all is well. */
  std::string_view consequence, mend;
};

/** What was found when the servers were examined. Move-only; it never changes: any thread. */
class examination {
 public:
  /** Takes one of C over. @since 1.2 */
  explicit examination(mortise_examination *raw) noexcept : raw_(raw) {}

  /** The worst of all verdicts; verdict::unknown without findings. @since 1.2 */
  verdict worst() const noexcept {
    return static_cast<verdict>(mortise_examination_worst(raw_.get()));
  }
  /** All of them, the same for each server. @since 1.2 */
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
  /** All of it as one JSON text, as `mortise_examination_json`. @since 1.2 */
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
