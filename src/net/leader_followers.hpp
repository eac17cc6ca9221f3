// Who reads a connection that many threads share: a blocked caller, who then "leads", the I/O
// thread, or for a moment nobody. It decides and makes no system call; its owner guards it with a
// mutex and does what it says. What goes to and fro on the connection it knows by number only.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "base/time.hpp"
#include "net/caller.hpp"

namespace mortise::net {

class leader_followers {
 public:
  // What the decisions look at.
  struct situation {
    bool is_alive = false;         // connected, and not broken
    bool is_calm = false;          // nothing but readable bytes is waited for at the socket
    bool has_output = false;       // something waits to be sent
    bool is_next_awaited = false;  // the next answer is for a caller that blocks for it
    std::uint64_t submitted = 0;   // how many requests there were ever,
    std::uint64_t answered = 0;    // and how many of them have their answer
    [[nodiscard]] bool has_open() const noexcept { return submitted > answered; }
  };

  // ---- a caller's way ----------------------------------------------------------------------

  // Its request has this number.
  static void note_request(caller& caller, std::uint64_t number) noexcept {
    caller.last_request_ = number;
  }
  // Nobody comes for the answer to the request with this number, so it is read at once.
  void note_left(std::uint64_t number) noexcept { last_left_ = number; }
  // Gives the lead to a caller that is about to wait, if it can have it, so that the answer wakes
  // nobody else.
  bool lead_early(caller& caller, const situation& now) noexcept;
  // Whether this caller is to lead: it was chosen, or nobody else reads and the next answer is
  // wanted by a caller.
  [[nodiscard]] bool is_to_lead(const caller& caller, const situation& now) const noexcept {
    return leader_ == &caller || can_lead(caller, now);
  }
  // Whether it still waits for an answer on this connection.
  [[nodiscard]] static bool has_open(const caller& caller, const situation& now) noexcept;
  // It begins to read. True when it has had the lead since its submit.
  bool begin(caller& caller, pthread_t thread, const situation& now) noexcept;
  // It does not read any more, or it has not come to read. Who was woken to lead next, or nullptr:
  // then the I/O thread reads, or nobody (is_resting).
  struct succession {
    caller* next = nullptr;
    time_ns look_after_ns = 0;  // when to call look_at_rest(); 0 when it is not to be planned
  };
  succession pass(const caller* before, const situation& now) noexcept;
  // It is about to sleep until its answer is there, or it is chosen to lead. True when this ended a
  // rest.
  bool follow(caller& caller) noexcept;
  void unfollow(caller& caller) noexcept;
  // Whether it was chosen and did not come.
  [[nodiscard]] bool is_chosen(const caller& caller) const noexcept { return leader_ == &caller; }
  [[nodiscard]] bool has_followers() const noexcept { return first_follower_ != nullptr; }

  // ---- the I/O thread ----------------------------------------------------------------------

  // It begins to read, and is armed again by pass().
  void begin_io_thread(pthread_t thread) noexcept;
  // Whether it is to watch the socket.
  [[nodiscard]] bool is_io_thread() const noexcept {
    return reader_ == reader::io_thread_armed || reader_ == reader::io_thread_reading;
  }
  // Whether nobody reads right now, so that a caller could.
  [[nodiscard]] bool is_free() const noexcept {
    return reader_ == reader::io_thread_armed || reader_ == reader::nobody;
  }
  [[nodiscard]] bool is_caller() const noexcept { return reader_ == reader::caller; }
  // Whether this thread is the one that reads right now.
  [[nodiscard]] bool is_reading(pthread_t thread) const noexcept {
    return is_reading_ && ::pthread_equal(reader_thread_, thread) != 0;
  }
  // As new: the I/O thread waits for what a new connection brings.
  void reset() noexcept;

  // ---- rests -------------------------------------------------------------------------------
  // The lead rests for a moment when likely the next call comes soon: taking it back and forth
  // costs system calls.

  [[nodiscard]] bool is_resting() const noexcept { return reader_ == reader::nobody; }
  // Ends a rest: the I/O thread is to watch the socket from now on. False when there is none.
  bool end_rest() noexcept;
  // A planned look: a rest ends unless a caller has led since the last one. When to look again, or
  // 0; then is_io_thread() says whether a rest was ended.
  time_ns look_at_rest() noexcept;
  // So many more wait for messages, or fewer; while anybody does, there is no rest. True when this
  // ended one.
  bool expect_messages(int change) noexcept;
  // Whether this thread, which comes back for an answer or does not, led last, for anything, and is
  // expected to do so again.
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
  bool is_reading_ = false;  // reader_thread_ has the lead and knows it
  pthread_t reader_thread_{};
  caller* leader_ = nullptr;  // the caller that leads, or was chosen to
  caller* first_follower_ = nullptr;
  caller* last_follower_ = nullptr;
  int expected_ = 0;               // who waits for messages
  bool is_rest_timed_ = false;     // a look is planned
  time_ns rest_ns_ = 0;            // how long after each look
  bool has_rested_ = false;        // since it looked last
  bool was_for_anything_ = false;  // who led before the rest waited for anything
  std::uint64_t open_at_lead_ = 0;
  std::uint64_t last_left_ = 0;
};

}  // namespace mortise::net
