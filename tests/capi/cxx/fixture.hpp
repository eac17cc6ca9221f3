/** What the tests of the C++ layer begin with: a server of their own, a client, a loss. */
#ifndef MORTISE_TESTS_CXX_FIXTURE_HPP
#define MORTISE_TESTS_CXX_FIXTURE_HPP

#include <chrono>
#include <thread>

#include "capi/check.h"
extern "C" {
#include "capi/server.h"
}
#include "mortise/mortise.hpp"

using namespace std::chrono_literals;

/** Far longer than anything takes, so that only a hang hits it. */
constexpr auto patience = 20s;

/** The server of all tests, which main starts. */
inline test_server* server = nullptr;

inline mortise::client open_client(const mortise::options& with = {}) {
  auto opened = mortise::client::open(server_url(server), with);
  if (!opened) check_failed(__FILE__, __LINE__, opened.error().message().data());
  return *std::move(opened);
}

inline mortise::lock open_lock(mortise::client& client, std::string_view name,
                               const mortise::options& with = {}) {
  auto made = mortise::lock::make(client, name, with);
  if (!made) check_failed(__FILE__, __LINE__, made.error().message().data());
  return *std::move(made);
}

inline mortise::rw open_rw(mortise::client& client, std::string_view name) {
  auto made = mortise::rw::make(client, name);
  if (!made) check_failed(__FILE__, __LINE__, made.error().message().data());
  return *std::move(made);
}

inline mortise::semaphore open_semaphore(mortise::client& client, std::string_view name,
                                         std::int64_t permits) {
  auto made = mortise::semaphore::make(client, name, permits);
  if (!made) check_failed(__FILE__, __LINE__, made.error().message().data());
  return *std::move(made);
}

inline mortise::multi open_multi(mortise::client& client) {
  auto made = mortise::multi::make(client);
  if (!made) check_failed(__FILE__, __LINE__, made.error().message().data());
  return *std::move(made);
}

/** The status of a result. */
template <class Value>
mortise::status status_of(const mortise::result<Value>& given) {
  return given ? mortise::status::ok : given.error().code();
}

/** A result has this status. */
#define CHECK_RESULT(expected, got)                            \
  CHECK_STATUS(static_cast<mortise_status>(mortise::expected), \
               static_cast<mortise_status>(status_of(got)))

/** The server forgets everything, and this hold is asked about. */
inline void lose(mortise::hold& hold) {
  server_command(server, "FLUSHALL");
  CHECK_RESULT(status::lost, hold.extend(30s, std::nothrow));
}

/** Until a condition is so. */
template <class Condition>
void wait_until(const Condition& condition) {
  const auto begin = std::chrono::steady_clock::now();
  while (!condition()) {
    CHECK(std::chrono::steady_clock::now() - begin < patience);
    std::this_thread::sleep_for(1ms);
  }
}

void test_holds();
void test_kinds();
void test_queues();
void test_values();
void test_lockables();
void test_stops();
void test_dispatchers();

#endif
