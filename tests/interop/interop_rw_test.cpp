// Read-write locks in the formats of other programs: both sides exclude each other on one name.
#include <gtest/gtest.h>

#include <future>
#include <string>

#include "interop/article_locks.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::interop_rw_test {
namespace {

constexpr std::int64_t lease_ms = 3000;

struct free_rw {
  void operator()(mortise_rw* handle) const { mortise_rw_free(handle); }
};
using rw_handle = std::unique_ptr<mortise_rw, free_rw>;

class rw_interop : public ::testing::TestWithParam<rw_format> {
 protected:
  [[nodiscard]] std::string url(const std::string& options) const {
    return server_.url() + "?protocol=" + GetParam().protocol +
           "&poll_interval=20ms&read_lifetime=3s&write_lifetime=3s&" + options;
  }
  [[nodiscard]] rw_handle open(const client_handle& client) const {
    rw_handle rw(mortise_rw_new(client.get(), name_.data(), name_.size(), nullptr, nullptr));
    if (!rw) throw std::runtime_error("mortise_rw_new");
    return rw;
  }
  std::string run(const std::vector<std::string>& command) { return bare_->command(command); }
  // All that the keys of the format are, but for how long.
  std::string content() {
    std::string all;
    for (const auto& key : {name_, name_ + ":read", name_ + ":write"}) all += run({"DUMP", key});
    return all;
  }

  const std::string name_ = "an article's lock";
  test_server server_;
  std::unique_ptr<raw_client> bare_ = server_.connect();
  std::unique_ptr<article_lock> reader_ = GetParam().reader(*bare_, name_);
  std::unique_ptr<article_lock> other_reader_ = GetParam().reader(*bare_, name_);
  std::unique_ptr<article_lock> writer_ = GetParam().writer(*bare_, name_);
  client_handle client_ = open_client(url("lease=3s"));
  rw_handle rw_ = open(client_);
  rw_handle second_ = open(client_);
};

TEST_P(rw_interop, it_writes_and_we_are_refused_until_it_releases) {
  ASSERT_TRUE(writer_->take(lease_ms));
  const auto before = content();
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(rw_.get(), nullptr));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_write_try(rw_.get(), nullptr));
  auto waiting = std::async(std::launch::async, [&] {
    return mortise_rw_write_acquire(rw_.get(), patience_ms, nullptr);
  });
  EXPECT_TRUE(always([&] { return content() == before; }, 200));  // a loser changes nothing
  writer_->release();
  EXPECT_EQ(MORTISE_OK, waiting.get());
  EXPECT_FALSE(reader_->take(lease_ms));
  EXPECT_FALSE(writer_->take(lease_ms));
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(rw_.get(), nullptr));
}

TEST_P(rw_interop, it_reads_and_we_read_too_but_do_not_write_until_its_lease_ends) {
  const auto begin = boot_now();
  ASSERT_TRUE(reader_->take(lease_ms));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_try(rw_.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw_.get(), nullptr));
  const auto before = content();
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_write_try(rw_.get(), nullptr));
  EXPECT_EQ(before, content());
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_acquire(rw_.get(), patience_ms, nullptr));
  EXPECT_GE(ms_since(begin), 2000);
}

TEST_P(rw_interop, we_read_and_it_reads_too_but_does_not_write_until_we_release) {
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw_.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_try(second_.get(), nullptr));
  EXPECT_FALSE(writer_->take(lease_ms));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw_.get(), nullptr));
  EXPECT_FALSE(writer_->take(lease_ms));  // the second reads on
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(second_.get(), nullptr));
  EXPECT_TRUE(writer_->take(lease_ms));
}

TEST_P(rw_interop, we_write_and_it_is_refused_until_we_release) {
  ASSERT_EQ(MORTISE_OK, mortise_rw_write_try(rw_.get(), nullptr));
  EXPECT_FALSE(reader_->take(lease_ms));
  EXPECT_FALSE(writer_->take(lease_ms));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(second_.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(rw_.get(), nullptr));
  EXPECT_TRUE(reader_->take(lease_ms));
}

TEST_P(rw_interop, our_leases_end_and_it_gets_in) {
  const auto client = open_client(url("lease=2s&renewal=off"));
  for (const bool is_reader : {true, false}) {
    const auto rw = open(client);
    ASSERT_EQ(MORTISE_OK, is_reader ? mortise_rw_read_try(rw.get(), nullptr)
                                    : mortise_rw_write_try(rw.get(), nullptr));
    EXPECT_FALSE(writer_->take(lease_ms));
    EXPECT_TRUE(eventually([&] { return writer_->take(lease_ms); }));
    const auto before = content();
    EXPECT_EQ(MORTISE_LOST, is_reader ? mortise_rw_read_unlock(rw.get(), nullptr)
                                      : mortise_rw_write_unlock(rw.get(), nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
    EXPECT_EQ(before, content());
    writer_->release();
  }
}

TEST_P(rw_interop, our_renewal_keeps_it_out) {
  const auto client = open_client(url("lease=2s"));
  for (const bool is_reader : {true, false}) {
    const auto rw = open(client);
    ASSERT_EQ(MORTISE_OK, is_reader ? mortise_rw_read_try(rw.get(), nullptr)
                                    : mortise_rw_write_try(rw.get(), nullptr));
    EXPECT_TRUE(always([&] { return !writer_->take(lease_ms); }, 4000));
    EXPECT_EQ(MORTISE_OK, is_reader ? mortise_rw_read_unlock(rw.get(), nullptr)
                                    : mortise_rw_write_unlock(rw.get(), nullptr));
  }
}

TEST_P(rw_interop, a_reader_of_ours_never_frees_what_a_later_reader_has_written) {
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw_.get(), nullptr));
  ASSERT_TRUE(reader_->take(2 * lease_ms));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw_.get(), nullptr));
  EXPECT_FALSE(writer_->take(lease_ms));
  // Nor when another of ours has read after it, and so has written last.
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(second_.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(second_.get(), nullptr));
  EXPECT_FALSE(writer_->take(lease_ms));
  EXPECT_TRUE(eventually([&] { return writer_->take(lease_ms); }));  // its lease ends it
}

