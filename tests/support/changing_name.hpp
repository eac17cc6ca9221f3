// A host name that a test can change, for the system's own resolver: a line in /etc/hosts. The file
// is in a mount namespace of the thread that makes the first name, and of the threads that this
// thread starts from then on. This works as root, or as any user where the kernel allows user
// namespaces. Otherwise, as in a container, root's own /etc/hosts has the line while the name
// lives. Tests that run at once change only their own lines (hosts_file.hpp).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace mortise::testing {

class changing_name {
 public:
  // Why no name can be led anywhere on this machine. Empty where one can.
  static const std::string& obstacle();

  // Leads nowhere yet.
  changing_name();
  ~changing_name();
  changing_name(const changing_name&) = delete;
  changing_name& operator=(const changing_name&) = delete;

  // From now on to these addresses, in this order. Throws where there is an obstacle.
  void lead_to(std::initializer_list<std::string_view> addresses);
  [[nodiscard]] const std::string& text() const { return name_; }

 private:
  const std::string name_;
};

}  // namespace mortise::testing
