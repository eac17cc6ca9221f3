// A host name that a test can lead elsewhere, for the system's own resolver: a line in an
// /etc/hosts of this process. It is in a mount namespace of the thread that makes it, and of those
// that this one starts from then on; as root, or as anybody where the kernel allows user
// namespaces. In a container that allows neither, root's own /etc/hosts has the line while the name
// lives.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace mortise::testing {

class changing_name {
 public:
  // Leads nowhere yet. Throws where none of these ways is open.
  changing_name();
  ~changing_name();
  changing_name(const changing_name&) = delete;
  changing_name& operator=(const changing_name&) = delete;

  // From now on to these addresses, in this order.
  void lead_to(std::initializer_list<std::string_view> addresses);
  [[nodiscard]] const std::string& text() const { return name_; }

 private:
  void write(const std::string& lines);

  const std::string name_;
  std::string before_;  // what else is in the file
};

}  // namespace mortise::testing
