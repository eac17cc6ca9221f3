// Callers, an I/O thread and a socket, simulated by one thread in the order of a seed. In each
// order one thread at a time reads what the server sends, and never a caller that has left.
#include "net/threads/leader_followers.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <vector>

namespace mortise::testing::leader_followers_test {
namespace {

using net::caller;
using net::leader_followers;

class schedule {
 public:
  explicit schedule(unsigned seed) : chance_(seed), users_(2 + chance_() % 4) {}

  void run() {
    for (int i = 0; i < 400 && !::testing::Test::HasFailure(); ++i) step(true);
    // With nothing new everybody comes to an end.
    if (expected_ > 0) set_expected(0);
    for (int i = 0; i < 4000 && !is_over() && !::testing::Test::HasFailure(); ++i) step(false);
    EXPECT_TRUE(is_over()) << open_.size() << " requests are open";
  }

 private:
  enum class at { home, before_await, asleep, leading };
  struct user {
    at place = at::home;
    std::unique_ptr<net::caller> caller;
  };
  struct open_request {
    user* whose = nullptr;
    bool is_blocking = false;
  };

  bool is_over() const {
    bool is_quiet = open_.empty();
    for (const auto& one : users_) is_quiet = is_quiet && one.place == at::home;
    return is_quiet;
  }
  [[nodiscard]] unsigned below(unsigned bound) { return static_cast<unsigned>(chance_() % bound); }

  leader_followers::situation now() const {
    leader_followers::situation seen;
    seen.is_alive = seen.is_calm = true;
    seen.submitted = submitted_;
    seen.answered = submitted_ - open_.size();
    seen.is_next_awaited = !open_.empty() && open_.front().is_blocking;
    return seen;
  }

  void step(bool may_begin) {
    const auto what = below(10);
    auto& one = users_[below(static_cast<unsigned>(users_.size()))];
    if (what < 6) {
      act(one, may_begin);
    } else if (what == 6 && may_begin) {
      submit(nullptr, false);
    } else if (what == 7 && is_look_planned_) {
      is_look_planned_ = lead_.look_at_rest() > 0;
    } else if (what == 8 && may_begin) {
      set_expected(expected_ > 0 ? 0 : 1);
    } else if (lead_.is_io_thread()) {
      lead_.begin_io_thread(thread_);
      answer(1 + below(3));
      succeed(lead_.pass(nullptr, now()));
    }
    check();
  }

  void submit(user* whose, bool is_blocking) {
    ++submitted_;
    open_.push_back({whose, is_blocking});
    if (whose != nullptr) leader_followers::note_request(*whose->caller, submitted_);
    if (is_blocking && below(2) == 0) lead_.lead_early(*whose->caller, now());
    lead_.end_rest();
  }

  void act(user& one, bool may_begin) {
    switch (one.place) {
      case at::home:
        if (!may_begin) return;
        one.caller = std::make_unique<net::caller>(below(4) == 0 ? net::caller::wish::anything
                                                                 : net::caller::wish::answer);
        submit(&one, true);
        one.place = at::before_await;
        return;
      case at::before_await:
        return await(one);
      case at::asleep:
        // The deadline, or a word that did not come by this connection.
        if (below(4) == 0) one.caller->finish();
        one.caller->sleep(0);
        return leave(one);
      case at::leading:
        answer(1 + below(2));
        if (!leader_followers::has_open(*one.caller, now()) || !one.caller->is_leading())
          stop_leading(one);
        return;
    }
  }

  // As pipeline::await.
  void await(user& one) {
    if (!one.caller->leads_early() && one.caller->settle()) return leave(one);
    if (lead_.is_to_lead(*one.caller, now())) {
      lead_.begin(*one.caller, thread_, now());
      one.place = at::leading;
      if (!one.caller->begin_leading(-1)) stop_leading(one);
      return;
    }
    if (leader_followers::has_open(*one.caller, now())) lead_.follow(*one.caller);
    if (!one.caller->begin_sleep()) return leave(one);
    one.place = at::asleep;
  }

