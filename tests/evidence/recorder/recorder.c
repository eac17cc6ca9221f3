/*
 * recorder URL PROCESS CLIENTS NAMES SEED FOLDER: clients of one process that use locks until
 * SIGTERM, through the C ABI only. Appends each call to FOLDER/PROCESS.jsonl, as
 * docs/internals/histories.md describes. All recorders of a FOLDER share the registers. NAMES are
 * separated by commas, and each begins with the kind of its lock. At SIGUSR1 the process forks. Its
 * child tries the handles and executes another program. At SIGUSR2 the process writes how much
 * memory its heap has in use to FOLDER/PROCESS.heap. Sometimes it stops itself before a guarded
 * write.
 */
#include <fcntl.h>
#include <malloc.h>
#include <mortise/mortise.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "evidence/recorder/guarded_cell.h"
#include "evidence/recorder/history_file.h"

enum { most_names = 512, most_clients = 64, capacity = 3, forked_process = 1000000 };
static const int64_t stop_interval_ns = 4000000000;

enum kind { mutex, reentrant, rw, semaphore, kinds };
static const char* const kind_names[kinds] = {"mutex", "reentrant", "rw", "semaphore"};

/* One owner: the handle of one client for one name. */
struct owner {
  enum kind kind;
  int number;
  char name[32];
  mortise_lock* lock; /* of a mutex, also a reentrant one */
  mortise_rw* rw;
  mortise_semaphore* semaphore;
  bool is_writer;
  int64_t permits;
};

struct client {
  int number;
  unsigned seed;
  bool is_open;
  mortise_client* client;
  mortise_queue* losses;
  mortise_event* event;
  mortise_multi* multi; /* of two neighboring mutexes, if there are two */
  struct owner* members[2];
  struct owner owners[most_names];
  struct guarded_cells cells;
};

static struct {
  const char* url;
  int process;
  char names[most_names][32];
  int name_count;
  int history;
  char registers[512];
} setup;
static volatile sig_atomic_t is_over;

/* What each failure of MORTISE_* is called in a history. */
static const char* status_name(mortise_status status) {
  switch (status) {
    case MORTISE_OK:
      return "ok";
    case MORTISE_NOT_ACQUIRED:
      return "not_acquired";
    case MORTISE_TIMED_OUT:
      return "timed_out";
    case MORTISE_CANCELLED:
      return "cancelled";
    case MORTISE_LOST:
      return "lost";
    case MORTISE_NOT_OWNER:
      return "not_owner";
    case MORTISE_UNREACHABLE:
      return "unreachable";
    case MORTISE_UNKNOWN:
      return "unknown";
    case MORTISE_REFUSED:
      return "refused";
    case MORTISE_ALREADY_HELD:
      return "already_held";
    case MORTISE_BUSY:
      return "busy";
    case MORTISE_LIMIT:
      return "limit";
    case MORTISE_FORKED:
      return "forked";
    default:
      return "error";
  }
}

static unsigned chance(struct client* self, unsigned limit) {
  return (unsigned)rand_r(&self->seed) % limit;
}

/* Some waits end with the timeout, and some only with a grant. */
static int64_t timeout(struct client* self) {
  return chance(self, 3) == 0 ? 60000 : 1 + (int64_t)chance(self, 2000);
}

static void pause_us(unsigned us) {
  const struct timespec pause = {0, (long)us * 1000};
  nanosleep(&pause, NULL);
}

/* ---- the handle of any kind ------------------------------------------------------------- */

static mortise_status acquire(struct owner* owner, int64_t timeout_ms) {
  switch (owner->kind) {
    case rw:
      return owner->is_writer ? mortise_rw_write_acquire(owner->rw, timeout_ms, NULL)
                              : mortise_rw_read_acquire(owner->rw, timeout_ms, NULL);
    case semaphore:
      return mortise_semaphore_acquire(owner->semaphore, owner->permits, timeout_ms, NULL);
    default:
      return mortise_lock_acquire(owner->lock, timeout_ms, NULL);
  }
}

static mortise_status unlock(struct owner* owner) {
  switch (owner->kind) {
    case rw:
      return owner->is_writer ? mortise_rw_write_unlock(owner->rw, NULL)
                              : mortise_rw_read_unlock(owner->rw, NULL);
    case semaphore:
      return mortise_semaphore_release(owner->semaphore, NULL);
    default:
      return mortise_lock_unlock(owner->lock, NULL);
  }
}

