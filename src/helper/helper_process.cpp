#include "helper/helper_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/system/background_process.hpp"
#include "base/system/descriptor.hpp"
#include "base/system/private_descriptors.hpp"
#include "helper/program.hpp"

namespace mortise::helper {

namespace {

constexpr time_ns check_ns = ns_per_s;
// How long the helper may take to start.
constexpr time_ns start_ns = 2 * ns_per_s;
constexpr std::string_view process_name = "mortise-helper";
static_assert(process_name.size() < sizeof(shared_memory::name));
constexpr const char* start_text = "start the helper process";
// Absent in older kernels, which allow the execution anyway.
constexpr unsigned executable_memory = 0x10;

outcome cannot_start(const char* what, int error) noexcept {
  const bool is_slow = error == ETIMEDOUT;
  const bool is_passing =
      is_slow || error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
  const char* remedy = "; allow it, or omit the option";
  if (error == ENOENT) remedy = "; mount /proc, or omit the option";
  if (error == EACCES) remedy = "; set vm.memfd_noexec to less than 2, or omit the option";
  if (error == EFBIG) remedy = "; raise the limit of the size of files, or omit the option";
  if (error == ENOSYS) remedy = "; it needs Linux 5.3 or later, so omit the option";
  if (is_passing) remedy = "; raise the limit of processes, memory or files, or omit the option";
  if (is_slow) remedy = "; try again when the machine is less busy, or omit the option";
  auto result =
      outcome::of(is_passing ? status::limit : status::unsupported, "release_on_death: cannot ",
                  what, ": ", error == 0 ? "it ended at once" : std::strerror(error), remedy);
  result.is_retryable = is_passing;
  return result;
}

// A descriptor of the image, or -1 with errno.
int open_image() {
  const auto image = program_image();
  if (image.empty()) {
    errno = ENOEXEC;
    return -1;
  }
  int file = ::memfd_create(process_name.data(), MFD_CLOEXEC | executable_memory);
  if (file < 0 && errno == EINVAL) file = ::memfd_create(process_name.data(), MFD_CLOEXEC);
  if (file >= 0 &&
      ::write(file, image.data(), image.size()) != static_cast<ssize_t>(image.size())) {
    const int error = errno;
    ::close(file);
    errno = error;
    return -1;
  }
  return file;
}

int start_image(int memory, int control, int parent, time_ns deadline) noexcept try {
  const descriptor image(open_image());
  if (image.get() < 0) return errno;
  // The system's tools show it. It names no server and no login.
  auto path = "/proc/self/fd/" + std::to_string(image_fd);
  auto name =
      std::string(process_name) + ": releases the locks of process " + std::to_string(::getpid());
  const std::array<char*, 2> arguments = {name.data(), nullptr};
  const std::array<char*, 1> environment = {nullptr};
  const std::array inherited = {image.get(), memory, control, parent};
  pid_t starter = -1;
  const int error =
      start_in_background(path.c_str(), arguments.data(), environment.data(), inherited, starter);
  if (error == 0) reap_starter(starter, deadline);
  return error;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

// Whether it is readable or writable in time, however many signals the program handles (hazard 22).
bool is_ready(int file, short events, time_ns deadline) noexcept {
  for (;;) {
    pollfd seen{file, events, 0};
    const auto left = std::max<time_ns>(deadline - boot_now(), 0);
    const int count = ::poll(&seen, 1, static_cast<int>((left + ns_per_ms - 1) / ns_per_ms));
    if (count >= 0 || errno != EINTR) return count > 0;
  }
}

}  // namespace

// ---- the record of one claim ----------------------------------------------------------------

// If the process dies in between, there is no release, and the lease decides.
bool claim_place::write(std::string_view request) noexcept {
  if (request.size() > claim_record::room) return false;
  clear();
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler keeps the order
  std::copy(request.begin(), request.end(), record_->request);
  __atomic_store_n(&record_->size, static_cast<std::uint32_t>(request.size()), __ATOMIC_RELEASE);
  return true;
}

void claim_place::clear() noexcept { __atomic_store_n(&record_->size, 0U, __ATOMIC_SEQ_CST); }

void claim_place::note_connection(std::int32_t connection) noexcept {
  __atomic_store_n(&record_->connection, connection, __ATOMIC_RELAXED);
}

// ---- the process ----------------------------------------------------------------------------

helper_process::~helper_process() {
  end();
  for (const int copy : connections_) close_private(copy);
  close_private(memory_fd_);
  if (memory_ != nullptr) ::munmap(memory_, sizeof(shared_memory));
}

// A start may take long, so it locks only its own mutex: the I/O thread needs the other one.
outcome helper_process::begin(time_ns now) {
  if (now < runs_until_.load(std::memory_order_acquire)) return {};
  const std::lock_guard start_guard(start_mutex_);
  // The threads that waited for a start share its result. One after the other they would wait for
  // as many starts.
  if (now < runs_until_.load(std::memory_order_acquire)) return {};
  if (now < failed_at_) return failure_;
  auto started = start_or_check(now);
  if (!started.ok()) {
    failure_ = started;
    failed_at_ = boot_now();
  }
  return started;
}

outcome helper_process::start_or_check(time_ns now) {
  {
    const std::lock_guard guard(mutex_);
    if (is_ended_) return {};  // the client was closed
    if (is_running()) {
      runs_until_.store(now + check_ns, std::memory_order_release);
      return {};
    }
    stop();
    if (auto mapped = map_memory(); !mapped.ok()) return mapped;
  }
  const auto deadline = boot_now() + start_ns;
  int control = -1;
  if (auto started = start(control, deadline); !started.ok()) return started;
  return share_connections(control, now, deadline);
}

// The socket has room for less than 300 messages that the helper has not read yet. The I/O thread
// may lock the mutex while this thread waits for room.
outcome helper_process::share_connections(int control, time_ns now, time_ns deadline) {
  std::unique_lock guard(mutex_);
  control_ = control;
  if (is_ended_) quit();
  for (std::size_t i = 0; i < connections_.size() && !is_ended_;) {
    const int error =
        connections_[i] < 0 ? 0 : send(message::add, static_cast<std::int32_t>(i), connections_[i]);
    if (error == 0) {
      ++i;
      continue;
    }
    guard.unlock();
    const bool has_room = error == EAGAIN && is_ready(control, POLLOUT, deadline);
    guard.lock();
    if (is_ended_ || (has_room && control_ == control)) continue;
    stop();
    return cannot_start(start_text, error == EAGAIN ? ETIMEDOUT : 0);
  }
  if (!is_ended_) runs_until_.store(now + check_ns, std::memory_order_release);
  return {};
}

// A file limit would end the process by a signal.
outcome helper_process::map_memory() {
  if (memory_ != nullptr) return {};
  rlimit largest{};
  if (::getrlimit(RLIMIT_FSIZE, &largest) == 0 && largest.rlim_cur < sizeof(shared_memory)) {
    return cannot_start("share memory with the helper", EFBIG);
  }
  const int file = keep_private(::memfd_create("mortise-claims", MFD_CLOEXEC));
  if (file < 0) return cannot_start("share memory with the helper", errno);
  void* mapped = MAP_FAILED;
  if (::ftruncate(file, sizeof(shared_memory)) == 0) {
    mapped = ::mmap(nullptr, sizeof(shared_memory), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (mapped == MAP_FAILED) {
    const int error = errno;
    close_private(file);
    return cannot_start("share memory with the helper", error);
  }
  memory_fd_ = file;
  memory_ = static_cast<shared_memory*>(mapped);
  std::copy(process_name.begin(), process_name.end(), memory_->name);
  share_scripts();
  return {};
}

outcome helper_process::start(int& control, time_ns deadline) {
  if (::getpid() == 1) {
    return outcome::of(status::unsupported,
                       "release_on_death: this is the first process of its container, whose end "
                       "also kills the helper; run it under a supervisor, or omit it");
  }
  const descriptor parent(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (parent.get() < 0) return cannot_start("watch this process (pidfd_open)", errno);
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return cannot_start("reach the helper", errno);
  }
  // In a forked child, the end of the helper would hide its death.
  control = keep_private(ends[0]);
  const int other = keep_private(ends[1]);
  int error = start_image(memory_fd_, other, parent.get(), deadline);
  close_private(other);
  if (error == 0 && !is_ready(control, POLLIN, deadline)) error = ETIMEDOUT;
  char ready = 0;
  if (error == 0 && ::recv(control, &ready, 1, MSG_DONTWAIT) == 1) return {};
  close_private(control);
  return cannot_start(start_text, error);
}

// The helper sends nothing after it is ready, so input is its end.
bool helper_process::is_running() noexcept {
  return control_ >= 0 && !is_ready(control_, POLLIN, 0);
}

void helper_process::stop() noexcept {
  runs_until_.store(0, std::memory_order_release);
  close_private(control_);
  control_ = -1;
}

void helper_process::end() noexcept {
  const std::lock_guard guard(mutex_);
  is_ended_ = true;
  quit();
}

void helper_process::quit() noexcept {
  if (control_ >= 0) static_cast<void>(send(message::quit, -1, -1));
  stop();
}

int helper_process::send(std::int32_t what, std::int32_t connection, int descriptor) noexcept {
  message text{what, connection};
  iovec part{&text, sizeof text};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> ancillary{};
  msghdr envelope{};
  envelope.msg_iov = &part;
  envelope.msg_iovlen = 1;
  if (descriptor >= 0) {
    envelope.msg_control = ancillary.data();
    envelope.msg_controllen = ancillary.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&envelope);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  const bool is_sent = ::sendmsg(control_, &envelope, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof text;
  return is_sent ? 0 : errno;
}

// ---- connections and places -----------------------------------------------------------------

std::int32_t helper_process::add_connection() noexcept try {
  const std::lock_guard guard(mutex_);
  if (connections_.size() >= static_cast<std::size_t>(most_connections)) return -1;
  connections_.push_back(-1);
  return static_cast<std::int32_t>(connections_.size() - 1);
} catch (const std::bad_alloc&) {
  return -1;
}

bool helper_process::set_connection(std::int32_t connection, int descriptor) noexcept {
  if (connection < 0) return true;
  const std::lock_guard guard(mutex_);
  auto& copy = connections_[static_cast<std::size_t>(connection)];
  close_private(std::exchange(copy, -1));
  if (descriptor >= 0) copy = keep_private(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  const bool is_copied = descriptor < 0 || copy >= 0;
  if (control_ < 0) return is_copied;
  // A helper with a wrong connection is useless: the next acquire starts another.
  if (send(copy >= 0 ? message::add : message::remove, connection, copy) != 0) stop();
  return is_copied;
}

void helper_process::add_script(std::string_view command) {
  const std::lock_guard guard(mutex_);
  // Releases without their script are for servers that know it.
  if (scripts_.size() + command.size() > scripts_room) return;
  scripts_.append(command);
  share_scripts();
}

// The commands that were shared before stay as they are.
void helper_process::share_scripts() noexcept {
  if (memory_ == nullptr) return;
  std::copy(scripts_.begin(), scripts_.end(), memory_->scripts);
  __atomic_store_n(&memory_->scripts_size, static_cast<std::uint32_t>(scripts_.size()),
                   __ATOMIC_RELEASE);
}

std::optional<claim_place> helper_process::take_place() {
  const std::lock_guard guard(mutex_);
  if (memory_ == nullptr) return std::nullopt;
  std::uint32_t number = memory_->record_count;
  if (!free_places_.empty()) {
    number = free_places_.back();
    free_places_.pop_back();
  } else if (number < most_records) {
    free_places_.reserve(number + 1);  // so that give_back() needs no memory
    __atomic_store_n(&memory_->record_count, number + 1, __ATOMIC_RELEASE);
  } else {
    return std::nullopt;
  }
  return claim_place(memory_->records[number]);
}

void helper_process::give_back(claim_place place) noexcept {
  place.clear();
  const std::lock_guard guard(mutex_);
  free_places_.push_back(static_cast<std::uint32_t>(place.record_ - memory_->records));
}

}  // namespace mortise::helper