TEST_P(rw_interop, a_reader_of_ours_leaves_an_earlier_reader_its_lease) {
  ASSERT_TRUE(reader_->take(lease_ms));
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw_.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw_.get(), nullptr));
  EXPECT_TRUE(always([&] { return !writer_->take(lease_ms); }, 1000));
  EXPECT_TRUE(eventually([&] { return writer_->take(lease_ms); }));
}

TEST_P(rw_interop, hazard_17_a_hold_that_was_taken_over_is_neither_renewed_nor_released) {
  const auto client = open_client(url("lease=600ms"));
  const auto queue = open_queue(client);
  for (const bool is_unlocked : {true, false}) {
    const auto rw = open(client);
    ASSERT_EQ(MORTISE_OK, mortise_rw_watch(rw.get(), queue.get(), 1, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_rw_write_try(rw.get(), nullptr));
    run({"DEL", name_, name_ + ":write"});
    ASSERT_TRUE(writer_->take(10 * lease_ms));
    const auto before = content();
    if (is_unlocked) {
      EXPECT_EQ(MORTISE_LOST, mortise_rw_write_unlock(rw.get(), nullptr));
    } else {
      EXPECT_EQ(MORTISE_EVENT_LOST, next_loss(queue).kind);
    }
    EXPECT_EQ(before, content());
    writer_->release();
  }
}

TEST_P(rw_interop, a_reader_whose_key_another_has_deleted_learns_of_it) {
  const auto client = open_client(url("lease=600ms"));
  const auto queue = open_queue(client);
  const auto rw = open(client);
  ASSERT_EQ(MORTISE_OK, mortise_rw_watch(rw.get(), queue.get(), 1, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw.get(), nullptr));
  run({"DEL", name_, name_ + ":read"});
  ASSERT_TRUE(writer_->take(10 * lease_ms));
  const auto before = content();
  EXPECT_EQ(MORTISE_EVENT_LOST, next_loss(queue).kind);
  EXPECT_EQ(before, content());
}

TEST_P(rw_interop, what_the_format_cannot_do_is_unsupported) {
  const auto client = open_client(url("reentrant=on"));
  const auto rw = open(client);
  const auto error = new_error();
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw.get(), nullptr));
  EXPECT_EQ(MORTISE_UNSUPPORTED, mortise_rw_upgrade(rw.get(), error.get()));
  EXPECT_NE(std::string(mortise_error_message(error.get())).find(GetParam().protocol),
            std::string::npos);
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_write_try(rw.get(), nullptr));
  EXPECT_EQ(MORTISE_UNSUPPORTED, mortise_rw_downgrade(rw.get(), nullptr));
  EXPECT_EQ(MORTISE_UNSUPPORTED, mortise_rw_read_try(rw.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(rw.get(), nullptr));
}

TEST_P(rw_interop, a_key_of_another_kind_is_foreign_and_left_untouched) {
  for (const auto& key : {name_, name_ + ":read", name_ + ":write"}) run({"LPUSH", key, "a list"});
  const auto before = content();
  const auto error = new_error();
  EXPECT_EQ(MORTISE_REFUSED, mortise_rw_read_try(rw_.get(), error.get()));
  EXPECT_NE(std::string(mortise_error_server_text(error.get())).find("FOREIGN the key " + name_),
            std::string::npos);
  EXPECT_EQ(MORTISE_REFUSED, mortise_rw_write_try(rw_.get(), nullptr));
  EXPECT_EQ(before, content());
}

TEST_P(rw_interop, the_server_is_asked_who_holds) {
  const info_handle info(mortise_info_new());
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw_.get(), nullptr));
  ASSERT_TRUE(reader_->take(2 * lease_ms));
  ASSERT_EQ(MORTISE_OK, mortise_rw_query(rw_.get(), info.get(), nullptr));
  EXPECT_EQ(1, mortise_info_is_held(info.get()));
  EXPECT_EQ(1, mortise_info_is_mine(info.get()));
  EXPECT_EQ(2, mortise_info_holder_count(info.get()));
  EXPECT_EQ(0, mortise_info_entry_is_exclusive(info.get(), 0));
  ASSERT_EQ(MORTISE_OK, mortise_rw_query(second_.get(), info.get(), nullptr));
  EXPECT_EQ(0, mortise_info_is_mine(info.get()));
}

TEST_P(rw_interop, nothing_of_ours_stays_beside_the_lock) {
  const auto note = "{" + name_ + "}:mortise";
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw_.get(), nullptr));
  EXPECT_GT(std::stoll(run({"PTTL", note})), 0);
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw_.get(), nullptr));
  EXPECT_EQ("0", run({"EXISTS", note}));
  EXPECT_EQ("0", run({"EXISTS", name_, name_ + ":read"}));
}

INSTANTIATE_TEST_SUITE_P(formats, rw_interop, ::testing::ValuesIn(rw_formats()),
                         [](const auto& format) { return format.param.protocol; });

}  // namespace
}  // namespace mortise::testing::interop_rw_test
