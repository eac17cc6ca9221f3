// Decides which thread reads a connection that many threads share: a blocked caller, which then
// "leads", the I/O thread, or for a moment none. Makes no system call. Its owner guards it with a
// mutex and carries out its decisions. Requests and replies are only numbers to it.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "base/time.hpp"
#include "net/threads/caller.hpp"

namespace mortise::net {

class leader_followers {
 public:
  // The input of the decisions.
  struct situation {
    bool is_alive = false;         // connected, and not broken
    bool is_calm = false;          // the socket waits for readable bytes only
    bool has_output = false;       // bytes are still to be sent
    bool is_next_awaited = false;  // a caller blocks for the next answer
    std::uint64_t submitted = 0;   // requests so far
    std::uint64_t answered = 0;    // answers so far
    [[nodiscard]] bool has_open() const noexcept { return submitted > answered; }
  };

  // ---- a caller's way ----------------------------------------------------------------------

  // Notes the number of the caller's request.
  static void note_request(caller& caller, std::uint64_t number) noexcept {
    caller.last_request_ = number;
  }
  // No thread awaits the answer to this request, so it is read at once.
  void note_left(std::uint64_t number) noexcept { last_left_ = number; }
  // Gives the lead to a caller that is about to wait, if possible. Then the answer wakes no other
  // thread.
  bool lead_early(caller& caller, const situation& now) noexcept;
  // Whether this caller must lead: it was chosen, or no other thread reads and a caller waits for
  // the next answer.
  [[nodiscard]] bool is_to_lead(const caller& caller, const situation& now) const noexcept {
    return leader_ == &caller || can_lead(caller, now);
  }
  // Whether it still waits for an answer on this connection.
  [[nodiscard]] static bool has_open(const caller& caller, const situation& now) noexcept;
  // The caller begins to read. True when it has led since its submit.
  bool begin(caller& caller, pthread_t thread, const situation& now) noexcept;
  // The reader stops, or did not start. Returns the caller that was woken to lead next. With
  // nullptr the I/O thread reads, or no thread (is_resting).
  struct succession {
    caller* next = nullptr;
    time_ns look_after_ns = 0;  // when to call look_at_rest(); 0 for never
  };
  succession pass(const caller* before, const situation& now) noexcept;
  // The caller is about to sleep until its answer, or until it is chosen to lead. True when this
  // ended a rest.
  bool follow(caller& caller) noexcept;
  void unfollow(caller& caller) noexcept;
  // Whether it was chosen and did not start.
  [[nodiscard]] bool is_chosen(const caller& caller) const noexcept { return leader_ == &caller; }
  [[nodiscard]] bool has_followers() const noexcept { return first_follower_ != nullptr; }

  // ---- the I/O thread ----------------------------------------------------------------------

  // The I/O thread begins to read. pass() arms it again.
  void begin_io_thread(pthread_t thread) noexcept;
  // Whether the I/O thread must watch the socket.
  [[nodiscard]] bool is_io_thread() const noexcept {
    return reader_ == reader::io_thread_armed || reader_ == reader::io_thread_reading;
  }
  // Whether no thread reads now, so a caller could.
  [[nodiscard]] bool is_free() const noexcept {
    return reader_ == reader::io_thread_armed || reader_ == reader::nobody;
  }
  [[nodiscard]] bool is_caller() const noexcept { return reader_ == reader::caller; }
  // Whether this thread reads now.
  [[nodiscard]] bool is_reading(pthread_t thread) const noexcept {
    return is_reading_ && ::pthread_equal(reader_thread_, thread) != 0;
  }
  // Resets it: the I/O thread waits for the input of a new connection.
  void reset() noexcept;

  // ---- rests -------------------------------------------------------------------------------
  // The lead rests for a moment if the next call likely comes soon, because changes of the lead
  // cost system calls.

  [[nodiscard]] bool is_resting() const noexcept { return reader_ == reader::nobody; }
  // Ends a rest: the I/O thread watches the socket from now on. False without a rest.
  bool end_rest() noexcept;
  // The planned look at a rest. A rest ends unless a caller has led since the last look. Returns
  // when to look again, or 0. Then is_io_thread() shows whether a rest ended.
  time_ns look_at_rest() noexcept;
  // Changes the number of waiters for messages. While there is any, there is no rest. True when
  // this ended one.
  bool expect_messages(int change) noexcept;
  // Whether this thread led last, for anything, and likely does so again. `comes_back`: it returns
  // for an answer.
  [[nodiscard]] bool is_back_soon(pthread_t thread, bool comes_back) const noexcept {
    return comes_back && is_resting() && was_for_anything_ &&
           ::pthread_equal(reader_thread_, thread) != 0;
  }
  // How many requests were open when a caller last began to read.
  [[nodiscard]] std::uint64_t open_at_lead() const noexcept { return open_at_lead_; }

 private:
  enum class reader : std::uint8_t { io_thread_armed, io_thread_reading, caller, nobody };

  [[nodiscard]] bool can_lead(const caller& caller, const situation& now) const noexcept;
  [[nodiscard]] bool can_rest(const caller& before, const situation& now) const noexcept;
  time_ns rest(const caller& before) noexcept;
  caller* choose(const situation& now) noexcept;

  reader reader_ = reader::io_thread_armed;
  bool is_reading_ = false;  // reader_thread_ leads, and has noticed
  pthread_t reader_thread_{};
  caller* leader_ = nullptr;  // the leading or chosen caller
  caller* first_follower_ = nullptr;
  caller* last_follower_ = nullptr;
  int expected_ = 0;               // number of waiters for messages
  bool is_rest_timed_ = false;     // a look is planned
  time_ns rest_ns_ = 0;            // the time between looks
  bool has_rested_ = false;        // since the last look
  bool was_for_anything_ = false;  // the leader before the rest waited for anything
  std::uint64_t open_at_lead_ = 0;
  std::uint64_t last_left_ = 0;
};

}  // namespace mortise::net
