#include "cli/exec/run.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "cli/exec/process/launcher.hpp"
#include "cli/exec/process/lock_holder.hpp"
#include "cli/exec/process/stderr_writer.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli::exec {
namespace {

failure of_system(const char* what) {
  return {exit_system, std::string(what) + ": " + std::strerror(errno)};
}

shared_deadline& new_shared_deadline() {
  void* const memory = ::mmap(nullptr, sizeof(shared_deadline), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw of_system("cannot map memory");
  return *new (memory) shared_deadline;
}

// `holder` is set after the command has ended.
message run_lock_holder(const plan& request, shared_deadline& shared, channel& to_launcher,
                        const sigset_t& mask, lock_holder*& holder) {
  stderr_writer messages;
  std::unique_ptr<lock_holder> one;
  try {
    one = std::make_unique<lock_holder>(request, shared, to_launcher, mask, messages);
    const message last = one->run();
    // Its destructor would release the lock that --at-least keeps.
    holder = one.release();
    return last;
  } catch (const std::exception& problem) {
    // The launcher ends the command. The lock stays held until its lease ends (hazard 1).
    if (one && one->has_started()) ::_exit(exit_software);
    messages.complain({problem.what()});
    const auto* const known = dynamic_cast<const failure*>(&problem);
    return {word::ended, known == nullptr ? int{exit_software} : known->code()};
  }
}

[[noreturn]] void be_lock_holder(const plan& request, shared_deadline& shared, int socket,
                                 const sigset_t& mask) {
  channel to_launcher(socket);
  lock_holder* holder = nullptr;
  message last;
  try {
    last = run_lock_holder(request, shared, to_launcher, mask, holder);
  } catch (const failure& problem) {
    complain("exec", problem.what());
    last = {word::ended, problem.code()};
  }
  to_launcher.tell(last.what, last.number);
  try {
    if (holder == nullptr) ::_exit(0);
    holder->continue_launcher();
    holder->keep_rest();
  } catch (const std::exception&) {
    // No caller is left. The lock ends with its lease.
  }
  ::_exit(0);
}

// Runs before any thread exists: the library starts one, and only in the lock holder.
int run_plan(const plan& request) {
  auto& shared = new_shared_deadline();
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    throw of_system("cannot create sockets");
  }
  // An ignored SIGCHLD would hide the command's end. The command also starts with the default
  // action.
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t all;
  sigset_t mask;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &mask);
  const pid_t lock_holder = ::fork();
  if (lock_holder < 0) throw of_system("cannot fork");
  if (lock_holder == 0) {
    ::close(sockets[0]);
    be_lock_holder(request, shared, sockets[1], mask);
  }
  ::close(sockets[1]);
  channel to_lock_holder(sockets[0]);
  return launcher(lock_holder, shared, to_lock_holder).run();
}

}  // namespace

int run(int argc, const char* const* argv) {
  plan request;
  return read_plan(argc, argv, request) ? run_plan(request) : int{exit_ok};
}

}  // namespace mortise::cli::exec
