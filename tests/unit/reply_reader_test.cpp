#include "redis/resp/reply_reader.hpp"
#include "redis/login/credentials.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace mortise::testing::reply_reader_test {
namespace {

using redis::reply_reader;

struct recorded_request : redis::request {
  recorded_request(std::vector<std::string>& log, std::string what, int replies = 1)
      : log_(log), what_(std::move(what)) {
    reply_count = replies;
  }
  void on_reply(const redis::value& reply, time_ns now) noexcept override {
    const auto text = reply.type() == redis::kind::integer ? std::to_string(reply.integer())
                                                           : std::string(reply.text());
    log_.push_back(what_ + "=" + text + "@" + std::to_string(now));
  }
  void on_broken(bool /*was_sent*/) noexcept override { log_.push_back(what_ + " broke"); }

 private:
  std::vector<std::string>& log_;
  const std::string what_;
};

class reply_reader_test : public ::testing::Test,
                          private redis::reply_listener,
                          private redis::message_listener {
 protected:
  void submit(const std::string& what, int replies = 1) {
    requests_.emplace_back(log_, what, replies);
    submitted_.push(requests_.back());
  }
  bool receive(std::string_view bytes, time_ns now = 1) {
    while (!bytes.empty()) {
      reader_.make_room();
      const auto count = std::min(reader_.room(), bytes.size());
      std::memcpy(reader_.tail(), bytes.data(), count);
      bytes.remove_prefix(count);
      if (!reader_.take(count, now)) return false;
    }
    return true;
  }
  void on_handshake_reply(const redis::value& reply) noexcept override {
    log_.push_back("greeted " + std::string(reply.text()));
  }
  void on_push(std::string_view channel, std::string_view payload,
               time_ns /*now*/) noexcept override {
    log_.push_back("told " + std::string(channel) + " " + std::string(payload));
  }
  void on_channel_moved(std::string_view channel) noexcept override {
    log_.push_back("unheard " + std::string(channel));
  }
  void on_error(const redis::request& /*request*/, std::string_view text) noexcept override {
    log_.push_back("heard of " + std::string(text));
  }
  redis::request_list take_submitted() noexcept override { return std::exchange(submitted_, {}); }

  std::vector<std::string> log_;
  std::deque<recorded_request> requests_;
  redis::request_list submitted_;
  reply_reader reader_{reply_reader::purpose::commands, *this, this};
};

TEST_F(reply_reader_test, the_oldest_request_has_the_next_reply) {
  reader_.admit();
  submit("a");
  submit("b");
  EXPECT_TRUE(receive(":1\r\n", 7));
  EXPECT_TRUE(receive("$1\r\nx\r\n", 9));
  EXPECT_EQ(log_, (std::vector<std::string>{"a=1@7", "b=x@9"}));
  EXPECT_EQ(reader_.answered(), 2U);
  EXPECT_EQ(reader_.oldest(), nullptr);
}

TEST_F(reply_reader_test, several_replies_end_with_the_first_error_or_the_last) {
  reader_.admit();
  submit("fine", 3);
  submit("failed", 3);
  submit("after");
  EXPECT_TRUE(receive("+OK\r\n+QUEUED\r\n:5\r\n+OK\r\n-ERR no\r\n-EXECABORT\r\n:6\r\n"));
  EXPECT_EQ(log_, (std::vector<std::string>{"fine=5@1", "heard of ERR no", "failed=ERR no@1",
                                            "after=6@1"}));
}

TEST_F(reply_reader_test,
       before_it_is_admitted_replies_are_the_handshakes_and_messages_are_nobodys) {
  EXPECT_TRUE(receive("+hello\r\n>3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\np\r\n"));
  reader_.admit();
  EXPECT_TRUE(receive(">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nq\r\n"));
  EXPECT_EQ(log_, (std::vector<std::string>{"greeted hello", "told c q"}));
}

// Redis 7.2 to 8 send no reply to a rejected AUTH while other replies are pending.
TEST_F(reply_reader_test, hazard_31_a_reply_to_a_login_that_is_dropped_moves_no_other_reply) {
  const redis::login some_login;
  reader_.admit();
  for (const std::string to_auth : {"+OK\r\n", "-WRONGPASS\r\n", ""}) {
    log_.clear();
    submit("login", 2);
    requests_.back().says = &some_login;
    submit("next");
    EXPECT_TRUE(receive(to_auth + "%1\r\n+proto\r\n:3\r\n:7\r\n"));
    EXPECT_EQ("next=7@1", log_.back()) << to_auth;
    EXPECT_EQ(to_auth.starts_with('-') ? 3U : 2U, log_.size());
  }
}

// A server without HELLO may send two errors, or only that of HELLO. The next reply is then that to
// HELLO, or the grant of another lock.
TEST_F(reply_reader_test, hazard_31_an_error_that_may_be_of_hello_ends_the_stream) {
  const redis::login some_login;
  reader_.admit();
  submit("login", 2);
  requests_.back().says = &some_login;
  submit("next");
  EXPECT_FALSE(receive("-ERR unknown command 'HELLO'\r\n:7\r\n"));
  EXPECT_EQ(log_, (std::vector<std::string>{"heard of ERR unknown command 'HELLO'",
                                            "login=ERR unknown command 'HELLO'@1"}));
  EXPECT_TRUE(reader_.is_broken());
}

// The error is that of AUTH, so the next one is that of HELLO.
TEST_F(reply_reader_test, hazard_31_a_rejected_login_where_there_is_no_hello_moves_no_other_reply) {
  const redis::login some_login;
  reader_.admit();
  for (const std::string to_auth :
       {"+OK\r\n", "-WRONGPASS invalid username-password pair\r\n", "-ERR invalid password\r\n",
        "-ERR AUTH <password> called without any password configured\r\n",
        "-ERR Client sent AUTH, but no password is set\r\n"}) {
    log_.clear();
    submit("login", 2);
    requests_.back().says = &some_login;
    submit("next");
    EXPECT_TRUE(receive(to_auth + "-ERR unknown command 'HELLO'\r\n:7\r\n")) << to_auth;
    EXPECT_EQ("next=7@1", log_.back()) << to_auth;
  }
}

TEST_F(reply_reader_test, a_subscription_is_answered_by_its_message) {
  reader_.admit();
  submit("listen");
  requests_.back().is_subscription = true;
  submit("get");
  EXPECT_TRUE(receive(">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n:4\r\n"));
  EXPECT_EQ(log_, (std::vector<std::string>{"listen=@1", "get=4@1"}));
}

TEST_F(reply_reader_test, hazard_31_a_reply_that_nobody_asked_for_breaks_the_stream) {
  reader_.admit();
  submit("a");
  EXPECT_FALSE(receive(":1\r\n:2\r\n:3\r\n"));
  EXPECT_TRUE(reader_.is_broken());
  EXPECT_EQ(reader_.problem().code, status::unreachable);
  EXPECT_EQ(log_, (std::vector<std::string>{"a=1@1"}));
}

TEST_F(reply_reader_test, hazard_31_what_is_no_resp_breaks_the_stream_and_is_not_worth_a_retry) {
  reader_.admit();
  submit("a");
  EXPECT_FALSE(receive("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_FALSE(reader_.problem().is_retryable);
  EXPECT_TRUE(log_.empty());
}

TEST_F(reply_reader_test, its_end_gives_back_whom_nobody_answers_and_begins_anew) {
  reader_.admit();
  submit("a");
  submit("b", 2);
  reader_.expect(submitted_);
  EXPECT_TRUE(receive(":1\r\n+half of"));
  auto left = reader_.end(2);
  while (auto* const item = left.pop()) item->on_broken(true);
  EXPECT_EQ(reader_.answered(), 2U);
  EXPECT_TRUE(receive("+again\r\n"));
  EXPECT_EQ(log_, (std::vector<std::string>{"a=1@1", "b broke", "greeted again"}));
}

// Wherever the network cuts the stream, the reader reports the same in the same order.
TEST_F(reply_reader_test, the_pieces_of_the_stream_do_not_matter) {
  const std::string stream =
      ":1\r\n>3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\npq\r\n+OK\r\n-ERR a "
      "b\r\n:9\r\n$3\r\nx\r\n\r\n*0\r\n:7\r\n";
  const auto replay = [&](auto&& cut) {
    log_.clear();
    requests_.clear();
    static_cast<void>(reader_.end(0));
    reader_.admit();
    submit("a");
    submit("b", 3);
    submit("c");
    submit("d");
    submit("e");
    for (std::size_t at = 0; at < stream.size();) {
      const auto count = std::min(cut(), stream.size() - at);
      EXPECT_TRUE(receive(std::string_view(stream).substr(at, count)));
      at += count;
    }
    return log_;
  };
  const auto whole = replay([&] { return stream.size(); });
  EXPECT_EQ(whole.size(), 7U);
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 chance(seed);
    EXPECT_EQ(replay([&] { return std::size_t{1} + chance() % 9; }), whole) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mortise::testing::reply_reader_test
