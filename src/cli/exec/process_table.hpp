// The machine's processes, as /proc lists them.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>

namespace mortise::cli::exec {

// Descendants of this process, read without allocating memory and with descriptors that were
// reserved at the start, so a list fails neither at a limit of the process nor of the machine.
// Each process of `mortise exec` has its own.
class process_table {
 public:
  // Throws a failure if /proc does not show this process: then no descendant could be found later.
  process_table();
  ~process_table();
  process_table(const process_table&) = delete;
  process_table& operator=(const process_table&) = delete;

  struct listing {
    bool is_whole = true;     // otherwise a descendant may have been missed
    bool has_spared = false;  // there is a descendant that may continue
    bool has_others = false;
  };
  // Lists the descendants, and sends `signal` to all but `spared`, the supervisor of `local:` and
  // their descendants; 0 sends nothing. A descendant that has ended counts until somebody waits for
  // it. A descendant cannot leave the list, whatever its process group, session or descriptors, as
  // long as this process adopts orphans (PR_SET_CHILD_SUBREAPER).
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
