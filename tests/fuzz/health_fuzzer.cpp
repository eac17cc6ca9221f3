// Any replies to the commands of a health check. The result has one finding for each rule,
// printable ASCII values, and a well-formed JSON text (hazard 31).
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text/utf8.hpp"
#include "protocol/health/health.hpp"
#include "protocol/health/server_probe.hpp"
#include "redis/resp/resp.hpp"

namespace {

using namespace mortise;

void require(bool condition) {
  if (!condition) std::abort();
}

// Reads JSON of what health checks are made of: objects, arrays and texts.
class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {}
  void read_all() {
    read_value();
    require(text_.empty());
  }

 private:
  bool skip(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void read_value() {
    if (skip('{')) {
      do {
        read_text();
        require(skip(':'));
        read_value();
      } while (skip(','));
      return require(skip('}'));
    }
    if (!skip('[')) return read_text();
    if (skip(']')) return;
    do read_value();
    while (skip(','));
    require(skip(']'));
  }
  void read_text() {
    require(skip('"'));
    while (!skip('"')) {
      require(!text_.empty() && static_cast<unsigned char>(text_.front()) >= 0x20);
      if (skip('\\')) {
        if (skip('"') || skip('\\')) continue;
        require(skip('u') && text_.size() >= 4);
        require(text_.substr(0, 4).find_first_not_of("0123456789abcdef") == std::string_view::npos);
        text_.remove_prefix(4);
        continue;
      }
      const auto size = utf8_size(text_);
      require(size > 0);
      text_.remove_prefix(size);
    }
  }

  std::string_view text_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view stream(reinterpret_cast<const char*>(data), size);
  constexpr time_ns start_ns = 1'000 * ns_per_s;
  protocol::server_probe probe(0, {.lifted_ns = start_ns - ns_per_s});
  while (!probe.is_over()) {
    std::string bytes;
    int left = probe.write_round(bytes, start_ns);
    require(left > 0);
    // Missing replies at the end are null.
    for (; left > 0; --left) {
      redis::parser parser;
      const bool is_read = parser.parse(stream) == redis::parse_result::complete;
      probe.take(parser.reply(), start_ns + 5 * ns_per_ms, 1'795'329'365'000'000);
      if (is_read) stream.remove_prefix(parser.consumed());
    }
  }
  protocol::checking_client client;
  client.lease_ms = 30'000;
  client.drift_ppm = 100'000;
  if (size % 2 == 1) client.earlier = {1'795'329'365'000'000, start_ns - 60 * ns_per_s};
  protocol::health found;
  protocol::judge(probe.facts(), client, std::string(stream.substr(0, 100)), found);
  require(found.findings.size() == protocol::finding_rules().size());
  for (const auto& item : found.findings) {
    for (const char c : item.value) require(c >= ' ' && c <= '~');
    require(item.value.size() < 2000);
    require((item.severity == protocol::finding_severity::ok) == (*item.remedy == '\0'));
  }
  reader(found.json()).read_all();
  return 0;
}
