#include "helper/program.hpp"

#include <elf.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "helper/shared_memory.hpp"

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__LP64__)
#define MORTISE_HAS_HELPER 1
#else
#define MORTISE_HAS_HELPER 0
#endif

#if MORTISE_HAS_HELPER

// The section is copied into the image, so its code refers to nothing outside: no constant data, no
// canary, no counters of a sanitizer or a profiler, and no call that the compiler inserts.
// Optimized code may get vectors of constants, or a call of memset(). tests/checks/abi/helper_code
// checks other compilers and flags.
#if defined(__clang__)
#define MORTISE_HELPER_ALONE         \
  disable_sanitizer_instrumentation, \
      no_sanitize("address", "coverage", "memory", "thread", "undefined"), no_stack_protector
#define MORTISE_HELPER_PLAIN optnone
#else
#define MORTISE_HELPER_ALONE \
  no_sanitize("address", "thread", "undefined"), no_stack_protector, optimize("O0")
#define MORTISE_HELPER_PLAIN noclone
#endif
#define MORTISE_HELPER                                                        \
  __attribute__((section("mortise_helper"), noinline, no_instrument_function, \
                 no_profile_instrument_function, MORTISE_HELPER_ALONE, MORTISE_HELPER_PLAIN))
#define MORTISE_HELPER_INLINE                                                                  \
  inline __attribute__((always_inline, no_instrument_function, no_profile_instrument_function, \
                        MORTISE_HELPER_ALONE))
// No initialization of all variables, which may call memset().
#if __has_attribute(uninitialized)
#define MORTISE_HELPER_UNSET __attribute__((uninitialized))
#else
#define MORTISE_HELPER_UNSET
#endif
#if defined(__x86_64__)
// The kernel aligns the stack for a program, not for a called function.
#define MORTISE_HELPER_ENTRY MORTISE_HELPER __attribute__((used, force_align_arg_pointer))
#else
#define MORTISE_HELPER_ENTRY MORTISE_HELPER __attribute__((used))
#endif

// The linker's, for a section whose name is an identifier.
extern "C" {
extern const char mortise_helper_begin[] asm("__start_mortise_helper")
    __attribute__((visibility("hidden")));
extern const char mortise_helper_end[] asm("__stop_mortise_helper")
    __attribute__((visibility("hidden")));
}

