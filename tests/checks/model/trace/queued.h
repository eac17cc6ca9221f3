/* Compares the state of queued_trace.pml with a trace after each event. Prints the first
   difference. */
#include "numbers.h"

#define MOST_QUEUED 250
#define MOST_MESSAGES 4

struct expectation {
  int event, elapsed, by, number, option, fence_before;
  int reply, reply_token, reply_left, has_left, reply_place, reply_others;
  int owner, is_marked, lock_left, queue_left, fence, grace;
  int waiting, queue[MOST_QUEUED];
  int sent, kind[MOST_MESSAGES], to[MOST_MESSAGES], number_of[MOST_MESSAGES];
};

static struct expectation* trace;

/* What `broken` in queued_trace.pml stands for. */
static const char* const rules[] = {
    "",
    "a client holds while another one does",
    "a client holds without a lease of the server",
    "the deadline of a hold is after the end of its lease",
    "the token of a hold is not above the last one",
    "the token of a hold was not drawn",
    "a hold changes that is over",
    "the fence counter fell",
    "the lease of a holder ended before its deadline, or went to another owner",
    "a hold lasts beyond its deadline",
};

static void read_event(FILE* from, struct expectation* e) {
  read_numbers(from, &e->event, 6);
  read_numbers(from, &e->reply, 6);
  read_numbers(from, &e->owner, 6);
  e->waiting = next_number(from);
  e->sent = 0;
  if (e->waiting > MOST_QUEUED) refuse(-1, "more than %d waiters", MOST_QUEUED);
  read_numbers(from, e->queue, e->waiting);
  e->sent = next_number(from);
  if (e->sent > MOST_MESSAGES) refuse(-1, "more than %d messages", MOST_MESSAGES);
  read_numbers(from, e->kind, e->sent);
  read_numbers(from, e->to, e->sent);
  read_numbers(from, e->number_of, e->sent);
}

/* The file begins with the owners: the client and the lease of a grant of each. */
static void read_trace(void) {
  FILE* const from = open_numbers();
  const int owners = next_number(from);
  for (int i = 1; i <= owners; ++i) {
    client_of[i] = (unsigned char)next_number(from);
    grant_of[i] = next_number(from);
  }
  events = next_number(from);
  trace = calloc((size_t)events, sizeof *trace);
  for (int i = 0; i < events; ++i) read_event(from, &trace[i]);
  fclose(from);
}

static void load_event(int line) {
  const struct expectation* const e = &trace[line];
  event = (unsigned char)e->event;
  elapsed = e->elapsed;
  by = (short)e->by;
  number = e->number;
  option = e->option;
  fence_before = e->fence_before;
}

static void compare_reply(int line, const struct expectation* e) {
  same(line, "the reply", now.reply, e->reply);
  same(line, "the token of the reply", now.reply_token, e->reply_token);
  same(line, "whether there is a lease", now.has_left, e->has_left);
  same(line, "the lease of the reply", now.reply_left, e->reply_left);
  same(line, "the place", now.reply_place, e->reply_place);
  same(line, "whether others wait", now.reply_others, e->reply_others);
}

static void compare_keys(int line, const struct expectation* e) {
  same(line, "the fence counter", now.fence, e->fence);
  same(line, "the grace period", now.grace, e->grace);
  if (e->owner < 0) return; /* the command concerns no lock */
  same(line, "the owner", now.owner, e->owner);
  same(line, "the mark", now.is_marked, e->is_marked);
  same(line, "the rest of the lock's TTL", now.lock_left, e->lock_left);
  same(line, "the number of waiters", now.waiting, e->waiting);
  for (int i = 0; i < e->waiting; ++i) same(line, "a waiter", now.queue[i], e->queue[i]);
  same(line, "the rest of the queue's TTL", now.queue_left, e->queue_left);
}

static void compare_messages(int line, const struct expectation* e) {
  same(line, "the number of messages", sent, e->sent);
  for (int i = 0; i < e->sent; ++i) {
    same(line, "a message", sent_kind[i], e->kind[i]);
    same(line, "the receiver of a message", sent_to[i], e->to[i]);
    same(line, "the number in a message", sent_number[i], e->number_of[i]);
  }
}

static void compare_event(int line) {
  const struct expectation* const e = &trace[line];
  const int is_command = e->event <= 9;
  if (broken != 0) refuse(line, "%s", rules[broken]);
  if (!is_command) return;
  compare_reply(line, e);
  compare_keys(line, e);
  compare_messages(line, e);
}
