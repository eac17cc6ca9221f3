// Clients on deployments of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "client/client.hpp"
#include "client/handles/lock_handle.hpp"
#include "deployment/api/open.hpp"

namespace mortise::testing {

constexpr std::int64_t forever_ms = -1;
inline const lock::amount whole;

class client_fixture : public ::testing::Test {
 protected:
  // A task in flight must not be the last owner of a client whose servers were destroyed.
  void TearDown() override {
    for (const auto& one : clients_) one->close();
  }
  std::shared_ptr<client::client> open_client(const deployment::maker& make,
                                              settings defaults = {}) {
    auto made = std::make_shared<client::client>(std::move(defaults));
    EXPECT_TRUE(made->open(make).ok());
    clients_.push_back(made);
    return made;
  }
  static std::shared_ptr<client::lock_handle> new_mutex(client::client& of, std::string_view name,
                                                        bool is_strict = false) {
    settings terms;
    terms.fair_strict = is_strict;
    std::shared_ptr<client::lock_handle> made;
    EXPECT_TRUE(of.new_handle(lock::lock_kind::mutex, name, terms, 0, made).ok());
    return made;
  }

 private:
  std::vector<std::shared_ptr<client::client>> clients_;
};

}  // namespace mortise::testing