namespace mortise::helper {

namespace {

constexpr long patience_s = 1;
// How long the end of the control socket may precede the end of the process: it closes its files
// first. After an exec the process lives on, and no release follows.
constexpr long end_s = 10;

MORTISE_HELPER_INLINE long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0,
                                       long e = 0, long f = 0) {
#if defined(__x86_64__)
  long result = 0;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#else
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc #0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
#endif
}

// The helper's own memory: the descriptors of the connections, plus 1; 0: none.
struct connection_table {
  std::int32_t descriptors[most_connections];
};

template <class Object>
MORTISE_HELPER_INLINE long at(Object* object) {
  return reinterpret_cast<long>(object);
}

MORTISE_HELPER_INLINE bool is_error(long result) { return result < 0 && result > -4096; }

[[noreturn]] MORTISE_HELPER_INLINE void leave() {
  for (;;) system_call(SYS_exit_group, 0);
}

// Whether the descriptor is ready in time. An error or another event is not.
MORTISE_HELPER bool wait_for(long descriptor, long events, long seconds) {
  MORTISE_HELPER_UNSET pollfd seen;
  seen.fd = static_cast<int>(descriptor);
  seen.events = static_cast<short>(events);
  seen.revents = 0;
  MORTISE_HELPER_UNSET timespec limit;
  limit.tv_sec = seconds;
  limit.tv_nsec = 0;
  return system_call(SYS_ppoll, at(&seen), 1, at(&limit), 0, 0) > 0 &&
         (seen.revents & seen.events) != 0;
}

// Reads replies. Returns false at the end of the stream, or after an error.
MORTISE_HELPER bool drain(long descriptor) {
  MORTISE_HELPER_UNSET char unread[512];
  for (;;) {
    const long count =
        system_call(SYS_recvfrom, descriptor, at(unread), sizeof unread, MSG_DONTWAIT, 0, 0);
    if (count == -EAGAIN) return true;
    if (count <= 0) return false;
  }
}

MORTISE_HELPER bool send(long descriptor, const char* bytes, unsigned long size) {
  while (size > 0) {
    const long count = system_call(SYS_sendto, descriptor, at(bytes), static_cast<long>(size),
                                   MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
    if (count > 0) {
      bytes += count;
      size -= static_cast<unsigned long>(count);
    } else if (count != -EAGAIN || !drain(descriptor) ||
               !wait_for(descriptor, POLLOUT, patience_s)) {
      return false;
    }
  }
  return true;
}

// The descriptor of a connection; -1 for none.
MORTISE_HELPER_INLINE long descriptor_of(const connection_table* table, std::int32_t connection) {
  return connection >= 0 && connection < most_connections ? table->descriptors[connection] - 1 : -1;
}

MORTISE_HELPER void drop(connection_table* table, std::int32_t connection) {
  const long descriptor = descriptor_of(table, connection);
  if (descriptor >= 0) table->descriptors[connection] = 0;
  if (descriptor >= 0) system_call(SYS_close, descriptor);
}

// The server ends each connection after it has executed all requests. A close before would reset a
// connection with unread replies, and the server might not read the requests.
MORTISE_HELPER void end_connections(const connection_table* table) {
  for (int i = 0; i < most_connections; ++i) {
    const long descriptor = descriptor_of(table, i);
    if (descriptor >= 0) system_call(SYS_shutdown, descriptor, SHUT_WR);
  }
  for (int i = 0; i < most_connections; ++i) {
    const long descriptor = descriptor_of(table, i);
    if (descriptor < 0) continue;
    while (drain(descriptor) && wait_for(descriptor, POLLIN, patience_s)) {
    }
  }
}

// A server that is new or has restarted may lack the scripts (hazard 27).
MORTISE_HELPER void load_scripts(const shared_memory* memory, connection_table* table) {
  const auto size = __atomic_load_n(&memory->scripts_size, __ATOMIC_ACQUIRE);
  for (int i = 0; i < most_connections && size <= scripts_room; ++i) {
    const long descriptor = descriptor_of(table, i);
    if (descriptor >= 0 && !send(descriptor, memory->scripts, size)) drop(table, i);
  }
}

// The requests compare the owner token, so a late one changes nothing (hazards 6 and 17). A server
// that does not take them leaves its claims to their leases (hazard 15).
MORTISE_HELPER void release_all(const shared_memory* memory, connection_table* table) {
  load_scripts(memory, table);
  const auto count = memory->record_count;
  for (std::uint32_t i = 0; i < count && i < most_records; ++i) {
    const auto& record = memory->records[i];
    const std::int32_t connection = record.connection;
    const auto size = __atomic_load_n(&record.size, __ATOMIC_ACQUIRE);
    const long descriptor = descriptor_of(table, connection);
    if (size == 0 || size > claim_record::room || descriptor < 0) continue;
    if (!send(descriptor, record.request, size)) drop(table, connection);
  }
  end_connections(table);
}

// Takes a message of the client. Returns 0 without one, and -1 at the end of the stream.
MORTISE_HELPER int take_message(connection_table* table) {
  MORTISE_HELPER_UNSET message received;
  MORTISE_HELPER_UNSET iovec part;
  part.iov_base = &received;
  part.iov_len = sizeof received;
  alignas(cmsghdr) MORTISE_HELPER_UNSET char ancillary[CMSG_SPACE(sizeof(int))];
  MORTISE_HELPER_UNSET msghdr envelope;
  envelope.msg_name = nullptr;
  envelope.msg_namelen = 0;
  envelope.msg_iov = &part;
  envelope.msg_iovlen = 1;
  envelope.msg_control = ancillary;
  envelope.msg_controllen = sizeof ancillary;
  envelope.msg_flags = 0;
  const long size =
      system_call(SYS_recvmsg, control_fd, at(&envelope), MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size == -EAGAIN || size == -EINTR) return 0;
  if (size != static_cast<long>(sizeof received)) return -1;
  if (received.what == message::quit) leave();
  drop(table, received.connection);
  if (received.what != message::add || envelope.msg_controllen < CMSG_LEN(sizeof(int))) return 1;
  const int descriptor = *reinterpret_cast<int*>(ancillary + CMSG_LEN(0));
  if (received.connection < 0 || received.connection >= most_connections) {
    system_call(SYS_close, descriptor);
  } else {
    table->descriptors[received.connection] = descriptor + 1;
  }
  return 1;
}

// Only the end of the process counts. A stopped or traced process has not ended, and a forked child
// is another process (hazard 21). A pidfd names no later process with the same number.
MORTISE_HELPER void watch(const shared_memory* memory, connection_table* table) {
  for (;;) {
    MORTISE_HELPER_UNSET pollfd seen[2];
    seen[0].fd = parent_fd;
    seen[0].events = POLLIN;
    seen[1].fd = control_fd;
    seen[1].events = POLLIN;
    seen[0].revents = seen[1].revents = 0;
    const long count = system_call(SYS_ppoll, at(seen), 2, 0, 0, 0);
    if (is_error(count) && count != -EINTR) return;  // a sandbox forbids it
    int taken = 1;
    while (taken > 0) taken = take_message(table);
    if ((seen[0].revents & POLLIN) != 0) return release_all(memory, table);
    if (seen[0].revents != 0) return;  // no end of the process, but a pidfd that does not work
    if (taken == 0) continue;
    if (wait_for(parent_fd, POLLIN, end_s)) release_all(memory, table);
    return;
  }
}

MORTISE_HELPER_ENTRY void run() {
  // The first process ends at once, so the program has no child to wait for.
  if (system_call(SYS_clone, SIGCHLD) != 0) leave();
  unsigned long all = ~0UL;
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, at(&all), 0, sizeof all);
  const long shared =
      system_call(SYS_mmap, 0, sizeof(shared_memory), PROT_READ, MAP_SHARED, memory_fd, 0);
  const long own = system_call(SYS_mmap, 0, sizeof(connection_table), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (is_error(shared) || is_error(own)) leave();
  const auto* const memory = reinterpret_cast<const shared_memory*>(shared);
  system_call(SYS_prctl, PR_SET_NAME, at(memory->name));
  system_call(SYS_close, image_fd);
  system_call(SYS_close, memory_fd);
  // Ready.
  system_call(SYS_sendto, control_fd, at(memory->name), 1, MSG_NOSIGNAL, 0, 0);
  watch(memory, reinterpret_cast<connection_table*>(own));
  leave();
}

}  // namespace

std::string program_image() {
#if defined(__x86_64__)
  constexpr Elf64_Half machine = EM_X86_64;
#else
  constexpr Elf64_Half machine = EM_AARCH64;
#endif
  constexpr std::size_t most_page = 65536;
  constexpr std::size_t code_at = 256;
  static_assert(sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr) <= code_at);
  const auto size = static_cast<std::size_t>(mortise_helper_end - mortise_helper_begin);
  Elf64_Ehdr file{};
  const unsigned char kind[] = {ELFMAG0,    ELFMAG1,     ELFMAG2,    ELFMAG3,
                                ELFCLASS64, ELFDATA2LSB, EV_CURRENT, ELFOSABI_SYSV};
  std::copy(std::begin(kind), std::end(kind), file.e_ident);
  file.e_type = ET_DYN;
  file.e_machine = machine;
  file.e_version = EV_CURRENT;
  file.e_entry =
      code_at + static_cast<Elf64_Addr>(reinterpret_cast<const char*>(&run) - mortise_helper_begin);
  file.e_phoff = sizeof file;
  file.e_ehsize = sizeof file;
  file.e_phentsize = sizeof(Elf64_Phdr);
  file.e_phnum = 2;
  Elf64_Phdr code{};
  code.p_type = PT_LOAD;
  code.p_flags = PF_R | PF_X;
  code.p_filesz = code.p_memsz = code_at + size;
  code.p_align = most_page;
  Elf64_Phdr stack{};
  stack.p_type = PT_GNU_STACK;
  stack.p_flags = PF_R | PF_W;
  std::string image;
  image.append(reinterpret_cast<const char*>(&file), sizeof file);
  image.append(reinterpret_cast<const char*>(&code), sizeof code);
  image.append(reinterpret_cast<const char*>(&stack), sizeof stack);
  image.resize(code_at);
  image.append(mortise_helper_begin, size);
  return image;
}

}  // namespace mortise::helper

#else

namespace mortise::helper {

std::string program_image() { return {}; }

}  // namespace mortise::helper

#endif