  void stop_leading(user& one) {
    one.caller->end_leading();
    succeed(lead_.pass(one.caller.get(), now()));
    one.place = at::before_await;
    if (one.caller->settle()) leave(one);
  }

  void leave(user& one) {
    lead_.unfollow(*one.caller);
    if (lead_.is_chosen(*one.caller)) succeed(lead_.pass(nullptr, now()));
    EXPECT_FALSE(lead_.is_chosen(*one.caller));
    for (auto& request : open_) {
      if (request.whose == &one) request.whose = nullptr;
    }
    one.caller.reset();
    one.place = at::home;
  }

  void succeed(const leader_followers::succession& after) {
    if (after.look_after_ns > 0) is_look_planned_ = true;
    for (auto& one : users_) {
      if (one.caller.get() != after.next || after.next == nullptr) continue;
      EXPECT_EQ(one.place, at::asleep) << "only who sleeps can be woken to lead";
      one.place = at::before_await;
    }
  }

  void answer(unsigned count) {
    for (; count > 0 && !open_.empty(); --count) {
      auto* const whose = open_.front().whose;
      open_.pop_front();
      // No system call wakes a caller's own thread, because one thread simulates it.
      if (whose != nullptr) whose->caller->finish();
    }
  }

  void set_expected(int count) {
    lead_.expect_messages(count - expected_);
    expected_ = count;
  }

  void check() {
    int readers = lead_.is_io_thread() ? 1 : 0;
    for (const auto& one : users_) {
      if (one.place == at::leading) ++readers;
      if (one.place == at::before_await && lead_.is_chosen(*one.caller)) ++readers;
      const bool is_chosen_asleep = one.place == at::asleep && lead_.is_chosen(*one.caller);
      EXPECT_FALSE(is_chosen_asleep) << "who is to read sleeps";
    }
    if (!lead_.is_resting()) {
      EXPECT_EQ(readers, 1) << "who reads";
      return;
    }
    EXPECT_EQ(readers, 0) << "somebody reads in a rest";
    EXPECT_TRUE(is_look_planned_) << "a rest without an end";
    EXPECT_FALSE(lead_.has_followers()) << "somebody sleeps while nobody reads";
    EXPECT_EQ(expected_, 0) << "a message is awaited while nobody reads";
  }

