// The library's calls to the operating system. The linker directs them to this file, and each
// process has its own.
#include <atomic>
#include <functional>

#include "base/random.hpp"
#include "simulation/process/process.hpp"

using mortise::process_simulation::acting_process;
using mortise::process_simulation::process_of;

extern "C" {

mortise::time_ns borrowed_boot_now() __asm__("__wrap__ZN7mortise8boot_nowEv");
mortise::time_ns borrowed_boot_now() {
  return acting_process() == nullptr ? 0 : acting_process()->now();
}

std::uint64_t borrowed_random_number() __asm__("__wrap__ZN7mortise13random_numberEv");
std::uint64_t borrowed_random_number() {
  return acting_process() == nullptr ? 1 : acting_process()->around().dice.next();
}

void borrowed_schedule(
    mortise::net::reactor* loop, mortise::net::timer& item, mortise::time_ns at,
    mortise::time_ns slack) __asm__("__wrap__ZN7mortise3net7reactor8scheduleERNS0_5timerEll");
void borrowed_schedule(mortise::net::reactor* loop, mortise::net::timer& item, mortise::time_ns at,
                       mortise::time_ns /*slack*/) {
  process_of(*loop).schedule(item, at);
}

void borrowed_cancel(mortise::net::reactor* loop, mortise::net::timer& item) __asm__(
    "__wrap__ZN7mortise3net7reactor6cancelERNS0_5timerE");
void borrowed_cancel(mortise::net::reactor* loop, mortise::net::timer& item) {
  process_of(*loop).cancel(item);
}

void borrowed_post(mortise::net::reactor* loop, mortise::net::task& item) __asm__(
    "__wrap__ZN7mortise3net7reactor4postERNS0_4taskE");
void borrowed_post(mortise::net::reactor* loop, mortise::net::task& item) {
  process_of(*loop).post(item);
}

void borrowed_cancel_task(mortise::net::reactor* loop, mortise::net::task& item) __asm__(
    "__wrap__ZN7mortise3net7reactor6cancelERNS0_4taskE");
void borrowed_cancel_task(mortise::net::reactor* loop, mortise::net::task& item) {
  process_of(*loop).cancel(item);
}

// A thread that sleeps waits for the I/O thread, which does not exist.
void borrowed_futex_wait(
    std::atomic<std::uint32_t>& word, std::uint32_t expected,
    mortise::time_ns deadline) __asm__("__wrap__ZN7mortise3net10futex_waitERSt6atomicIjEjl");
void borrowed_futex_wait(std::atomic<std::uint32_t>& /*word*/, std::uint32_t /*expected*/,
                         mortise::time_ns /*deadline*/) {
  acting_process()->run_posted();
}

// One after the other.
void borrowed_at_once(std::size_t count, const std::function<void(std::size_t)>& work) __asm__(
    "__wrap__ZN7mortise3net7at_onceEmRKSt8functionIFvmEE");
void borrowed_at_once(std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t i = 0; i < count; ++i) work(i);
}
}
