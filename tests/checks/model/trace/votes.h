/* Compares the state of votes_trace.pml with a trace after each event. Prints the first
   difference. */
#include "numbers.h"

#define MOST_SERVERS 5

struct expectation {
  int event, at, now_us, by, proposal, option;
  int due[MOST_SERVERS];
  int reply, reply_number, reply_left;
  int owner, vote_end, ballot, fence, quarantine;
};

static struct expectation* trace;

/* What `broken` in votes_trace.pml stands for. */
static const char* const rules[] = {
    "",
    "a client holds while another one does",
    "a client holds without a majority that excludes others until the deadline",
    "the token of a hold is not above the last one",
    "a hold changes that is over",
    "a hold has no majority left that excludes others until its deadline",
    "a hold lasts beyond its deadline",
};

/* The file begins with the number of servers, and their quarantine. */
static void read_trace(void) {
  FILE* const from = open_numbers();
  servers = (unsigned char)next_number(from);
  quarantine_ms = next_number(from);
  events = next_number(from);
  trace = calloc((size_t)events, sizeof *trace);
  for (int i = 0; i < events; ++i) {
    read_numbers(from, &trace[i].event, (int)(sizeof *trace / sizeof(int)));
  }
  fclose(from);
}

static void load_event(int line) {
  const struct expectation* const e = &trace[line];
  event = (unsigned char)e->event;
  at = (unsigned char)e->at;
  now_us = e->now_us;
  now_ms = e->now_us / 1000;
  by = (short)e->by;
  proposal = e->proposal;
  option = e->option;
  for (int i = 0; i < MOST_SERVERS; ++i) due[i] = e->due[i];
}

static void compare_event(int line) {
  const struct expectation* const e = &trace[line];
  if (broken != 0) refuse(line, "%s", rules[broken]);
  if (e->event > 6) return; /* no command */
  same(line, "the reply", now.reply, e->reply);
  same(line, "the number in the reply", now.reply_number, e->reply_number);
  same(line, "the lease in the reply", now.reply_left, e->reply_left);
  same(line, "the fence counter", now.fence[at], e->fence);
  same(line, "the end of the quarantine", now.quarantine[at], e->quarantine);
  if (e->owner < 0) return; /* the command concerns no lock */
  same(line, "the owner of the vote", now.owner[at], e->owner);
  same(line, "the end of the vote", now.vote_end[at], e->vote_end);
  same(line, "the ballot", now.ballot[at], e->ballot);
}