static mortise_status extend(struct owner* owner) {
  switch (owner->kind) {
    case rw:
      return mortise_rw_extend(owner->rw, 0, NULL);
    case semaphore:
      return mortise_semaphore_extend(owner->semaphore, 0, NULL);
    default:
      return mortise_lock_extend(owner->lock, 0, NULL);
  }
}

static bool is_held(const struct owner* owner) {
  switch (owner->kind) {
    case rw:
      return owner->is_writer ? mortise_rw_is_writing(owner->rw) : mortise_rw_is_reading(owner->rw);
    case semaphore:
      return mortise_semaphore_is_held(owner->semaphore);
    default:
      return mortise_lock_is_held(owner->lock);
  }
}

struct hold {
  int64_t token;
  int64_t number;
  int64_t lease_end_ns;
};

static struct hold hold_of(const struct owner* owner) {
  switch (owner->kind) {
    case rw:
      return (struct hold){mortise_rw_token(owner->rw), mortise_rw_hold_number(owner->rw),
                           mortise_rw_deadline_ns(owner->rw)};
    case semaphore:
      return (struct hold){mortise_semaphore_token(owner->semaphore),
                           mortise_semaphore_hold_number(owner->semaphore),
                           mortise_semaphore_deadline_ns(owner->semaphore)};
    default:
      return (struct hold){mortise_lock_token(owner->lock), mortise_lock_hold_number(owner->lock),
                           mortise_lock_deadline_ns(owner->lock)};
  }
}

/* ---- the lines -------------------------------------------------------------------------- */

/* A call, and when it began. */
struct call {
  const char* op;
  int64_t call_ns;
  int64_t return_ns;
};

static struct call begin(const char* op) { return (struct call){op, now_ns(), 0}; }

static void add_line(struct lines* lines, const struct client* self, const struct owner* owner,
                     const struct call* call, struct hold hold, const char* more) {
  lines_add(lines, "{\"process\":%d,\"client\":%d,\"owner\":%d,\"kind\":\"%s\",\"name\":\"%s\"",
            setup.process, self->number, owner->number, kind_names[owner->kind], owner->name);
  lines_add(lines, ",\"op\":\"%s\",\"call_ns\":%lld,\"return_ns\":%lld", call->op,
            (long long)call->call_ns, (long long)call->return_ns);
  lines_add(lines, ",\"token\":%lld,\"hold\":%lld,\"lease_end_ns\":%lld", (long long)hold.token,
            (long long)hold.number, (long long)hold.lease_end_ns);
  if (owner->kind == rw) lines_add(lines, ",\"mode\":\"%s\"", owner->is_writer ? "write" : "read");
  if (owner->kind == semaphore) {
    lines_add(lines, ",\"permits\":%lld,\"capacity\":%d", (long long)owner->permits, capacity);
  }
  lines_add(lines, "%s}\n", more);
}

static void write_line(const struct client* self, const struct owner* owner, struct call* call,
                       const char* more) {
  struct lines lines = {.length = 0};
  add_line(&lines, self, owner, call, hold_of(owner), more);
  history_write(setup.history, &lines);
}

static mortise_status finish(const struct client* self, const struct owner* owner,
                             struct call* call, mortise_status status) {
  call->return_ns = now_ns();
  char more[64];
  snprintf(more, sizeof more, ",\"status\":\"%s\"", status_name(status));
  write_line(self, owner, call, more);
  return status;
}

/* One line for each member. */
static mortise_status finish_multi(const struct client* self, struct call* call,
                                   mortise_status status) {
  call->return_ns = now_ns();
  struct lines lines = {.length = 0};
  char more[64];
  snprintf(more, sizeof more, ",\"status\":\"%s\",\"multi\":1,\"members\":2", status_name(status));
  for (int i = 0; i < 2; ++i) {
    add_line(&lines, self, self->members[i], call, hold_of(self->members[i]), more);
  }
  history_write(setup.history, &lines);
  return status;
}

/* ---- what a client does ----------------------------------------------------------------- */

static bool look(struct client* self, struct owner* owner) {
  struct call call = begin("is_held");
  const bool answer = is_held(owner);
  call.return_ns = now_ns();
  write_line(self, owner, &call, answer ? ",\"held\":true" : ",\"held\":false");
  return answer;
}