  std::mt19937 chance_;
  leader_followers lead_;
  std::vector<user> users_;
  std::deque<open_request> open_;
  std::uint64_t submitted_ = 0;
  int expected_ = 0;
  bool is_look_planned_ = false;
  const pthread_t thread_ = ::pthread_self();
};

TEST(leader_followers, somebody_reads_whatever_the_order) {
  for (unsigned seed = 0; seed < 2000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    schedule(seed).run();
  }
}

TEST(leader_followers, a_caller_with_its_answer_leaves_the_lead_at_rest_and_takes_it_again) {
  leader_followers lead;
  leader_followers::situation now;
  now.is_alive = now.is_calm = true;
  net::caller first;
  now.submitted = 1;
  now.is_next_awaited = true;
  leader_followers::note_request(first, 1);
  ASSERT_TRUE(lead.is_to_lead(first, now));
  lead.begin(first, ::pthread_self(), now);
  now.answered = 1;
  first.finish();
  EXPECT_GT(lead.pass(&first, now).look_after_ns, 0);
  EXPECT_TRUE(lead.is_resting());

  net::caller second;
  now.submitted = 2;
  leader_followers::note_request(second, 2);
  EXPECT_TRUE(lead.lead_early(second, now));
  EXPECT_FALSE(lead.is_io_thread()) << "no system call to arm it was needed";
  EXPECT_GT(lead.look_at_rest(), 0) << "there was a rest since the last look";
  EXPECT_EQ(lead.look_at_rest(), 0);
}

// A reply on one connection may lead to a request on another, as when a slot of a cluster moves.
TEST(leader_followers, who_leads_one_connection_does_not_lead_another_early) {
  leader_followers lead;
  leader_followers other;
  leader_followers::situation now;
  now.is_alive = now.is_calm = now.is_next_awaited = true;
  now.submitted = 1;
  net::caller caller;
  leader_followers::note_request(caller, 1);
  ASSERT_TRUE(lead.lead_early(caller, now));
  lead.begin(caller, ::pthread_self(), now);
  const int unused_descriptor = -1;
  ASSERT_TRUE(caller.begin_leading(unused_descriptor));
  EXPECT_FALSE(other.lead_early(caller, now));
  EXPECT_TRUE(other.is_free());
  caller.end_leading();
  EXPECT_TRUE(other.lead_early(caller, now));
}

TEST(leader_followers, the_io_thread_reads_for_who_does_not_block) {
  leader_followers lead;
  leader_followers::situation now;
  now.is_alive = now.is_calm = true;
  net::caller blocked;
  now.submitted = 2;  // the first has no caller
  leader_followers::note_request(blocked, 2);
  EXPECT_FALSE(lead.is_to_lead(blocked, now));
  now.answered = 1;
  now.is_next_awaited = true;
  EXPECT_TRUE(lead.is_to_lead(blocked, now));
}

TEST(leader_followers, who_sleeps_is_not_woken_to_read_for_who_does_not_block) {
  leader_followers lead;
  leader_followers::situation now;
  now.is_alive = now.is_calm = true;
  net::caller leader;
  net::caller sleeper;
  now.submitted = 3;  // the second has no caller
  now.is_next_awaited = true;
  leader_followers::note_request(leader, 1);
  leader_followers::note_request(sleeper, 3);
  lead.begin(leader, ::pthread_self(), now);
  lead.follow(sleeper);
  ASSERT_TRUE(sleeper.begin_sleep());
  now.answered = 1;
  now.is_next_awaited = false;
  leader.finish();
  EXPECT_EQ(lead.pass(&leader, now).next, nullptr);
  EXPECT_TRUE(lead.is_io_thread());

  // If its own reply is next, the I/O thread hands it the lead.
  now.answered = 2;
  now.is_next_awaited = true;
  lead.begin_io_thread(::pthread_self());
  EXPECT_EQ(lead.pass(nullptr, now).next, &sleeper);
  EXPECT_TRUE(lead.is_to_lead(sleeper, now));
  EXPECT_TRUE(lead.is_caller());
}

// Whether a user that waits for anything, and has got something, leaves the lead at rest with the
// second request open.
bool rests_with_one_open(bool is_left) {
  leader_followers lead;
  leader_followers::situation now;
  now.is_alive = now.is_calm = true;
  net::caller anything(net::caller::wish::anything);
  now.submitted = 2;
  if (is_left) lead.note_left(2);
  lead.begin(anything, ::pthread_self(), now);
  now.answered = 1;
  anything.finish();
  lead.pass(&anything, now);
  return lead.is_resting();
}

TEST(leader_followers, an_answer_that_nobody_comes_for_is_not_left_to_a_rest) {
  EXPECT_TRUE(rests_with_one_open(false)) << "its thread comes back for that";
  EXPECT_FALSE(rests_with_one_open(true)) << "whoever watches a descriptor does not";
}

TEST(leader_followers, a_thread_that_asks_for_a_queue_that_is_watched_is_not_back_soon) {
  leader_followers lead;
  leader_followers::situation now;
  now.is_alive = now.is_calm = true;
  net::caller anything(net::caller::wish::anything);
  now.submitted = 1;
  lead.begin(anything, ::pthread_self(), now);
  now.answered = 1;
  anything.finish();
  lead.pass(&anything, now);
  EXPECT_TRUE(lead.is_back_soon(::pthread_self(), true));
  EXPECT_FALSE(lead.is_back_soon(::pthread_self(), false));
}

}  // namespace
}  // namespace mortise::testing::leader_followers_test
