// Sequences of ABI calls, decoded from the input: any function, on valid or NULL handles, with any
// order of freeing and odd lengths and numbers. The server has right, odd or no replies. Nothing
// may crash, leak, or take longer than its deadline.
#include <fuzzer/FuzzedDataProvider.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/options.hpp"
#include "base/time.hpp"
#include "fuzz/moody_server.hpp"
#include "mortise/mortise.h"

namespace {

using mortise::testing::mood;
using mortise::testing::moody_server;

constexpr int slot_count = 3;
constexpr mortise::time_ns longest_call_ns = 10 * mortise::ns_per_s;

// A server keeps all commands that it received, so that another replaces it now and then.
std::unique_ptr<moody_server> current_server;
moody_server& server() { return *current_server; }

void renew_server() {
  constexpr int inputs_each = 200;
  static int inputs = 0;
  if (inputs++ % inputs_each == 0) current_server = std::make_unique<moody_server>();
}

template <class Handle>
struct slots {
  std::array<Handle*, slot_count> all{};
  Handle*& pick(FuzzedDataProvider& input) {
    return all.at(input.ConsumeIntegralInRange<std::size_t>(0, slot_count - 1));
  }
};

struct world {
  explicit world(FuzzedDataProvider& bytes) : input(bytes) {}
  FuzzedDataProvider& input;
  slots<mortise_error> errors;
  slots<mortise_options> options;
  slots<mortise_client> clients;
  slots<mortise_lock> locks;
  slots<mortise_queue> queues;
  slots<mortise_event> events;
  slots<mortise_info> infos;

