// The addresses at which this client reaches servers that announce others, as behind NAT:
// "10.0.0.5:6379>localhost:7001,[fd00::5]:6379>localhost:7002".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace mortise {

class address_map {
 public:
  // A host, an IPv6 address without its brackets, and a port.
  using place = std::pair<std::string, int>;

  // The error in the text of the option; "" for none.
  static std::string fault(std::string_view text);
  // Of a text without an error, which may be empty.
  explicit address_map(std::string_view text);

  // The address to dial; nullptr for the announced one.
  [[nodiscard]] const place* find(std::string_view host, int port) const;

 private:
  address_map() = default;
  std::string add(std::string_view pair);

  std::map<place, place> reached_at_;
};

}  // namespace mortise
