// The machine's processes, as in /proc.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>

namespace mortise::cli::exec {

// Descendants of this process. The search allocates no memory and uses descriptors that were
// reserved at the start. So limits of the process or the machine cannot make it fail. Each process
// of `mortise exec` has its own table.
class process_table {
 public:
  // Throws a failure if /proc does not show this process. Then a search could find no descendants.
  process_table();
  ~process_table();
  process_table(const process_table&) = delete;
  process_table& operator=(const process_table&) = delete;

  struct listing {
    bool is_whole = true;     // false: a descendant may be missing
    bool has_spared = false;  // a descendant exists that may continue
    bool has_others = false;
  };
  // Lists the descendants and sends `signal` to them; 0 sends nothing. Excludes `spared`, the
  // supervisor of `local:` and their descendants. A dead descendant counts until its parent waits
  // for it. No change of process group, session or descriptors hides a descendant, while this
  // process adopts orphans (PR_SET_CHILD_SUBREAPER).
  listing signal_descendants(pid_t spared, int signal);

 private:
  enum class answer { yes, no, unknown };

  void reserve();
  void use_reserve();
  answer read_parent(pid_t process, pid_t& parent) const;
  template <typename predicate>
  answer has_in_line(pid_t process, predicate is_it) const;
  template <typename predicate>
  std::optional<answer> look_in_line(pid_t process, predicate is_it) const;
  bool is_supervisor(pid_t process) const;
  void visit(pid_t process, pid_t spared, int signal, listing& found) const;
  void send(pid_t process, pid_t parent, int signal) const;

  int folder_ = -1;
  std::array<int, 4> reserved_{-1, -1, -1, -1};
};

}  // namespace mortise::cli::exec