  mortise_error* error() { return errors.pick(input); }
  mortise_lock* lock() { return locks.pick(input); }
  mortise_queue* queue() { return queues.pick(input); }
  std::int64_t number() { return input.ConsumeIntegral<std::int64_t>(); }
  // One that ends soon, or is not allowed.
  std::int64_t timeout_ms() { return input.ConsumeIntegralInRange<std::int64_t>(-3, 4) * 3 + 1; }
  std::string text(std::size_t most) { return input.ConsumeRandomLengthString(most); }
};

void make_or_free(world& all) {
  auto& in = all.input;
  switch (in.ConsumeIntegralInRange(0, 9)) {
    case 0: {
      auto*& slot = all.errors.pick(in);
      mortise_error_free(slot);
      slot = in.ConsumeBool() ? mortise_error_new() : nullptr;
      break;
    }
    case 1: {
      auto*& slot = all.options.pick(in);
      mortise_options_free(slot);
      slot = in.ConsumeBool() ? mortise_options_new() : nullptr;
      break;
    }
    case 2: {
      auto*& slot = all.clients.pick(in);
      mortise_client_free(slot);
      // Never the name of a host or of a server that would have to be started.
      const auto place = in.ConsumeBool() ? server().url() : "unix:///nowhere/" + all.text(10);
      const auto url = place + "?" + all.text(20) + "&command_timeout=20ms";
      slot = in.ConsumeIntegralInRange(0, 3) == 0
                 ? nullptr
                 : mortise_client_new(url.data(), url.size(), nullptr, all.error());
      break;
    }
    case 3:
    case 4:
    case 5: {
      auto*& slot = all.locks.pick(in);
      mortise_lock_free(slot);
      const auto name = all.text(4);
      slot = in.ConsumeIntegralInRange(0, 3) == 0
                 ? nullptr
                 : mortise_lock_new(all.clients.pick(in), name.data(), name.size(),
                                    all.options.pick(in), all.error());
      break;
    }
    case 6: {
      auto*& slot = all.queues.pick(in);
      mortise_queue_free(slot);
      slot = in.ConsumeIntegralInRange(0, 3) == 0
                 ? nullptr
                 : mortise_queue_new(all.clients.pick(in),
                                     in.ConsumeIntegralInRange<std::int64_t>(-1, 5), all.error());
      break;
    }
    case 7: {
      auto*& slot = all.events.pick(in);
      mortise_event_free(slot);
      slot = in.ConsumeBool() ? mortise_event_new() : nullptr;
      break;
    }
    default: {
      auto*& slot = all.infos.pick(in);
      mortise_info_free(slot);
      slot = in.ConsumeBool() ? mortise_info_new() : nullptr;
      break;
    }
  }
}

void set_option(world& all) {
  auto* const options = all.options.pick(all.input);
  switch (all.input.ConsumeIntegralInRange(0, 7)) {
    case 0: {
      const auto known = mortise::known_options();
      const auto any = all.input.ConsumeIntegralInRange<std::size_t>(0, known.size() - 1);
      const std::string key = all.input.ConsumeBool() ? known[any].key : all.text(12);
      const auto value = all.text(12);
      mortise_options_set(options, key.data(), key.size(), value.data(), value.size(), all.error());
      break;
    }
    case 1:
      mortise_options_set_lease_ms(options, all.input.ConsumeBool() ? 60 : all.number(),
                                   all.error());
      break;
    case 2:
      mortise_options_set_renewal(options, all.input.ConsumeIntegralInRange(-1, 2), all.error());
      break;
    case 3:
      mortise_options_set_max_hold_ms(options, all.number(), all.error());
      break;
    case 4:
      mortise_options_set_reentrant(options, all.input.ConsumeIntegralInRange(-1, 2), all.error());
      break;
    case 5:
      mortise_options_set_fair_strict(options, all.input.ConsumeIntegralInRange(-1, 2),
                                      all.error());
      break;
    case 6:
      mortise_options_set_command_timeout_ms(options, all.number(), all.error());
      break;
    default: {
      const auto label = all.text(70);
      mortise_options_set_label(options, label.data(), label.size(), all.error());
      break;
    }
  }
}

void use_lock(world& all) {
  auto* const lock = all.lock();
  const auto lease_ms = all.input.ConsumeBool() ? 0 : all.number();
  switch (all.input.ConsumeIntegralInRange(0, 11)) {
    case 0:
      static_cast<void>(mortise_lock_try(lock, all.error()));
      break;
    case 1:
      static_cast<void>(mortise_lock_acquire(lock, all.timeout_ms(), all.error()));
      break;
    case 2:
      mortise_lock_unlock(lock, all.error());
      break;
    case 3:
      mortise_lock_extend(lock, lease_ms, all.error());
      mortise_lock_progress(lock, all.error());
      break;
    case 4:
      mortise_lock_cancel(lock, all.error());
      break;
    case 5:
      mortise_lock_query(lock, all.infos.pick(all.input), all.error());
      break;
    case 6:
      mortise_lock_try_async(lock, all.queue(), all.number(), all.error());
      break;
    case 7:
      mortise_lock_acquire_async(lock, all.queue(), all.number(), all.timeout_ms(), all.error());
      break;
    case 8:
      mortise_lock_unlock_async(lock, all.queue(), all.number(), all.error());
      break;
    case 9:
      mortise_lock_extend_async(lock, all.queue(), all.number(), lease_ms, all.error());
      break;
    case 10:
      mortise_lock_watch(lock, all.queue(), all.number(), all.error());
      break;
    default:
      // An asynchronous call may change each of them between two looks.
      if (mortise_lock_token(lock) < 0 || mortise_lock_valid_ms(lock) < 0) std::abort();
      if ((mortise_lock_is_held(lock) | 1) != 1) std::abort();
      break;
  }
}

void use_queue(world& all) {
  auto* const queue = all.queue();
  switch (all.input.ConsumeIntegralInRange(0, 4)) {
    case 0:
      mortise_queue_next(queue, all.timeout_ms(), all.events.pick(all.input), all.error());
      break;
    case 1: {
      std::array<std::int64_t, std::size_t{3} * MORTISE_RECORD_FIELDS> records{};
      std::int64_t count = 0;
      mortise_queue_next_batch(queue, all.timeout_ms(),
                               all.input.ConsumeBool() ? records.data() : nullptr,
                               all.input.ConsumeIntegralInRange<std::int64_t>(-1, 3),
                               all.input.ConsumeBool() ? &count : nullptr, all.error());
      if (count < 0 || count > 3) std::abort();
      break;
    }
    case 2:
      mortise_queue_wake(queue);
      break;
    case 3:
      mortise_queue_shutdown(queue);
      break;
    default:
      mortise_queue_fd(queue);
      break;
  }
}

void look(world& all) {
  const auto* const error = all.error();
  const auto* const event = all.events.pick(all.input);
  const auto* const info = all.infos.pick(all.input);
  const auto index = all.number();
  for (const auto* text :
       {mortise_error_message(error), mortise_error_server_text(error),
        mortise_event_message(event), mortise_event_server_text(event),
        mortise_info_entry_owner(info, index), mortise_info_entry_host(info, index),
        mortise_info_entry_label(info, index),
        mortise_status_text(static_cast<mortise_status>(index))}) {
    if (text == nullptr) std::abort();
  }
  mortise_error_status(error);
  mortise_error_is_retryable(error);
  mortise_error_is_ambiguous(error);
  mortise_event_kind(event);
  mortise_event_tag(event);
  mortise_event_status(event);
  mortise_event_token(event);
  mortise_event_is_retryable(event);
  mortise_event_is_ambiguous(event);
  mortise_info_is_held(info);
  mortise_info_is_mine(info);
  mortise_info_time_left_ms(info);
  mortise_info_latest_token(info);
  mortise_info_waiter_count(info);
  mortise_info_entry_count(info);
  mortise_info_entry_pid(info, index);
  mortise_check_abi(static_cast<std::int32_t>(index), 0);
  mortise_get_api(static_cast<std::int32_t>(index));
}

void change_mood(world& all) {
  const auto next = static_cast<mood>(all.input.ConsumeIntegralInRange(0, 7) % 6);
  if (next == mood::odd) server().set_odd_reply(all.text(60));
  server().set_mood(next);
  if (all.input.ConsumeIntegralInRange(0, 9) == 0) server().close_all();
  if (all.input.ConsumeIntegralInRange(0, 9) == 0) server().send_to_all(all.text(60));
}

void step(world& all) {
  switch (all.input.ConsumeIntegralInRange(0, 15)) {
    case 0:
    case 1:
    case 2:
      return make_or_free(all);
    case 3:
      return set_option(all);
    case 4:
      return look(all);
    case 5:
      return change_mood(all);
    case 6:
      mortise_client_ping(all.clients.pick(all.input), all.error());
      return;
    case 7:
    case 8:
    case 9:
      return use_queue(all);
    default:
      return use_lock(all);
  }
}

// Frees the remaining handles, in an order that the input chooses.
void free_all(world& all) {
  for (int i = 0; i < slot_count; ++i) {
    const auto slot = static_cast<std::size_t>(i);
    const bool are_clients_first = all.input.ConsumeBool();
    if (are_clients_first) mortise_client_free(all.clients.all.at(slot));
    mortise_queue_free(all.queues.all.at(slot));
    mortise_lock_free(all.locks.all.at(slot));
    if (!are_clients_first) mortise_client_free(all.clients.all.at(slot));
    mortise_error_free(all.errors.all.at(slot));
    mortise_options_free(all.options.all.at(slot));
    mortise_event_free(all.events.all.at(slot));
    mortise_info_free(all.infos.all.at(slot));
  }
}

// A call that takes longer than each deadline of this program hangs.
template <class Call>
void timed(Call&& call) {
  const auto begin = mortise::boot_now();
  call();
  if (mortise::boot_now() - begin > longest_call_ns) {
    std::fputs("a call took longer than its deadline\n", stderr);
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  renew_server();
  FuzzedDataProvider input(data, size);
  world all(input);
  server().set_mood(mood::granting);
  // Something to work with, which the input may replace.
  const auto url = server().url() + "?command_timeout=20ms&lease=60ms";
  all.errors.all[0] = mortise_error_new();
  all.events.all[0] = mortise_event_new();
  all.infos.all[0] = mortise_info_new();
  all.clients.all[0] = mortise_client_new(url.data(), url.size(), nullptr, nullptr);
  all.queues.all[0] = mortise_queue_new(all.clients.all[0], 4, nullptr);
  all.locks.all[0] = mortise_lock_new(all.clients.all[0], "a", 1, nullptr, nullptr);
  all.locks.all[1] = mortise_lock_new(all.clients.all[0], "a", 1, nullptr, nullptr);
  for (int calls = 0; calls < 60 && input.remaining_bytes() > 0; ++calls) {
    timed([&] { step(all); });
  }
  timed([&] { free_all(all); });
  return 0;
}
