#include "evidence.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "store.h"

/* The facts in the log of writes. */
struct summary {
  const struct story *story;
  long killed_process;
  long stopped_process;
  int64_t wrote;
  int64_t refused;
  int64_t last_number;
  int64_t last_token;
  int64_t falls; /* writes whose token was not above the one before */
  int64_t leaps; /* writes whose number was not the one before plus one */
  int64_t dead_writes;
  int64_t late_writes;
  int64_t late_refusals;
};

static void count_record(const struct store_record *record, void *context) {
  struct summary *summary = context;
  const int is_late =
      record->process == summary->stopped_process && record->token == summary->story->stopped_token;
  if (record->is_refused) {
    summary->refused += 1;
    summary->late_refusals += is_late && record->highest > record->token;
    return;
  }
  summary->wrote += 1;
  summary->falls += record->token <= summary->last_token;
  summary->leaps += record->number != summary->last_number + 1;
  summary->dead_writes +=
      record->process == summary->killed_process && record->token == summary->story->killed_token;
  summary->late_writes += is_late;
  summary->last_number = record->number;
  summary->last_token = record->token;
}

/* Prints one finding and returns whether it is good. */
__attribute__((format(printf, 2, 3))) static int find(int is_good, const char *format, ...) {
  va_list arguments;
  fputs(is_good ? "  good  " : "  BAD   ", stdout);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  return is_good;
}

static int judge_workers(const struct workers *workers) {
  int is_good = 1;
  int i;
  for (i = 0; i < workers->size; ++i) {
    const struct member *member = &workers->members[i];
    if (member->is_killed) continue;
    if (member->step == STEP_FAILED) {
      is_good &= find(0, "worker %d %s", i + 1, member->failure);
    } else if (member->step != STEP_DONE || member->exit_status != 0) {
      is_good &= find(0, "worker %d did not end (wait status %d)", i + 1, member->exit_status);
    } else if (member->done_count != member->wrote) {
      is_good &= find(0, "worker %d reported %" PRId64 " writes and counted %" PRId64, i + 1,
                      member->wrote, member->done_count);
    }
  }
  return is_good;
}

/* Each language that takes part has done some. */
static int judge_languages(const struct workers *workers) {
  char by_language[WORKERS_BY_LANGUAGE_SIZE];
  const int is_good = workers_by_language(workers, by_language);
  return find(is_good, "increments by language: %s", by_language);
}

static int judge_number(const struct workers *workers, const struct summary *summary) {
  struct store_value value;
  int is_good;
  if (store_read(workers->folder, &value) != 0) return find(0, "cannot read the file");
  is_good =
      value.number == workers->wrote && summary->wrote == workers->wrote && workers->wrote > 0;
  return find(is_good,
              "%" PRId64 " increments done, %" PRId64 " in the log of writes, %" PRId64
              " in the file",
              workers->wrote, summary->wrote, value.number);
}

static int judge_kill(const struct story *story, const struct summary *summary) {
  int64_t stall_ms = story->recovered_ms - story->killed_ms;
  if (story->killed < 0) return find(0, "no worker could be killed while it held the lock");
  if (story->recovered_ms == 0) {
    return find(0, "no worker held the lock after worker %d was killed", story->killed + 1);
  }
  if (summary->dead_writes > 0) return find(0, "the killed worker wrote with its last token");
  /* Generous, as the machine may be busy; the figure is what counts. */
  return find(stall_ms <= 2 * story->lease_ms + 1000,
              "after the kill the next worker held the lock in %.2f s (lease %.2f s)",
              (double)stall_ms / 1000, (double)story->lease_ms / 1000);
}

static int judge_stop(const struct workers *workers, const struct story *story,
                      const struct summary *summary) {
  const struct member *member;
  int is_good;
  if (story->stopped < 0) return find(0, "no worker could be stopped while it held the lock");
  member = &workers->members[story->stopped];
  is_good = find(member->lost_token == story->stopped_token,
                 "after a stop of %.2f s, the unlock of worker %d %s LOST",
                 (double)(story->continued_ms - story->stopped_ms) / 1000, story->stopped + 1,
                 member->lost_token == story->stopped_token ? "returned" : "did not return");
  if (summary->late_writes > 0) return find(0, "its late write was accepted");
  if (summary->late_refusals != 1 || member->refused_token != story->stopped_token) {
    return find(0, "its late write was not attempted");
  }
  find(1, "its late write was refused: token %" PRId64 ", the file has %" PRId64,
       member->refused_token, member->refused_highest);
  return is_good;
}

static int judge_safe(const struct workers *workers, const struct story *story,
                      const struct summary *summary) {
  int is_good = judge_workers(workers);
  is_good &= judge_languages(workers);
  is_good &= judge_number(workers, summary);
  is_good &=
      find(summary->falls == 0 && summary->leaps == 0,
           "tokens rose strictly and the number by one, in %" PRId64 " of %" PRId64 " writes",
           summary->wrote - (summary->falls > summary->leaps ? summary->falls : summary->leaps),
           summary->wrote);
  is_good &= judge_kill(story, summary);
  is_good &= judge_stop(workers, story, summary);
  puts(is_good ? "result: good, nothing was lost" : "result: BAD");
  return is_good;
}

static int judge_unsafe(const struct workers *workers, const struct summary *summary) {
  struct store_value value;
  int64_t lost;
  int is_good = judge_workers(workers);
  is_good &= judge_languages(workers);
  if (store_read(workers->folder, &value) != 0) return find(0, "cannot read the file");
  lost = workers->wrote - value.number;
  is_good &= find(summary->wrote == workers->wrote,
                  "%" PRId64 " increments done, %" PRId64 " in the log of writes", workers->wrote,
                  summary->wrote);
  is_good &=
      find(lost == 0, "%" PRId64 " in the file: %" PRId64 " updates lost (%.0f %%)", value.number,
           lost, workers->wrote > 0 ? 100.0 * (double)lost / (double)workers->wrote : 0.0);
  puts(is_good ? "result: good, by luck: there was no lock" : "result: BAD, as there was no lock");
  return is_good;
}

int evidence_print(const struct workers *workers, const struct story *story) {
  struct summary summary = {0};
  summary.story = story;
  summary.killed_process = story->killed < 0 ? -1 : (long)workers->members[story->killed].process;
  summary.stopped_process =
      story->stopped < 0 ? -1 : (long)workers->members[story->stopped].process;
  if (store_each_record(workers->folder, count_record, &summary) != 0) {
    return find(0, "cannot read the log of writes");
  }
  return story->is_safe ? judge_safe(workers, story, &summary) : judge_unsafe(workers, &summary);
}