/* A stopped process resumes before such a write, which only the token refuses. */
static void write_register(struct client* self, const struct owner* owner, struct reading read) {
  const int64_t token = hold_of(owner).token;
  struct call call = begin("write");
  int64_t highest = 0;
  const bool is_accepted = cell_write(&self->cells, owner->number, read, token, &highest);
  call.return_ns = now_ns();
  char more[96];
  snprintf(more, sizeof more, ",\"accepted\":%s,\"highest\":%lld", is_accepted ? "true" : "false",
           (long long)highest);
  write_line(self, owner, &call, more);
}

static void take_losses(struct client* self) {
  while (mortise_queue_next(self->losses, 0, self->event, NULL) == MORTISE_OK) {
    if (mortise_event_kind(self->event) != MORTISE_EVENT_LOST) continue;
    const struct owner* owner = &self->owners[mortise_event_tag(self->event)];
    struct call call = begin("lost");
    call.return_ns = call.call_ns;
    const struct hold hold = {mortise_event_token(self->event),
                              mortise_event_hold_number(self->event), 0};
    struct lines lines = {.length = 0};
    add_line(&lines, self, owner, &call, hold, ",\"status\":\"lost\"");
    history_write(setup.history, &lines);
  }
}

/* A process with many clients would otherwise be stopped most of the time. */
static bool is_stop_due(void) {
  static int64_t next_ns;
  const int64_t now = now_ns();
  int64_t due_ns = __atomic_load_n(&next_ns, __ATOMIC_RELAXED);
  return now >= due_ns && __atomic_compare_exchange_n(&next_ns, &due_ns, now + stop_interval_ns,
                                                      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void work(struct client* self, struct owner* owner) {
  const bool is_guarded = owner->kind != semaphore && (owner->kind != rw || owner->is_writer);
  const bool is_quick = chance(self, 4) != 0;
  const unsigned rounds = chance(self, 4) + (chance(self, 60) == 0 ? 100 : 0);
  for (unsigned round = 0; round <= rounds && !is_over; ++round) {
    if (!look(self, owner)) break;
    struct reading read = {0, 0};
    if (is_guarded) read = cell_read(&self->cells, owner->number, hold_of(owner).token);
    if (!is_quick) pause_us(chance(self, 4000));
    /* The worst moment. run_slice resumes the process, mostly after the end of its lease. */
    if (is_guarded && chance(self, 300) == 0 && is_stop_due()) raise(SIGSTOP);
    if (is_guarded) write_register(self, owner, read);
    take_losses(self);
    if (chance(self, 12) == 0) {
      struct call call = begin("extend");
      finish(self, owner, &call, extend(owner));
    }
  }
}

static void reenter(struct client* self, struct owner* owner) {
  struct call call = begin("try");
  if (finish(self, owner, &call, mortise_lock_try(owner->lock, NULL)) != MORTISE_OK) return;
  work(self, owner);
  call = begin("unlock");
  finish(self, owner, &call, mortise_lock_unlock(owner->lock, NULL));
}

static void change_mode(struct client* self, struct owner* owner) {
  const bool is_writer = owner->is_writer;
  struct call call = begin(is_writer ? "downgrade" : "upgrade");
  const mortise_status status =
      is_writer ? mortise_rw_downgrade(owner->rw, NULL) : mortise_rw_upgrade(owner->rw, NULL);
  const bool is_refusal = status == MORTISE_LOST || status == MORTISE_NOT_OWNER;
  /* From the call on, a downgrade only reads, whatever the status. */
  const bool is_changed = status == MORTISE_OK || (is_writer && !is_refusal);
  if (is_changed) owner->is_writer = !is_writer;
  finish(self, owner, &call, status);
  if (is_changed) work(self, owner);
}

static void use(struct client* self, struct owner* owner) {
  owner->is_writer = owner->kind != rw || chance(self, 3) == 0;
  owner->permits = 1 + (int64_t)chance(self, capacity);
  const bool is_try = chance(self, 5) == 0;
  struct call call = begin(is_try ? "try" : "acquire");
  const int64_t timeout_ms = is_try ? 0 : timeout(self);
  if (finish(self, owner, &call, acquire(owner, timeout_ms)) != MORTISE_OK) return;
  work(self, owner);
  if (owner->kind == reentrant && chance(self, 2) == 0) reenter(self, owner);
  if (owner->kind == rw && chance(self, 2) == 0) change_mode(self, owner);
  call = begin("unlock");
  finish(self, owner, &call, unlock(owner));
}

static void use_multi(struct client* self) {
  struct call call = begin("acquire");
  const mortise_status status = mortise_multi_acquire(self->multi, timeout(self), NULL);
  if (finish_multi(self, &call, status) != MORTISE_OK) return;
  for (int i = 0; i < 2; ++i) work(self, self->members[i]);
  call = begin("unlock");
  finish_multi(self, &call, mortise_multi_unlock(self->multi, NULL));
}

/* ---- the clients ------------------------------------------------------------------------ */

static void require(bool is_true, const mortise_error* error, const char* what) {
  if (is_true) return;
  fprintf(stderr, "recorder: %s: %s\n", what, mortise_error_message(error));
  exit(1);
}

static enum kind kind_of(const char* name) {
  for (int i = 0; i < kinds; ++i) {
    if (strncmp(name, kind_names[i], strlen(kind_names[i])) == 0) return (enum kind)i;
  }
  fprintf(stderr, "recorder: %s does not begin with a kind of locks\n", name);
  exit(2);
}

static void open_owner(struct client* self, int number, mortise_error* error) {
  struct owner* owner = &self->owners[number];
  owner->number = number;
  owner->kind = kind_of(setup.names[number]);
  memcpy(owner->name, setup.names[number], sizeof owner->name);
  const size_t length = strlen(owner->name);
  mortise_options* options = mortise_options_new_from(self->client, error);
  require(options != NULL, error, "options");
  mortise_status status = MORTISE_OK;
  if (owner->kind == rw) {
    owner->rw = mortise_rw_new(self->client, owner->name, length, options, error);
    status = mortise_rw_watch(owner->rw, self->losses, number, error);
  } else if (owner->kind == semaphore) {
    owner->semaphore =
        mortise_semaphore_new(self->client, owner->name, length, capacity, options, error);
    status = mortise_semaphore_watch(owner->semaphore, self->losses, number, error);
  } else {
    if (owner->kind == reentrant) mortise_options_set_reentrant(options, 1, error);
    owner->lock = mortise_lock_new(self->client, owner->name, length, options, error);
    status = mortise_lock_watch(owner->lock, self->losses, number, error);
  }
  require(status == MORTISE_OK, error, owner->name);
  mortise_options_free(options);
}

static void open_multi(struct client* self, mortise_error* error) {
  struct owner* mutexes[most_names];
  int count = 0;
  for (int i = 0; i < setup.name_count; ++i) {
    if (self->owners[i].kind == mutex) mutexes[count++] = &self->owners[i];
  }
  if (count < 2) return;
  const int first = (int)chance(self, (unsigned)count);
  for (int i = 0; i < 2; ++i) self->members[i] = mutexes[(first + i) % count];
  self->multi = mortise_multi_new(self->client, error);
  require(self->multi != NULL, error, "multi");
  for (int i = 0; i < 2; ++i) {
    require(mortise_multi_add_lock(self->multi, self->members[i]->lock, error) == MORTISE_OK, error,
            "multi");
  }
}

/* A server that restarts refuses connections for a while. */
static bool open_client(struct client* self, mortise_error* error) {
  while (self->client == NULL && !is_over) {
    self->client = mortise_client_new(setup.url, strlen(setup.url), NULL, error);
    if (self->client != NULL) break;
    require(mortise_error_status(error) != MORTISE_INVALID_ARGUMENT, error, setup.url);
    pause_us(20000);
  }
  if (self->client == NULL) return false;
  self->cells = cells_open(setup.registers, most_names);
  self->event = mortise_event_new();
  self->losses = mortise_queue_new(self->client, 0, error);
  require(self->event != NULL && self->losses != NULL, error, "queue");
  for (int i = 0; i < setup.name_count; ++i) open_owner(self, i, error);
  open_multi(self, error);
  __atomic_store_n(&self->is_open, true, __ATOMIC_RELEASE);
  return true;
}

static void close_client(struct client* self) {
  __atomic_store_n(&self->is_open, false, __ATOMIC_RELEASE);
  mortise_multi_free(self->multi);
  for (int i = 0; i < setup.name_count; ++i) {
    mortise_lock_free(self->owners[i].lock);
    mortise_rw_free(self->owners[i].rw);
    mortise_semaphore_free(self->owners[i].semaphore);
  }
  mortise_queue_free(self->losses);
  mortise_event_free(self->event);
  mortise_client_free(self->client);
}

static void* run_client(void* argument) {
  struct client* self = argument;
  mortise_error* error = mortise_error_new();
  if (open_client(self, error)) {
    while (!is_over) {
      if (self->multi != NULL && chance(self, 8) == 0) {
        use_multi(self);
      } else {
        use(self, &self->owners[chance(self, (unsigned)setup.name_count)]);
      }
      take_losses(self);
    }
  }
  close_client(self);
  mortise_error_free(error);
  return NULL;
}

/* ---- the process ------------------------------------------------------------------------ */

/* The child has the handles of its parent, which are inert. A hold that it reports, or a lock that
   it is granted, is a violation. */
static void try_after_fork(struct client* self) {
  if (!__atomic_load_n(&self->is_open, __ATOMIC_ACQUIRE)) return;
  for (int i = 0; i < setup.name_count; ++i) {
    struct owner* owner = &self->owners[i];
    look(self, owner);
    struct call call = begin("try");
    finish(self, owner, &call, acquire(owner, 0));
  }
}

static void fork_and_exec(struct client* clients, int client_count) {
  const int64_t call_ns = now_ns();
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    setup.process = forked_process + (int)getpid();
    for (int i = 0; i < client_count; ++i) try_after_fork(&clients[i]);
    execl("/bin/true", "true", (char*)NULL);
    _exit(1);
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child || status != 0) return;
  struct lines lines = {.length = 0};
  lines_add(&lines,
            "{\"op\":\"fault\",\"kind\":\"client\",\"fault\":\"process forks and executes\"");
  lines_add(&lines, ",\"call_ns\":%lld,\"return_ns\":%lld}\n", (long long)call_ns,
            (long long)now_ns());
  history_write(setup.history, &lines);
}

/* In bytes, and always as long, so a reader sees the old number or the new one. */
static void write_heap(const char* path) {
  const struct mallinfo2 heap = mallinfo2();
  char line[32];
  const int length = snprintf(line, sizeof line, "%20zu\n", heap.uordblks + heap.hblkhd);
  const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || pwrite(file, line, (size_t)length, 0) != length) perror("recorder: heap");
  close(file);
}

static void take_signals(struct client* clients, int client_count, const sigset_t* signals,
                         const char* heap_path) {
  while (!is_over) {
    int number = 0;
    if (sigwait(signals, &number) != 0 || number == SIGTERM) is_over = 1;
    if (number == SIGUSR1) fork_and_exec(clients, client_count);
    if (number == SIGUSR2) write_heap(heap_path);
  }
}

static void read_names(char* list) {
  char* rest = list;
  for (char* name; (name = strtok_r(rest, ",", &rest)) != NULL;) {
    if (setup.name_count == most_names || strlen(name) >= sizeof setup.names[0]) {
      fprintf(stderr, "recorder: %s is too long, or beyond %d names\n", name, most_names);
      exit(2);
    }
    strcpy(setup.names[setup.name_count++], name);
  }
}

int main(int count, char** arguments) {
  if (count != 7) {
    fputs("usage: recorder URL PROCESS CLIENTS NAMES SEED FOLDER\n", stderr);
    return 2;
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  static struct client clients[most_clients];
  pthread_t threads[most_clients];
  char path[512];
  const int client_count = atoi(arguments[3]);
  setup.url = arguments[1];
  setup.process = atoi(arguments[2]);
  read_names(arguments[4]);
  const unsigned seed = (unsigned)strtoul(arguments[5], NULL, 10);
  if (client_count < 1 || client_count > most_clients || setup.name_count < 1) {
    fputs("recorder: CLIENTS are 1 to 64, and NAMES 1 to 512\n", stderr);
    return 2;
  }
  snprintf(path, sizeof path, "%s/%d.jsonl", arguments[6], setup.process);
  setup.history = history_open(path);
  snprintf(setup.registers, sizeof setup.registers, "%s/registers", arguments[6]);
  snprintf(path, sizeof path, "%s/%d.heap", arguments[6], setup.process);
  for (int i = 0; i < client_count; ++i) {
    clients[i].number = i;
    clients[i].seed = seed * most_clients + (unsigned)i;
    if (pthread_create(&threads[i], NULL, run_client, &clients[i]) != 0) return 1;
  }
  take_signals(clients, client_count, &signals, path);
  for (int i = 0; i < client_count; ++i) pthread_join(threads[i], NULL);
  return 0;
}
